// SPDX-License-Identifier: Apache-2.0
import AgentServer
import ArgumentParser
import CacheFormat
import SyncAgent
import SyncPlan
import SystemPackage

struct StatusCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status", abstract: "Show whether all is well, and what to do if not.",
        usage: "syncagent status [--json] [--watch] [options]",
        discussion: """
            It begins with a verdict in one sentence. Then come the problems, each with the command to type next, the \
            lists, and figures. Works without a running agent.

            Examples:
              syncagent status
              syncagent status --watch

            Exit codes: 0 all is well; 1 something is wrong (failed icons, rejected lists, a full disk, suspended or held \
            eviction); 3 the agent is not running, and the status is read from disk.
            """)

    @Flag(help: "Print one JSON document; with --watch, one per line.")
    var json = false

    @Flag(help: "Print the status again whenever it changes, until the agent exits. On a terminal, redraw it.")
    var watch = false

    @OptionGroup var output: OutputOptions
    @OptionGroup var configuration: Configuration

    func run() async throws {
        if watch { try await follow() }
        let report = try await configuration.currentStatus()
        if json {
            try Message.output(report.json, isOneOfSeveral: watch)
        } else {
            try Message.output(try lines(of: report, on: output.screen), on: output.screen)
        }
        if report.state == .stopped { throw Exit.with(.notRunning) }
        if report.needsAttention { throw Exit.with(.attention) }
    }

    private func lines(of report: StatusReport, on screen: Screen) throws -> [StyledText] {
        StatusView(
            report: report, cache: try configuration.folders().cache.string, now: AgentClock.wallTime,
            width: screen.width
        ).lines
    }

    private func follow() async throws {
        let screen = output.screen
        let display = LiveDisplay(on: screen, to: .standardOutput)
        do {
            _ = try await ControlClient(socket: try configuration.folders().socket).status { report in
                if json {
                    try Message.output(report.json, isOneOfSeveral: true)
                } else if display.isLive {
                    display.show(try lines(of: report, on: screen), atOnce: true)
                } else {
                    try Message.output(try lines(of: report, on: screen) + [""], on: screen)
                }
                return false
            }
        } catch let error where !(error is ExitCode) {
            // The single status that follows says what it is.
        }
        display.clear()
    }
}

extension Configuration {
    /// The state as the running agent tells it, else as the folders show it.
    func currentStatus() async throws -> StatusReport {
        let (report, agent) = try await askIfPossible { try await $0.status() }
        if let report { return report }
        return await DiskStatus(
            folders: try folders(), settings: try settings(), parser: try Agent.Helpers.installed().parse
        ).report(agent: agent)
    }
}
