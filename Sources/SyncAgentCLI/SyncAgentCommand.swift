// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Glibc
import SyncPlan

/// The program.
@main
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

    static func main() async {
        // Before libdispatch starts a thread: it would write to syslog for each one of an unprivileged process.
        setenv("LIBDISPATCH_LOG", "NO", 0)
        await main(nil)
    }
}
