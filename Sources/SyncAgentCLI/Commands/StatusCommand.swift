// SPDX-License-Identifier: Apache-2.0
import AgentServer
import AgentSettings
import ArgumentParser
import Dispatch
import Glibc
import Reports
import SyncAgent
import SystemPackage
import UnixSignals

struct StatusCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status", abstract: "Show whether all is well, and what to do if not.",
        usage: "syncagent status [--json] [--watch | --health | --quiet] [options]",
        discussion: """
            It begins with a verdict in one sentence. Then come the problems, the lists, and figures. At most three \
            problems are shown in full, with what to do and the command to type next; syncagent explain tells it of the \
            others. Works without a running agent. Muted failures do not count (syncagent mute).

            Examples:
              syncagent status
              syncagent status --watch

            Exit codes: 0 all is well; 1 something is wrong, such as failed icons, rejected lists, a full disk, or a \
            suspended or held eviction; 3 the agent is not running, and the status is read from disk; 78 it is not \
            running, and its configuration is wrong. With --health: 0 the agent responds and can publish, even \
            if icons failed; 1 it cannot publish; 69 it does not respond.
            """)

    @Flag(help: "Print one JSON document; with --watch, one per line.")
    var json = false

    @Flag(help: "Print the status again whenever it changes, until the agent exits. On a terminal, redraw it.")
    var watch = false

    @Flag(help: "Print one line: whether the agent responds and can publish. For container health checks.")
    var health = false

    @Flag(help: "Print only problems, and nothing if there are none. For cron.")
    var quiet = false

    @OptionGroup var output: OutputOptions
    @OptionGroup var configuration: Configuration

    func validate() throws {
        guard !health || !(watch || json) else {
            throw ValidationError("--health cannot be combined with --watch or --json.")
        }
        guard !quiet || !(watch || json || health) else {
            throw ValidationError("--quiet cannot be combined with --watch, --json or --health.")
        }
    }

    func run() async throws {
        if health { return try await printHealth() }
        if watch, output.screen.isLive, !json {
            try await redraw()
        } else if watch {
            Message.endWithReader()
            try await reports { report, context in
                if json { return try Message.output(report.json(for: context), isOneOfSeveral: true) }
                try output.show { Self.lines(of: report, context, fitting: $0) + [""] }
            }
        }
        let report = try await configuration.currentStatus()
        let context = try await configuration.context(for: report)
        let problems = report.problems(for: context).filter { $0.severity == .problem }
        if json {
            try Message.output(report.json(for: context), isOneOfSeveral: watch)
        } else if quiet {
            try output.show { width in
                (report.state == .stopped ? ["The agent is stopped."] : [])
                    + problems.flatMap { StatusView.lines(of: $0, now: AgentClock.wallTime, width: width) }
            }
        } else {
            // One row is left for the shell's prompt.
            let height = Screen.size(of: .standardOutput).map { max($0.rows, 24) - 1 }
            try output.show { Self.lines(of: report, context, fitting: $0, height: height) }
        }
        if report.hasBadConfiguration { throw Exit.with(.badConfiguration) }
        if report.state == .stopped { throw Exit.with(.notRunning) }
        let isSilent = problems.contains { $0.known == .agentUnreachable }
        if report.needsAttention || isSilent { throw Exit.with(.attention) }
    }

    /// Prints whether the agent works.
    ///
    /// Failed icons do not count: often only the server's owner can mend them.
    private func printHealth() async throws {
        let report = try await configuration.askAgent { try await $0.status() }
        if let error = report.publication.error { throw Exit.because("\(error).") }
        try Message.output(sentence: "The agent responds and can publish.")
    }

    private static func lines(
        of report: StatusReport, _ context: CommandContext, fitting width: Int?, height: Int? = nil
    ) -> [StyledText] {
        StatusView(report: report, context: context, now: AgentClock.wallTime, width: width).lines(atMost: height)
    }

    /// Calls the closure with the current status and each later one, until the agent ends.
    private func reports(_ show: (StatusReport, CommandContext) throws -> Void) async throws {
        do {
            var known: CommandContext?
            _ = try await ControlClient(socket: try configuration.folders().socket).status { report in
                if known == nil { known = try await configuration.context(for: report) }
                if let known { try show(report, known) }
                return false
            }
        } catch let error where !(error is ExitCode || error is CancellationError) {
            // The status that is printed next reports the error.
        }
    }

    /// Shows the status on the whole terminal until the agent ends or Ctrl-C is pressed.
    private func redraw() async throws {
        let screen = output.screen
        let page = FullScreen(on: screen)
        let signals = await UnixSignalsSequence(trapping: .sigint, .sigterm, .sighup, .sigwinch, .sigcont)
        let stop = DispatchSource.makeSignalSource(signal: SIGTSTP, queue: .global())
        stop.setEventHandler { page.stop() }
        stop.activate()
        // The terminal stops no writer in the background: the page waits there.
        signal(SIGTTOU, SIG_IGN)
        defer {
            stop.cancel()
            signal(SIGTSTP, SIG_DFL)
            page.close()
        }
        try await withThrowingTaskGroup(of: Bool.self) { group in
            group.addTask {
                try await reports { report, context in
                    page.show { Self.lines(of: report, context, fitting: $0, height: $1) }
                }
                return false
            }
            group.addTask {
                for await signal in signals {
                    guard [.sigwinch, .sigcont].contains(signal) else { break }
                    page.redraw(anew: signal == .sigcont)
                }
                return true
            }
            group.addTask {
                // Redraw every second: relative times change.
                while true {
                    try await Task.sleep(for: .seconds(1))
                    page.redraw()
                }
            }
            defer { group.cancelAll() }
            guard try await group.next() == true else { return }
            try Message.output(page.close(), on: screen)
            throw Exit.with(.done)
        }
    }
}

extension Configuration {
    /// The status from the running agent, else from the folders.
    func currentStatus() async throws -> StatusReport {
        let (report, agent) = try await askIfPossible { try await $0.status() }
        if let report { return report }
        let (settings, trouble) = try settingsOrDefaults()
        var disk = try await diskStatus(settings).report(agent: agent)
        disk.configuration.error = trouble
        return disk
    }

    /// The status as read from disk, without an agent.
    func diskStatus(_ settings: Settings) throws -> DiskStatus {
        DiskStatus(folders: try folders(), settings: settings, parser: try Agent.Helpers.installed().parse)
    }
}
