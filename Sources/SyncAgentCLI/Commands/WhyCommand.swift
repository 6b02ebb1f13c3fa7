// SPDX-License-Identifier: Apache-2.0
import AgentServer
import ArgumentParser
import CacheFormat
import Reports
import SyncAgent
import SystemPackage

struct WhyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "why",
        abstract: "Explain the state of an icon URL: which lists name it, what the server said, what comes next.",
        usage: "syncagent why [--json] <url> [options]",
        discussion: """
            Shows why an icon waits: a pause, a full disk, a server that failed or asked to wait, refresh.minimum. For \
            a retired image, shows when it is evicted, or why it stays. For an image that is current by what its server \
            said, shows how to download it anyway. Works without a running agent.

            Examples:
              syncagent why https://example.com/mail.png
              syncagent why https://example.com/mail.png --json

            Exit code 1: the URL is unknown.
            """)

    @Argument(
        help: "The URL, spelled as in the app list; without its query, if only one icon fits.",
        completion: .offered(.icons))
    var url: IconURL

    @OptionGroup var output: ReportOptions
    @OptionGroup var configuration: Configuration

    func run() async throws {
        var known = try await report(on: url)
        let (folders, file) = try await configuration.agentPlace(isAnswered: known?.isFromDisk != true)
        if known == nil, let whole = try Suggestion.whole(url, in: folders.cache) {
            known = try await report(on: whole)
        }
        guard case (var report, let isFromDisk)? = known else {
            throw Exit.because(
                "No app list names \(shown(url)), and no image of it is on disk."
                    + Suggestion.icon(for: url, in: folders.cache))
        }
        let json = report.json
        if let message = report.failure?.message {
            report.failure?.message = CommandContext(file: file).explained(message)
        }
        try output.show(json) { [report] width in
            IconView(
                report: report, cache: folders.cache.string, now: AgentClock.wallTime, width: width,
                isFromDisk: isFromDisk,
                fullRefresh: configuration.agentCommand("syncagent refresh --full \(Suggestion.word(for: report.url))")
            ).lines
        }
    }

    private func report(on url: IconURL) async throws -> (report: IconReport, isFromDisk: Bool)? {
        let (answer, _) = try await configuration.askIfPossible { client -> IconReport?? in
            guard let known = try await client.report(on: url) else { return nil }
            guard var report = known, report.state == .retired else { return known }
            report.eviction = try await client.evictionReport(on: url)?.icons.first?.reason
            return report
        }
        if let known = answer { return known.map { ($0, false) } }
        let status = try configuration.diskStatus(try configuration.settingsOrWarning())
        guard var report = try Exit.with(.attention, { try status.report(on: url) }) else { return nil }
        if report.state == .retired {
            report.eviction =
                report.isShownElsewhere
                ? EvictionReport.shownReason : "when its grace period is over; only a running agent evicts"
        }
        return (report, true)
    }
}
