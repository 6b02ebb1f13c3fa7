// SPDX-License-Identifier: Apache-2.0
import AgentServer
import ArgumentParser
import CacheFormat
import Reports
import SyncAgent

struct EvictCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "evict", abstract: "Evict retired images now, without waiting for the grace period.",
        usage: "syncagent evict [--dry-run | --explain <url> | --confirm] [options]",
        discussion: """
            An image is retired when no list names it any more. One that a reader leases stays until the lease ends. \
            Every image stays for 5 seconds after it is retired, for readers without a lease; the command waits for \
            that. A change that retires most of the cache is held until you confirm it with --confirm, or until \
            eviction.holdFor has passed.

            Examples:
              syncagent evict --dry-run
              syncagent evict --explain https://example.com/mail.png

            Exit codes: 1 some retired images stay, or the URL has no image; 69 the agent is not running.
            """)

    @Flag(help: "Only show which images would be evicted, which would stay, and why.")
    var dryRun = false

    @Option(
        help: ArgumentHelp("Only show whether the image of this URL would be evicted, and why.", valueName: "url"),
        completion: .offered(.retiredIcons))
    var explain: IconURL?

    @Flag(help: "Confirm a held eviction: its images are removed now. This cannot be undone.")
    var confirm = false

    @OptionGroup var output: ReportOptions
    @OptionGroup var configuration: Configuration

    func validate() throws {
        guard !confirm || !(dryRun || explain != nil) else {
            throw ValidationError("--confirm removes files; --dry-run and --explain only show them.")
        }
    }

    func run() async throws {
        if dryRun || explain != nil { return try await explainOnly() }
        let before = try await configuration.askAgent { try await $0.evictionReport() }
        let after = try await LiveDisplay.waitingForReaders(on: output.messages) {
            try await configuration.askAgent { try await $0.evict(isConfirmed: confirm) }
        }
        let outcome = Outcome(before, after)
        try output.show(after.json, outcome.lines)
        if !outcome.kept.icons.isEmpty { throw Exit.with(.attention) }
    }

    private func explainOnly() async throws {
        var report = try await configuration.askAgent { try await $0.evictionReport(on: explain) }
        if let explain, report.icons.isEmpty {
            let all = try await configuration.askAgent { try await $0.evictionReport(on: nil) }
            let meant = all.icons.filter { Suggestion.isShort(explain, of: $0.url) }
            guard meant.count == 1 else {
                throw Exit.because("\(shown(explain)) has no image on disk.")
            }
            report = all
            report.icons = meant
        }
        try output.show(report.json) { Self.table(of: report, width: $0) }
    }

    /// The result for the icons that were retired before the command.
    struct Outcome {
        var removed: Int
        var kept: EvictionReport
        /// The number retired while the command waited, which are not counted as kept.
        var later: Int
        /// The number of renditions that went, whose icons were not retired.
        var renditions: Int

        init(_ before: EvictionReport, _ after: EvictionReport) {
            let urls = Set(before.icons.map(\.url))
            kept = after
            kept.icons.removeAll { !urls.contains($0.url) }
            removed = urls.count - kept.icons.count
            later = after.icons.count - kept.icons.count
            renditions = max(0, (before.renditions ?? 0) - (after.renditions ?? 0))
        }

        func lines(fitting width: Int?) -> [StyledText] {
            guard removed > 0 || !kept.icons.isEmpty || later > 0 || renditions > 0 else {
                return EvictCommand.table(of: kept, width: width)
            }
            let others = renditions > 0 ? " and \(counted(renditions, "rendition"))" : ""
            var lines = [StyledText("\(counted(removed, "icon"))\(others) evicted")]
            if !kept.icons.isEmpty {
                lines[0] += StyledText(", \(grouped(kept.icons.count)) kept:")
                lines += EvictCommand.table(of: kept, width: width)
            }
            guard later > 0 else { return lines }
            let verb = later == 1 ? "was" : "were"
            return lines + StyledText("\(counted(later, "icon")) \(verb) retired meanwhile.").wrapped(to: width)
        }
    }

    /// A row for each icon, with the URL at the end of the line, to be copied.
    static func table(of report: EvictionReport, width: Int?, now: Timestamp = AgentClock.wallTime) -> [StyledText] {
        guard !report.icons.isEmpty else {
            let renditions = report.renditions ?? 0
            guard renditions > 0 else { return ["No image is retired."] }
            let verb = renditions == 1 ? "is" : "are"
            return [StyledText("No icon is retired; \(counted(renditions, "rendition")) \(verb).")]
        }
        // A reason that all share, such as a held eviction, is given once.
        if report.icons.count > 1, let reason = report.icons.first?.reason, report.leases.isEmpty,
            report.icons.allSatisfy({ !$0.goes && $0.reason == reason })
        {
            let text = "All \(counted(report.icons.count, "icon")) stay: \(RelativeTime.text(in: reason, now: now))."
            return StyledText(text).wrapped(to: width) + report.icons.map { StyledText("  " + shown($0.url)) }
        }
        var table = Table("EVICT", "WHY", "URL")
        for icon in report.icons {
            let pids = report.leases.first { $0.generation == icon.generation }?.pids ?? []
            let holders = pids.isEmpty ? "" : " (process \(pids.map(String.init).joined(separator: ", ")))"
            let rest = icon.goes && icon.reason.starts(withBytes: "the grace period of") ? "now, although " : ""
            let reason = rest + RelativeTime.text(in: icon.reason, now: now)
            table.add(StyledText(icon.goes ? "yes" : "no"), StyledText(reason + holders), StyledText(shown(icon.url)))
        }
        return table.lines(fitting: width)
    }
}
