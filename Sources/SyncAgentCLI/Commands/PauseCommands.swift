// SPDX-License-Identifier: Apache-2.0
import AgentServer
import ArgumentParser
import CacheFormat
import Reports
import SyncAgent
import SyncPlan

struct PauseCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pause", abstract: "Pause new downloads. Running ones finish. The pause survives restarts.",
        usage: "syncagent pause [--for <time>] [--reason <reason>] [--json] [options]",
        discussion: """
            Pauses with different reasons are independent: downloads resume when all have ended. A new pause replaces \
            an earlier one with the same reason.

            Examples:
              syncagent pause
              syncagent pause --for 8h --reason metered

            Exit codes: 1 the change cannot be stored, and is lost at the next restart; 69 the agent is not running.
            """)

    @Option(
        name: .customLong("for"), help: ArgumentHelp("End the pause after this time, such as 8h.", valueName: "time"))
    var duration: String?

    @Option(help: ArgumentHelp("Who or what pauses, such as metered; resume --reason ends it.", valueName: "reason"))
    var reason: String?

    @Flag(help: "Print the resulting status as one JSON document.")
    var json = false

    @OptionGroup var output: OutputOptions
    @OptionGroup var configuration: Configuration

    func validate() throws {
        try Self.validate(duration)
        try Pause.validate(reason)
    }

    static func validate(_ duration: String?) throws {
        guard let duration, DurationText.parse(duration).map({ $0 > .zero }) != true else { return }
        throw ValidationError(
            "\(duration) is not a time: write a whole number with ms, s, m, h or d, such as --for 8h, and at most "
                + "\(DurationText.format(DurationText.longest)).")
    }

    func run() async throws {
        let report = try await configuration.askAgent { try await $0.pause(for: duration, reason: reason) }
        let running =
            switch report.downloads.active {
            case 0: ""
            case 1: " One is still running, and finishes."
            case let active: " \(grouped(active)) are still running, and finish."
            }
        let isOnly = report.downloads.pauses.count <= 1
        let option = isOnly ? reason.map { " --reason \(ShellWord.quoted($0))" } ?? "" : ""
        let command = configuration.agentCommand("syncagent resume\(option)")
        let advice = isOnly ? "Resume them with" : "End all pauses with"
        let sentence = "Downloads are paused\(Self.reasons(of: report.downloads)).\(running) \(advice): \(command)"
        try Message.output(report.json, inJSON: json, or: sentence)
        try Exit.unlessStored(report.storage.error)
    }

    fileprivate static func reasons(of downloads: StatusReport.Downloads) -> String {
        let text = StatusReport.Downloads.text(of: downloads.pauses)
        return text.map { " (\(RelativeTime.text(in: $0, now: AgentClock.wallTime)))" } ?? ""
    }
}

struct ResumeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "resume", abstract: "Resume downloads after a pause.",
        usage: "syncagent resume [--reason <reason>] [--json] [options]",
        discussion: """
            Without --reason, ends all pauses; with --reason, only the pause with that reason.

            Examples:
              syncagent resume --reason metered
              syncagent resume && syncagent sync --wait

            Exit codes: 1 the change cannot be stored, and is lost at the next restart; 69 the agent is not running.
            """)

    @Option(help: ArgumentHelp("End only the pause for this reason.", valueName: "reason"))
    var reason: String?

    @Flag(help: "Print the resulting status as one JSON document.")
    var json = false

    @OptionGroup var output: OutputOptions
    @OptionGroup var configuration: Configuration

    func validate() throws { try Pause.validate(reason) }

    func run() async throws {
        let report = try await configuration.askAgent { try await $0.resume(reason: reason) }
        try Message.output(report.json, inJSON: json, or: sentence(on: report))
        try Exit.unlessStored(report.storage.error)
    }

    private func sentence(on report: StatusReport) -> String {
        let downloads = report.downloads
        if report.state == .paused {
            return "Downloads stay paused\(PauseCommand.reasons(of: downloads)). End all pauses with: "
                + configuration.agentCommand("syncagent resume")
        }
        let (icons, waiting) = (downloads.active + downloads.queued, downloads.awaitingUpstream)
        var work: [String] = []
        if icons > 0 { work.append("\(counted(icons, "icon")) to download") }
        if waiting > 0 { work.append("\(counted(waiting, "icon")) that no upstream has yet") }
        return "Downloads are resumed: \(work.isEmpty ? "nothing is queued" : work.joined(separator: ", "))."
    }
}

extension Pause {
    fileprivate static func validate(_ reason: String?) throws {
        guard let reason, !isReason(reason) else { return }
        throw ValidationError("--reason takes 1 to \(maxReasonLength) characters without control characters.")
    }
}

extension Exit {
    /// Ends the command with an error if the agent could not store the change.
    static func unlessStored(_ error: String?) throws {
        guard let error else { return }
        throw because("The agent cannot store this change (\(error)): it is lost at the next restart.")
    }
}
