// SPDX-License-Identifier: Apache-2.0
import AgentServer
import ArgumentParser
import CacheFormat
import SyncAgent
import SyncPlan
import SystemPackage

struct StatusCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status", abstract: "Show the state of the agent and of the cache.",
        discussion: """
            Exit codes: 0 all is well; 1 something is wrong (failed icons, rejected lists, a full disk, suspended or held \
            eviction); 3 the agent is not running, and the status is read from disk.
            """)

    @Flag(help: "Print one JSON document; with --watch, one per line.")
    var json = false

    @Flag(help: "Print the status again whenever it changes, until the agent exits.")
    var watch = false

    @OptionGroup var configuration: Configuration

    func run() async throws {
        if watch { try await follow() }
        let report = try await configuration.currentStatus()
        let cache = try configuration.folders().cache.string
        if json {
            try Message.output(report.json, isOneOfSeveral: watch)
        } else {
            try Message.output(Self.lines(of: report, cache: cache))
        }
        if report.state == .stopped { throw Exit.with(.notRunning) }
        if report.needsAttention { throw Exit.with(.attention) }
    }

    private func follow() async throws {
        let folders = try configuration.folders()
        do {
            _ = try await ControlClient(socket: folders.socket).status { report in
                if json {
                    try Message.output(report.json, isOneOfSeveral: true)
                } else {
                    try Message.output(Self.lines(of: report, cache: folders.cache.string) + [""])
                }
                return false
            }
        } catch let error where !(error is ExitCode) {
            // The single status that follows says what it is.
        }
    }

    private static func lines(of report: StatusReport, cache: String) -> [String] {
        var lines: [String] = []
        let process = report.pid.map { " (process \($0))" } ?? ""
        lines.append("syncagent \(report.version) \(word(for: report))\(process)")
        if let generation = report.generation, let published = report.published {
            let sync = report.inSync ? "in sync" : "not in sync"
            lines.append("generation \(generation), published \(published), \(sync)")
        } else if report.publication.error == nil {
            lines.append("nothing has been published yet")
        }
        if !report.lists.isEmpty { lines += [""] + lists(of: report) }
        let icons = report.icons
        lines += [
            "",
            "icons      \(icons.referenced) referenced: \(icons.ready) ready, \(icons.pending) pending, "
                + "\(icons.failed) failed; \(icons.stale) stale, \(icons.retired) retired",
            "downloads  \(report.downloads.active) active, \(report.downloads.queued) queued, "
                + "\(report.downloads.waiting) waiting for retry"
                + (report.downloads.blocked > 0
                    ? "; \(counted(report.downloads.blocked, "icon")) cannot be downloaded now" : ""),
            "cache      \(counted(report.cache.images, "image")), \(ByteCount(report.cache.bytes).rounded), in \(cache)",
        ]
        if let reason = report.downloads.reason { lines.append("held back  \(reason)") }
        if let reason = report.eviction.reason {
            lines.append("eviction   \(report.eviction.state): \(reason)")
        }
        if let reason = report.watch.reason {
            lines.append("watch      \(report.watch.mode ?? "none"): \(reason)")
        }
        if let error = report.storage?.error { lines.append("cannot store the state: \(error)") }
        if let error = report.publication.error {
            lines.append((report.reachable == false ? "manifest   " : "publishing failed: ") + error)
        }
        if let error = report.configuration.error { lines.append("configuration rejected: \(error)") }
        return lines
    }

    private static func word(for report: StatusReport) -> String {
        switch report.state {
        case .running where report.reachable == false: "is running, not reachable from here"
        case .unknown: "may be running"
        case .running, .paused, .stopped: "is \(report.state.rawValue)"
        }
    }

    static func lists(of report: StatusReport) -> [String] {
        var table = Table("LIST", "STATE", "APPS", "READY", "PENDING", "FAILED", "")
        for list in report.lists {
            table.add(
                list.name.text, list.state, String(list.apps), String(list.ready), String(list.pending),
                String(list.failed), list.error ?? note(on: list))
        }
        return table.lines
    }

    private static func note(on list: StatusReport.List) -> String {
        list.problems == 0 ? "" : "\(counted(list.problems, "problem")): see syncagent list \(list.name)"
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
