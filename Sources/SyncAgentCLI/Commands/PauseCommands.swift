// SPDX-License-Identifier: Apache-2.0
import AgentServer
import ArgumentParser
import CacheFormat
import SyncAgent
import SyncPlan

struct PauseCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pause", abstract: "Pause new downloads. Running ones finish. The pause survives restarts.",
        usage: "syncagent pause [--json] [options]",
        discussion: """
            Examples:
              syncagent pause
              syncagent pause --json

            Exit code 69: the agent is not running.
            """)

    @Flag(help: "Print the status after it, as one JSON document.")
    var json = false

    @OptionGroup var output: OutputOptions
    @OptionGroup var configuration: Configuration

    func run() async throws {
        let report = try await configuration.askAgent { try await $0.pause(true) }
        if json { return try Message.output(report.json) }
        let running =
            switch report.downloads.active {
            case 0: ""
            case 1: " One is still running, and finishes."
            case let active: " \(grouped(active)) are still running, and finish."
            }
        try Message.output(["Downloads are paused.\(running) Resume them with: syncagent resume"])
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

            Exit code 69: the agent is not running.
            """)

    @Flag(help: "Print the status after it, as one JSON document.")
    var json = false

    @OptionGroup var output: OutputOptions
    @OptionGroup var configuration: Configuration

    func run() async throws {
        let report = try await configuration.askAgent { try await $0.pause(false) }
        if json { return try Message.output(report.json) }
        let icons = report.downloads.active + report.downloads.queued
        let work = icons == 0 ? "nothing is queued" : "\(counted(icons, "icon")) to download"
        try Message.output(["Downloads are resumed: \(work)."])
    }
}
