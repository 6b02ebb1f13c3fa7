import AgentServer
import ArgumentParser
// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import Reports

struct PauseCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pause", abstract: "Pause new downloads. Running ones finish. The pause survives restarts.",
        usage: "syncagent pause [--json] [options]",
        discussion: """
            Examples:
              syncagent pause
              syncagent pause --json

            Exit codes: 1 it cannot be stored, so that a restart would undo it; 69 the agent is not running.
            """)

    @Flag(help: "Print the status after it, as one JSON document.")
    var json = false

    @OptionGroup var output: OutputOptions
    @OptionGroup var configuration: Configuration

    func run() async throws {
        try await configuration.pause(true, inJSON: json) { downloads in
            let running =
                switch downloads.active {
                case 0: ""
                case 1: " One is still running, and finishes."
                case let active: " \(grouped(active)) are still running, and finish."
                }
            return "Downloads are paused.\(running) Resume them with: \(configuration.agentCommand("syncagent resume"))"
        }
    }
}

struct ResumeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "resume", abstract: "Resume downloads after a pause.",
        usage: "syncagent resume [--json] [options]",
        discussion: """
            Examples:
              syncagent resume
              syncagent resume && syncagent sync --wait

            Exit codes: 1 it cannot be stored, so that a restart would undo it; 69 the agent is not running.
            """)

    @Flag(help: "Print the status after it, as one JSON document.")
    var json = false

    @OptionGroup var output: OutputOptions
    @OptionGroup var configuration: Configuration

    func run() async throws {
        try await configuration.pause(false, inJSON: json) { downloads in
            let (icons, waiting) = (downloads.active + downloads.queued, downloads.awaitingUpstream ?? 0)
            var work: [String] = []
            if icons > 0 { work.append("\(counted(icons, "icon")) to download") }
            if waiting > 0 { work.append("\(counted(waiting, "icon")) that no upstream has yet") }
            return "Downloads are resumed: \(work.isEmpty ? "nothing is queued" : work.joined(separator: ", "))."
        }
    }
}

extension Configuration {
    fileprivate func pause(
        _ isPaused: Bool, inJSON: Bool, _ sentence: (StatusReport.Downloads) -> String
    ) async throws {
        let report = try await askAgent { try await $0.pause(isPaused) }
        if inJSON {
            try Message.output(report.json)
        } else {
            try Message.output(sentence: sentence(report.downloads))
        }
        if let error = report.storage?.error {
            throw Exit.because("The agent cannot store it (\(error)): a restart would undo it.")
        }
    }
}
