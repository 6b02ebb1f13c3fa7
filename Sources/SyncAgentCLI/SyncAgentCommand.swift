// SPDX-License-Identifier: Apache-2.0
import AgentSettings
import ArgumentParser
import CacheFormat
import Dispatch
import Glibc
import IconCache
import SyncAgent

struct SyncAgentCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "syncagent",
        abstract: "Keeps the icons of app lists on disk for every program on the machine.",
        discussion: """
            Drop property lists with app names and icon URLs into the lists folder. syncagent run downloads each icon \
            once and publishes its path in manifest.json in the cache folder. Other programs read the cache folder, also \
            while the agent is stopped.

            Examples:
              syncagent status
              syncagent help sync

            Exit codes: 0 as asked; 1 done, but something is wrong; 3 status: the agent is not running; 64 the command \
            line is wrong; 65 check: not an acceptable list; 66 check: no such file; 69 the command needs a running agent; \
            73 a folder cannot be used; 75 another agent holds the cache; 78 the configuration is wrong.
            """,
        version: Version.current,
        subcommands: [
            RunCommand.self, StatusCommand.self, PathCommand.self, ListCommand.self, WhyCommand.self,
            ExplainCommand.self,
            CheckCommand.self, SyncCommand.self, PauseCommand.self, ResumeCommand.self, PinCommand.self,
            UnpinCommand.self, MuteCommand.self, UnmuteCommand.self, RetryCommand.self, RefreshCommand.self,
            EvictCommand.self, PurgeCommand.self, VerifyCommand.self, EventsCommand.self, ConfigCommand.self,
            ReloadCommand.self, DashboardCommand.self, ExportCommand.self, KeyCommand.self, DemoCommand.self,
        ])
}

@main
enum EntryPoint {
    /// The minimum address space limit: each thread reserves 8 MiB.
    private static let leastAddressSpace = ByteCount.mebibytes(1024)

    static func main() {
        // Set before libdispatch starts a thread: without privileges it would write to syslog for each one.
        setenv("LIBDISPATCH_LOG", "NO", 0)
        // Without address space for its threads, the program would hang silently.
        var limit = rlimit()
        if getrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &limit) == 0,
            limit.rlim_cur < UInt(leastAddressSpace.bytes)
        {
            Message.error(
                "The address space limit is below \(leastAddressSpace): raise it (ulimit -v), or limit memory with "
                    + "MemoryMax= instead.")
            exit(Exit.Code.badConfiguration.rawValue)
        }
        // A missing standard stream is replaced by /dev/null: otherwise the first files opened would take its number. Output
        // is not taken there: a command that cannot write it fails.
        for descriptor in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO] where fcntl(descriptor, F_GETFD) == -1 {
            _ = open("/dev/null", descriptor == STDERR_FILENO ? O_WRONLY : O_RDONLY)
        }
        // The parent may have set SIGCHLD to be ignored; then the agent would not notice that a helper ended.
        signal(SIGCHLD, SIG_DFL)
        TaskExecution.install()
        // On the main actor, it would wait for a thread of libdispatch, which says nothing if it cannot start one.
        Task.detached {
            do {
                if let flaw = CommandLineText.flaw(in: Array(CommandLine.arguments.dropFirst())) {
                    Message.usage(flaw)
                    exit(ExitCode.validationFailure.rawValue)
                }
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
        // Any command that reads the cache may find it damaged: that is a message and exit code 1.
        let error = error is IconCacheError ? Exit.because("\(error)") : error
        let code = SyncAgentCommand.exitCode(for: error)
        let text = SyncAgentCommand.fullMessage(for: error)
        guard code.isSuccess else {
            if !text.isEmpty {
                let near = CommandLineText.withoutFarSuggestion(text)
                Message.usage(CommandLineText.escaped(near, CommandLine.arguments))
            }
            exit(code.rawValue)
        }
        do throws(ExitCode) {
            if !text.isEmpty { try Message.output(unescaped: CompletionScript.corrected(text)) }
            exit(code.rawValue)
        } catch {
            exit(error.rawValue)
        }
    }
}
