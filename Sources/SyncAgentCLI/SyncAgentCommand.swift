// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CacheFormat
import Dispatch
import Glibc
import SyncAgent
import SyncPlan

/// The program.
struct SyncAgentCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "syncagent",
        abstract: "Keeps the icons that app lists name on disk, for every program on the machine.",
        discussion: """
            Drop property lists that name apps and their icon URLs into the lists folder; syncagent run downloads each \
            icon once, and publishes where it is in manifest.json of the cache folder. Other programs read that folder: \
            they need no agent.
            """,
        version: Version.current,
        subcommands: [
            RunCommand.self, StatusCommand.self, PathCommand.self, ListCommand.self, WhyCommand.self,
            CheckCommand.self, SyncCommand.self, PauseCommand.self, ResumeCommand.self, PinCommand.self,
            UnpinCommand.self,
            EvictCommand.self, VerifyCommand.self, DemoCommand.self,
        ])
}

@main
enum EntryPoint {
    /// The least address space in which the program runs: each thread takes 8 MiB of it, used or not.
    private static let leastAddressSpace = ByteCount.mebibytes(1024)

    static func main() {
        // Before libdispatch starts a thread: it would write to syslog for each one of an unprivileged process.
        setenv("LIBDISPATCH_LOG", "NO", 0)
        // Without room for its threads the program would wait for them for ever, and nothing could say so.
        var limit = rlimit()
        if getrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &limit) == 0,
            limit.rlim_cur < UInt(leastAddressSpace.bytes)
        {
            Message.error(
                "The address space is limited to less than \(leastAddressSpace): raise the limit (ulimit -v), or have "
                    + "memory limited in another way (MemoryMax=).")
            exit(Exit.Code.badConfiguration.rawValue)
        }
        // Whoever started the program may have had this ignored: then no helper's end could be told.
        signal(SIGCHLD, SIG_DFL)
        TaskThreads.install()
        Task {
            do {
                var command = try await SyncAgentCommand.asyncParseAsRoot()
                if var command = command as? any AsyncParsableCommand {
                    try await command.run()
                } else {
                    try command.run()
                }
                exit(Exit.Code.done.rawValue)
            } catch {
                end(because: error)
            }
        }
        dispatchMain()
    }

    private static func end(because error: any Error) -> Never {
        let code = SyncAgentCommand.exitCode(for: error)
        // Help, the version and completion scripts have nothing from outside in them.
        if code.isSuccess { SyncAgentCommand.exit(withError: error) }
        let text = SyncAgentCommand.fullMessage(for: error)
        if !text.isEmpty { Message.usage(text) }
        exit(code.rawValue)
    }
}
