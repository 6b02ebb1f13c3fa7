// SPDX-License-Identifier: Apache-2.0
import AgentServer
import ArgumentParser
import CacheFormat
import IconCache
import Reports
import SyncAgent
import SystemPackage

struct WhyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "why",
        abstract: "Explain the state of an icon: which lists name it, what the server said, what comes next.",
        usage: "syncagent why [--json] <url or app> [options]",
        discussion: """
            Shows why an icon waits: a pause, a full disk, a server that failed or asked to wait, refresh.minimum. For \
            a retired image, shows when it is evicted, or why it stays. For an image that is current by what its server \
            said, shows how to download it anyway. If apps with a name have several icons, shows each. Works without a \
            running agent.

            Examples:
              syncagent why https://example.com/mail.png
              syncagent why Mail

            Exit code 1: the URL or app is unknown.
            """)

    @Argument(
        help: ArgumentHelp(
            "The URL, spelled as in the app list; without its query, if only one icon fits. Or the name of an app.",
            valueName: "url or app"),
        completion: .offered(\.icons))
    var url: IconURL

    @OptionGroup var output: ReportOptions
    @OptionGroup var configuration: Configuration

    func run() async throws {
        // An argument with a colon is taken for a URL, although an app's name may have a colon, too.
        let isName = !url.text.utf8.contains(UInt8(ascii: ":"))
        if isName, try await explainApp(try await configuration.agentPlace()) { return }
        var known = try await configuration.report(on: url)
        let place = try await configuration.agentPlace(isAnswered: known?.isFromDisk != true)
        if known == nil, let whole = try Suggestion.whole(url, in: place.folders.cache) {
            known = try await configuration.report(on: whole)
        }
        if let known { return try output.show(known.report.json) { lines(on: known, place, width: $0) } }
        if !isName, try await explainApp(place) { return }
        if isName, let error = try? IconCache(at: place.folders.cache).missing(url.text, in: nil) { throw error }
        throw Exit.because(
            "No app list names \(shown(url)), and no image of it is on disk."
                + Suggestion.icon(for: url, in: place.folders.cache))
    }

    /// Explains each icon of the apps that the command line names; returns whether there is one.
    private func explainApp(_ place: (folders: AgentFolders, file: String)) async throws -> Bool {
        var reports: [Known] = []
        for icon in try IconCache(at: place.folders.cache).icons(ofApp: url.text) {
            if let known = try await configuration.report(on: icon) { reports.append(known) }
        }
        guard !reports.isEmpty else { return false }
        let icons = JSON.array(reports.map(\.report.json))
        try output.show(["format": 1, "app": .text(url), "icons": .lines(icons)]) { [reports] width in
            let texts = reports.map { lines(on: $0, place, width: width) }
            return texts[0] + texts.dropFirst().flatMap { [""] + $0 }
        }
        return true
    }

    private func lines(on known: Known, _ place: (folders: AgentFolders, file: String), width: Int?) -> [StyledText] {
        var report = known.report
        if let message = report.failure?.message {
            report.failure?.message = CommandContext(file: place.file).explained(message)
        }
        let word = Suggestion.word(for: report.url, in: report.lists.first, of: place.folders.cache)
        return IconView(
            report: report, cache: place.folders.cache.string, now: AgentClock.wallTime, width: width,
            isFromDisk: known.isFromDisk,
            fullRefresh: configuration.agentCommand("syncagent refresh --full \(word)"),
            retry: configuration.agentCommand("syncagent retry \(word)")
        ).lines
    }

    private typealias Known = (report: IconReport, isFromDisk: Bool)
}

extension Configuration {
    /// The state of an icon from the running agent, else from the folders; `nil` if it is unknown.
    func report(on url: IconURL) async throws -> (report: IconReport, isFromDisk: Bool)? {
        let (answer, agent) = try await askIfPossible { client -> IconReport?? in
            guard let known = try await client.report(on: url) else { return nil }
            guard var report = known, report.state == .retired else { return known }
            report.eviction = try await client.evictionReport(on: url)?.icons.first?.reason
            return report
        }
        if let known = answer { return known.map { ($0, false) } }
        let status = try diskStatus(try settingsOrWarning())
        let known: IconReport?
        do {
            known = try await status.report(on: url, agent: agent)
        } catch {
            throw Exit.because("\(error)")
        }
        guard var report = known else { return nil }
        if report.state == .retired {
            report.eviction =
                report.isShownElsewhere
                ? EvictionReport.shownReason : "when its grace period is over; only a running agent evicts"
        }
        return (report, true)
    }
}
