// SPDX-License-Identifier: Apache-2.0
import AgentServer
import ArgumentParser
import CacheFormat
import IconCache
import Reports
import SyncAgent
import SyncPlan

struct RetryCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "retry", abstract: "Download failed icons again now, without waiting for their next attempt.",
        usage: "syncagent retry [--failed] [--json] [<url or list> ...] [options]",
        discussion: """
            An argument with a colon is a URL; any other is the name of a list. Also ends the waiting times of servers, and \
            retries images that could not be rendered.

            Examples:
              syncagent retry --failed
              syncagent retry apps.plist && syncagent sync --wait apps.plist

            Exit codes: 1 a URL or list is unknown; 69 the agent is not running.
            """)

    @Argument(
        help: ArgumentHelp("URLs, spelled as in the app list, and names of lists.", valueName: "url or list"),
        completion: .offered(\.failedIconsAndLists))
    var names: [String] = []

    @Flag(help: "Retry all icons that failed, wait for their server, or could not be rendered.")
    var failed = false

    @OptionGroup var output: ReportOptions
    @OptionGroup var configuration: Configuration

    func validate() throws {
        guard failed || !names.isEmpty else {
            throw ValidationError("retry needs a URL, a list or --failed.")
        }
    }

    func run() async throws {
        try await configuration.request(
            IconSelection(names: names, failed: failed), "retried",
            or: "Nothing to retry: no icon that can be requested failed or waits, and none could not be rendered.",
            output
        ) { try await $0.retry($1) }
    }
}

struct RefreshCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "refresh", abstract: "Revalidate icons now, even if they are fresh.",
        usage: "syncagent refresh [--full] (<url or list> ... | --app <name>) [options]",
        discussion: """
            An argument with a colon is a URL, any other one the name of a list. refresh.minimum does not apply. Images \
            stay in place until newer ones are published. With --full, images are downloaded even if the server would say \
            that they have not changed (304). If several apps have the name, --app means the one that path --app means.

            Examples:
              syncagent refresh https://example.com/mail.png
              syncagent refresh --full --app Mail

            Exit codes: 1 a URL, list or app is unknown; 69 the agent is not running.
            """)

    @Argument(
        help: ArgumentHelp("URLs, spelled as in the app list, and names of lists.", valueName: "url or list"),
        completion: .offered(\.iconsAndLists))
    var names: [String] = []

    @Option(help: ArgumentHelp("The name of an app, in place of URLs and lists.", valueName: "name"))
    var app: String?

    @Flag(help: "Request without conditions, and bypass proxy caches.")
    var full = false

    @OptionGroup var output: ReportOptions
    @OptionGroup var configuration: Configuration

    func validate() throws {
        guard names.isEmpty != (app == nil) else {
            throw ValidationError("Give either URLs and lists, or --app with a name.")
        }
    }

    func run() async throws {
        var selection = IconSelection(names: names)
        if let app {
            let cache = IconCache(at: try await configuration.agentFolders().cache)
            selection = IconSelection(urls: [try cache.app(named: app).icon])
        }
        try await configuration.request(
            selection, full ? "downloaded" : "refreshed",
            or: "Nothing to refresh: the icons are queued or in flight, are data: URLs, or are in no list.", output
        ) { try await $0.refresh($1, isFull: full) }
    }
}

extension IconSelection {
    /// Arguments of the command line: a URL contains a colon, a list's name does not.
    init(names: [String], failed: Bool = false) {
        let urls = names.filter { $0.contains(":") }
        self.init(
            urls: urls.map { IconURL($0) }, lists: names.filter { !$0.contains(":") }.map { ListName($0) },
            failed: failed)
    }
}

extension Configuration {
    /// Requests icons and prints their number.
    ///
    /// URLs that the agent does not know are completed with their query, and requested again.
    ///
    /// - Throws: Exit code 1 if a name is unknown.
    fileprivate func request(
        _ selection: IconSelection, _ participle: String, or none: String, _ output: ReportOptions,
        _ request: (ControlClient, IconSelection) async throws -> SelectionReport?
    ) async throws {
        var report = try await askAgent { try await request($0, selection) }
        let folders = try await agentFolders()
        var whole: [IconURL] = []
        report.unknown = try report.unknown.filter { url in
            guard let known = try Suggestion.whole(url, in: folders.cache) else { return true }
            whole.append(known)
            return false
        }
        if !whole.isEmpty {
            let rest = IconSelection(urls: whole, lists: [], failed: false)
            report.icons += try await askAgent { try await request($0, rest) }.icons
        }
        let isKnown = report.unknown.isEmpty && report.missing.isEmpty
        if output.json || report.icons > 0 || isKnown {
            let isPaused = output.json ? false : try await askAgent { try await $0.status() }.state == .paused
            let sentence =
                "\(counted(report.icons, "icon")) \(report.icons == 1 ? "is" : "are") \(participle) "
                + (isPaused ? "once downloads are resumed: run syncagent resume." : "now.")
            try Message.output(report.json, inJSON: output.json, or: report.icons == 0 ? none : sentence)
        }
        for url in report.unknown {
            Message.error("No app list names \(shown(url)).\(Suggestion.icon(for: url, in: folders.cache))")
        }
        for list in report.missing {
            Message.error("There is no list \(list).\(Suggestion.list(for: list, among: folders.knownLists))")
        }
        if !isKnown { throw Exit.with(.attention) }
    }
}
