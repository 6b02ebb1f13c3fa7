// SPDX-License-Identifier: Apache-2.0
import AgentServer
import ArgumentParser
import CacheFormat
import SyncAgent
import SyncPlan

struct RetryCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "retry", abstract: "Download failed icons again now, without waiting for their next attempt.",
        usage: "syncagent retry [--failed] [--json] [<url or list> ...] [options]",
        discussion: """
            An argument with a colon is a URL, any other one the name of a list. Waiting times of servers end with it.

            Examples:
              syncagent retry --failed
              syncagent retry apps.plist && syncagent sync --wait apps.plist

            Exit codes: 1 a URL or list is unknown; 69 the agent is not running.
            """)

    @Argument(
        help: ArgumentHelp("URLs, spelled as in the app list, and names of lists.", valueName: "url or list"),
        completion: .offered(.failedIconsAndLists))
    var names: [String] = []

    @Flag(help: "All icons that failed, or that wait for their server.")
    var failed = false

    @Flag(help: "Print one JSON document.")
    var json = false

    @OptionGroup var output: OutputOptions
    @OptionGroup var configuration: Configuration

    func validate() throws {
        guard failed || !names.isEmpty else {
            throw ValidationError("retry needs a URL, a list or --failed.")
        }
    }

    func run() async throws {
        let selection = IconSelection(names: names, failed: failed)
        let report = try await configuration.select(selection) { try await $0.retry($1) }
        try await configuration.tell(
            report, as: "retried", or: "Nothing to retry: no icon failed or waits for its server.", inJSON: json)
    }
}

struct RefreshCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "refresh", abstract: "Ask servers now whether icons have changed, however fresh they are.",
        usage: "syncagent refresh [--json] <url or list> ... [options]",
        discussion: """
            An argument with a colon is a URL, any other one the name of a list. refresh.minimum does not apply. Images \
            stay in place until newer ones are published.

            Examples:
              syncagent refresh https://example.com/mail.png
              syncagent refresh apps.plist

            Exit codes: 1 a URL or list is unknown; 69 the agent is not running.
            """)

    @Argument(
        help: ArgumentHelp("URLs, spelled as in the app list, and names of lists.", valueName: "url or list"),
        completion: .offered(.iconsAndLists))
    var names: [String]

    @Flag(help: "Print one JSON document.")
    var json = false

    @OptionGroup var output: OutputOptions
    @OptionGroup var configuration: Configuration

    func run() async throws {
        let selection = IconSelection(names: names)
        let report = try await configuration.select(selection) { try await $0.refresh($1) }
        try await configuration.tell(
            report, as: "refreshed", or: "Nothing to refresh: no icon is at rest.", inJSON: json)
    }
}

extension IconSelection {
    /// Arguments of a command line: URLs contain a colon, list names do not.
    init(names: [String], failed: Bool = false) {
        let urls = names.filter { $0.contains(":") }
        self.init(
            urls: urls.map { IconURL($0) }, lists: names.filter { !$0.contains(":") }.map { ListName($0) },
            failed: failed)
    }
}

extension Configuration {
    /// Requests icons; resolves unknown URLs that lack their query, and requests those too.
    fileprivate func select(
        _ selection: IconSelection, _ request: (ControlClient, IconSelection) async throws -> SelectionReport?
    ) async throws -> SelectionReport {
        var report = try await askAgent { try await request($0, selection) }
        guard !report.unknown.isEmpty else { return report }
        let cache = try await agentFolders().cache
        var whole: [IconURL] = []
        report.unknown = try report.unknown.filter { url in
            guard let known = try Suggestion.whole(url, in: cache) else { return true }
            whole.append(known)
            return false
        }
        guard !whole.isEmpty else { return report }
        let rest = IconSelection(urls: whole, lists: [], failed: false)
        report.icons += try await askAgent { try await request($0, rest) }.icons
        return report
    }

    /// Reports how many icons are requested; throws exit code 1 if a name is unknown.
    fileprivate func tell(_ report: SelectionReport, as verb: String, or none: String, inJSON: Bool) async throws {
        let folders = try await agentFolders()
        if inJSON {
            try Message.output(report.json)
        } else if report.icons > 0 || report.unknown.isEmpty && report.missing.isEmpty {
            try Message.output(
                sentence: report.icons == 0
                    ? none : "\(counted(report.icons, "icon")) \(report.icons == 1 ? "is" : "are") \(verb) now.")
        }
        for url in report.unknown {
            Message.error("No app list names \(shown(url)).\(Suggestion.icon(for: url, in: folders.cache))")
        }
        for list in report.missing {
            Message.error("There is no list \(list).\(Suggestion.list(for: list, in: folders))")
        }
        if !report.unknown.isEmpty || !report.missing.isEmpty { throw Exit.with(.attention) }
    }
}
