// SPDX-License-Identifier: Apache-2.0
import AgentServer
import ArgumentParser
import Reports

struct ReloadCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reload", abstract: "Reload the configuration of the agent, and show the result.",
        usage: "syncagent reload [--json] [options]",
        discussion: """
            Does what SIGHUP and systemctl reload do: the agent reads its configuration and the lists folder again. If \
            the configuration has errors, they are printed, and all settings stay as they were.

            Examples:
              syncagent reload
              syncagent config check && syncagent reload

            Exit codes: 69 the agent is not running; 78 the configuration has errors.
            """)

    @OptionGroup var output: ReportOptions
    @OptionGroup var configuration: Configuration

    func run() async throws {
        let report = try await configuration.askAgent { try await $0.reload() }
        if output.json || report.errors.isEmpty && (!report.changed.isEmpty || report.needRestart.isEmpty) {
            let event = AgentEvent.configurationReloaded(changed: report.changed)
            try Message.output(report.json, inJSON: output.json, or: event.message)
        }
        if !report.needRestart.isEmpty {
            Message.notice("Changed, but in force only after a restart: \(report.needRestart.joined(separator: ", "))")
        }
        guard !report.errors.isEmpty else { return }
        for error in report.errors { Message.error(error) }
        throw Exit.because("Not reloaded: all settings stay as they were.", code: .badConfiguration)
    }
}
