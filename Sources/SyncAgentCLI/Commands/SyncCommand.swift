// SPDX-License-Identifier: Apache-2.0
import AgentServer
import AppLists
import ArgumentParser
import CacheFormat
import Reports
import SyncAgent
import SystemPackage

struct SyncCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sync", abstract: "Rescan the lists folder now.",
        usage: "syncagent sync [--wait] [--json] [<list> ...] [options]",
        discussion: """
            With --wait, it returns when the lists are published or have failed; their icons are downloaded first. On a \
            terminal it shows its progress. Exit code 0 then means that all of them are ready and durable.

            Examples:
              syncagent sync
              syncagent sync --wait apps.plist

            Exit codes: 1 a list is missing; with --wait, also if an icon failed or is pending, a list is not \
            accepted, or nothing can be published; 69 the agent is not running.
            """)

    /// How long an agent may take to start, for example in a container that was started just before.
    private static let start: Duration = .seconds(5)

    @Argument(
        help: ArgumentHelp(
            "The lists to wait for with --wait, such as apps.plist; by default all lists.", valueName: "list"),
        completion: .offered(\.lists))
    var lists: [ListName] = []

    @Flag(help: "Wait until the lists are published or have failed.")
    var wait = false

    @Flag(help: "Print one JSON document: the status; with --wait, how the lists ended.")
    var json = false

    @OptionGroup var output: OutputOptions
    @OptionGroup var configuration: Configuration

    func run() async throws {
        guard wait else {
            let report = try await configuration.askAgent { try await $0.sync() }
            let wait = configuration.agentCommand("syncagent sync --wait")
            let sentence = "The agent rescans the lists folder. To wait for the result: \(wait)"
            try Message.output(report.json, inJSON: json, or: sentence)
            let folders = try await configuration.agentFolders()
            let missing = lists.filter { Self.isMissing($0, report, folders) }
            explain(missing: missing, folders)
            if !missing.isEmpty { throw Exit.with(.attention) }
            return
        }
        let display = SyncProgressDisplay(on: output.messages)
        let last: SyncReport
        do {
            defer { display.clear() }
            last = try await configuration.askAgent(within: Self.start) {
                try await $0.sync(waitingFor: lists, display.show)
            }
        }
        guard last.isDone else {
            throw Exit.because("The agent stopped before the lists were published.", code: .noAgent)
        }
        if json {
            try Message.output(last.json)
        } else if last.missing.isEmpty || last.lists != 0 {
            try Message.output([
                "\(grouped(last.ready)) ready, \(grouped(last.failed)) failed, \(grouped(last.pending)) pending"
            ])
        }
        explain(last, try await configuration.agentFolders())
        if !last.isWhole { throw Exit.with(.attention) }
    }

    /// Whether a list is missing both for the agent and in the folder; the agent may not have read a new file yet.
    private static func isMissing(_ list: ListName, _ report: StatusReport, _ folders: AgentFolders) -> Bool {
        guard !report.lists.contains(where: { $0.name == list }) else { return false }
        return !list.isAppList || folders.lists.appending(list.text).isUnused
    }

    private func explain(missing lists: [ListName], _ folders: AgentFolders) {
        for list in lists {
            let reason =
                list.isAppList || folders.lists.appending(list.text).isUnused
                ? "there is no such list in the lists folder.\(Suggestion.list(for: list, among: folders.knownLists))"
                : "\(ListName.ignored)."
            Message.error("\(list): \(reason)")
        }
    }

    /// Prints the lists that are missing or rejected, and how many icons failed or wait.
    private func explain(_ report: SyncReport, _ folders: AgentFolders) {
        explain(missing: report.missing, folders)
        for rejection in report.rejected { Message.error("\(rejection.list): \(rejection.message)") }
        if let error = report.error { Message.error(error) }
        if report.failed > 0 {
            let next = lists.count == 1 ? "list --failed \(ShellWord.list(lists[0]))" : "status"
            let command = configuration.agentCommand("syncagent \(next)")
            Message.error("\(counted(report.failed, "icon")) failed. See: \(command)")
        }
        guard report.pending > 0, let hold = report.hold, hold != report.error else { return }
        let verb = report.pending == 1 ? "waits" : "wait"
        let command = configuration.agentCommand("syncagent status")
        Message.error("\(counted(report.pending, "icon")) \(verb): \(hold). See: \(command)")
    }
}
