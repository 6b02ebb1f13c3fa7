// SPDX-License-Identifier: Apache-2.0
import AgentServer
import ArgumentParser
import CacheFormat
import Reports
import SyncAgent

struct EvictCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "evict", abstract: "Evict retired images now, without waiting for the grace period.",
        usage: """
            syncagent evict [--dry-run] [--explain <url>] [--all] [--json] [options]
            syncagent evict --confirm [--all] [--json] [options]
            """,
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
        completion: .offered(\.retiredIcons))
    var explain: IconURL?

    @Flag(help: "Confirm a held eviction: its images are removed now. This cannot be undone.")
    var confirm = false

    @Flag(help: "Show the URL of each image, not only how many have the same cause.")
    var all = false

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
        try output.show(after.json) { outcome.lines(fitting: $0, more: more) }
        if !outcome.kept.icons.isEmpty { throw Exit.with(.attention) }
    }

    /// The command that shows all URLs; `nil` if this one does.
    private var more: String? { all ? nil : configuration.agentCommand("syncagent evict --dry-run --all") }

    private func explainOnly() async throws {
        var report = try await configuration.askAgent { try await $0.evictionReport(on: explain) }
        if let explain, report.icons.isEmpty {
            report = try await configuration.askAgent { try await $0.evictionReport() }
            report.icons.removeAll { !Suggestion.isShort(explain, of: $0.url) }
            guard report.icons.count == 1 else { throw Exit.because("\(shown(explain)) has no image on disk.") }
        }
        try output.show(report.json) { [report] width in
            guard explain == nil, !report.icons.isEmpty else { return Self.table(of: report, width: width) }
            let text = Self.verdict(on: report.icons)
            return Self.table(of: report, more: more, width: width) + Self.ending(text, more, width)
        }
    }

    /// The number of icons that would be evicted, with their bytes, and of those that would stay; an image that several
    /// icons have is counted once.
    static func verdict(on icons: [EvictionReport.Icon]) -> String {
        let gone = icons.filter(\.goes)
        let images = Dictionary(gone.map { ($0.path, $0.bytes) }) { bytes, _ in bytes }
        let size = images.isEmpty ? "" : " (\(ByteCount(images.values.reduce(0, +)).rounded))"
        let kept = grouped(icons.count - gone.count)
        return "\(counted(gone.count, "icon")) would be evicted\(size), \(kept) would stay."
    }

    private static func ending(_ verdict: String, _ more: String?, _ width: Int?) -> [StyledText] {
        StyledText(verdict + (more.map { " To see all URLs: \($0)" } ?? "")).wrapped(to: width)
    }

    /// The result for the icons that were retired before the command.
    struct Outcome {
        var removed: Int
        var kept: EvictionReport
        /// The number of icons retired while the command waited; they do not count as kept.
        var later: Int
        /// The images removed whose icons stay, in words.
        var others: [String]

        init(_ before: EvictionReport, _ after: EvictionReport) {
            let urls = Set(before.icons.map(\.url))
            kept = after
            kept.icons.removeAll { !urls.contains($0.url) }
            removed = urls.count - kept.icons.count
            later = after.icons.count - kept.icons.count
            var images = before
            images.renditions = max(0, before.renditions - after.renditions)
            images.replaced = max(0, (before.replaced ?? 0) - (after.replaced ?? 0))
            others = images.others
        }

        /// The elements as in a sentence: `a, b and c`.
        static func joined(_ parts: [String]) -> String {
            let first = parts.dropLast().joined(separator: ", ")
            return (first.isEmpty ? "" : first + " and ") + (parts.last ?? "")
        }

        /// The table of kept icons with the reasons, then the verdict.
        func lines(fitting width: Int?, more: String?) -> [StyledText] {
            guard removed > 0 || !kept.icons.isEmpty || later > 0 || !others.isEmpty else {
                return EvictCommand.table(of: kept, width: width)
            }
            var verdict = "\(Self.joined([counted(removed, "icon")] + others)) evicted"
            if !kept.icons.isEmpty { verdict += ", \(grouped(kept.icons.count)) kept" }
            verdict += "."
            if later > 0 { verdict += " \(counted(later, "icon")) \(later == 1 ? "was" : "were") retired meanwhile." }
            guard !kept.icons.isEmpty else { return StyledText(verdict).wrapped(to: width) }
            return EvictCommand.table(of: kept, more: more, width: width) + EvictCommand.ending(verdict, more, width)
        }
    }

    /// A row for each icon, with the URL at the end of the line so that it can be copied; or a row for each cause, if
    /// `more` is a command that shows the URLs.
    static func table(
        of report: EvictionReport, more: String? = nil, width: Int?, now: Timestamp = AgentClock.wallTime
    ) -> [StyledText] {
        guard !report.icons.isEmpty else {
            let others = report.others
            guard !others.isEmpty else { return ["No image is retired."] }
            let verb = (report.replaced ?? 0) + report.renditions == 1 ? "is" : "are"
            return [StyledText("No icon is retired; \(Outcome.joined(others)) \(verb).")]
        }
        // A reason that all icons share, such as a held eviction, is printed once.
        if report.icons.count > 1, let reason = report.icons.first?.reason, report.leases.isEmpty,
            report.icons.allSatisfy({ !$0.goes && $0.reason == reason })
        {
            let text = "All \(counted(report.icons.count, "icon")) stay: \(RelativeTime.text(in: reason, now: now))."
            let urls = more == nil ? report.icons.map { StyledText("  " + shown($0.url)) } : []
            return StyledText(text).wrapped(to: width) + urls
        }
        let rows = report.icons.map { icon -> [String] in
            let pids = report.leases.first { $0.generation == icon.generation }?.pids ?? []
            let holders = pids.isEmpty ? "" : " (process \(pids.map(String.init).joined(separator: ", ")))"
            let rest = icon.goes && icon.reason.starts(withBytes: "the grace period of") ? "now, although " : ""
            let reason = rest + RelativeTime.text(in: icon.reason, now: now)
            return [icon.goes ? "yes" : "no", reason + holders]
        }
        guard more != nil else {
            var table = Table("EVICT", "WHY", "URL")
            for (row, icon) in zip(rows, report.icons) {
                table.add(StyledText(row[0]), StyledText(row[1]), StyledText(shown(icon.url)))
            }
            return table.lines(fitting: width)
        }
        var table = Table("EVICT", .init("ICONS", isNumber: true), "WHY")
        let causes = Dictionary(rows.map { ($0, 1) }, uniquingKeysWith: +)
        let sorted = causes.sorted { ($1.value, $0.key.joined()) < ($0.value, $1.key.joined()) }
        for (row, count) in sorted.prefix(10) {
            table.add(StyledText(row[0]), StyledText(grouped(count)), StyledText(row[1]))
        }
        return table.lines(fitting: width)
    }
}
