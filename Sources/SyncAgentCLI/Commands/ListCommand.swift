// SPDX-License-Identifier: Apache-2.0
import AgentServer
import AgentSettings
import AppLists
import ArgumentParser
import CacheFormat
import Fleet
import Glibc
import IconCache
import Reports
import SyncAgent
import SyncPlan
import SystemPackage

struct ListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "Show the app lists, or the icons of one list and their state.",
        usage: "syncagent list [<list>] [--failed] [--json] [options]",
        discussion: """
            The list “pins” has the pinned icons. An icon is stale if its last refresh failed: the old image stays. \
            “previous” means that the app has a new URL, and shows its last image until the new one is on disk. Without \
            a list, --failed shows the failed icons of all lists. Works without a running agent.

            Examples:
              syncagent list apps.plist
              syncagent list --failed

            Exit codes: 1 the list has no good version, there is no lists folder, or the manifest cannot be read; 78 no agent is running, and its \
            configuration is wrong.
            """)

    @Argument(
        help: "The file name of the list, such as apps.plist; by default all lists.",
        completion: .offered(\.listsAndPins))
    var list: ListName?

    @Flag(help: "Only show icons that failed, or whose last refresh failed.")
    var failed = false

    @OptionGroup var output: ReportOptions
    @OptionGroup var configuration: Configuration

    func run() async throws {
        if let list { return try await showIcons(of: list) }
        if failed { return try await showFailedIcons() }
        let report = try await configuration.currentStatus()
        // Without an agent and without a manifest, the lists are unknown.
        let obstacle = !report.reachable ? report.publication.error : nil
        if let obstacle, report.lists.isEmpty, !output.json { throw Exit.because(obstacle) }
        let problems =
            report.hasBadConfiguration ? report.problems(for: try await configuration.context(for: report)) : []
        try output.show(report.listsJSON) { width in
            let flaws: [StyledText] = problems.filter { $0.known == .configurationRejected }.flatMap {
                StatusView.lines(of: $0, now: AgentClock.wallTime, width: width) + [""]
            }
            guard !report.lists.isEmpty else { return flaws + ["There are no app lists."] }
            return flaws + StatusView.table(of: report.lists).lines(fitting: width)
                + Self.errors(of: report, width: width)
        }
        if report.lists.isEmpty {
            let folder = try await configuration.agentFolders().lists
            if folder.isMissing {
                throw Exit.because(
                    "The lists folder \(folder) does not exist: create it, or name another one with --lists.")
            }
        }
        if let obstacle { throw Exit.because(obstacle) }
        if report.hasBadConfiguration { throw Exit.with(.badConfiguration) }
    }

    private static func errors(of report: StatusReport, width: Int?) -> [StyledText] {
        report.lists.flatMap { list in
            list.error.map { (StyledText(list.name.text + ": ") + StyledText($0, .red)).wrapped(to: width) } ?? []
        }
    }

    /// Shows the icons of all lists that failed or are stale, and why lists are not accepted.
    private func showFailedIcons() async throws {
        let report = try await configuration.currentStatus()
        let folders = try await configuration.agentFolders(isAnswered: report.reachable)
        let snapshot = try IconCache(at: folders.cache).snapshot()
        defer { snapshot.end() }
        var documents = try snapshot.documents().map { $0.withoutMissing(in: folders.cache) }
        let stale = try await configuration.staleIcons(of: nil, isAnswered: report.reachable)
        for index in documents.indices { Self.removeOthers(from: &documents[index], stale: stale) }
        documents.removeAll(where: \.apps.isEmpty)
        if output.json {
            let texts = documents.map { $0.json.trimmed }.joined(separator: ",\n")
            return try Message.output(lines: "{ \"format\": 1, \"lists\": [\n\(texts)\n] }\n")
        }
        try output.show { [documents] width in
            var table = Table("STATUS", .init("LIST", rank: 1, least: 8), .init("NAME", rank: 2, least: 8), "ICON")
            for document in documents {
                for app in document.apps {
                    table.add(
                        Self.status(of: app, stale: stale), StyledText(document.list.text), StyledText(app.name ?? ""),
                        StyledText(shown(app.icon)))
                }
            }
            return (documents.isEmpty ? ["No icon failed."] : table.lines(fitting: width))
                + Self.errors(of: report, width: width)
        }
    }

    /// Removes the entries of icons that neither failed nor are stale.
    private static func removeOthers(from document: inout AppListDocument, stale: Set<IconURL>) {
        document.apps.removeAll { app in
            if case .failed = app.state { return false }
            return app.previous?.error == nil && !stale.contains(app.icon)
        }
    }

    private func showIcons(of list: ListName) async throws {
        let running = try await configuration.settingsReport()
        let folders = try configuration.agentPlace(of: running).folders
        let settings = try configuration.agentSettings(of: running)
        let own = folders.lists.appending(list.text)
        let check = ListCheck(
            parser: try Agent.Helpers.installed().parse, settings: settings.lists, isAdopted: own.isUnused)
        let file = own.isUnused ? AdoptedLists.file(of: list, inState: folders.state) : own
        // The document of a list that was taken over from an upstream is in the agent's private state, not in the lists
        // folder.
        let isHidden = file == nil && settings.upstream.lists.contains { $0.matches(list) }
        let cache = IconCache(at: folders.cache)
        if output.json, !failed, let document = try readDocument(of: list, in: cache) {
            return try Message.output(lines: document.json)
        }
        // A name that is not UTF-8 is shown with its bytes escaped.
        let illegible = own.isUnused ? try? await ListFolder(folders.lists).list().illegible : nil
        let isIllegible = illegible?.contains(list) ?? false
        // The file is parsed while the document is read.
        async let reading =
            list == Reconciler.pinList || isHidden
            ? nil : isIllegible ? .failure(.nameNotUTF8) : check.verdict(on: file ?? own)
        let published = try readDocument(of: list, in: cache)
        // The document has the last icon of an app whose entry has none now.
        let entries = published.map { AppEntries(of: $0) } ?? []
        let verdict = (await reading).map { $0.map { $0.keepingIcons(of: entries) } }
        guard var document = published else { throw Self.missing(list, verdict, folders) }
        let stale = try await configuration.staleIcons(of: list, isAnswered: running != nil)
        if failed {
            Self.removeOthers(from: &document, stale: stale)
            if output.json { return try Message.output(lines: document.json) }
        }
        try output.show { [document] width in
            if failed, document.apps.isEmpty { return [StyledText("No icon of \(list.text) failed.")] }
            return Self.table(of: document, stale: stale).lines(fitting: width)
                + Self.notes(on: verdict).flatMap { $0.wrapped(to: width) }
        }
    }

    /// The published document of a list; as JSON, that of the pins is empty without pins: a backup must not fail.
    private func readDocument(of list: ListName, in cache: IconCache) throws -> AppListDocument? {
        if let document = try cache.document(of: list) { return document.withoutMissing(in: cache.folder) }
        guard output.json, list == Reconciler.pinList else { return nil }
        let source = AppListDocument.Source(sha256: .of(""), bytes: 0, modified: try cache.manifest().published)
        return AppListDocument(list: list, source: source, apps: [])
    }

    static func table(of document: AppListDocument, stale: Set<IconURL> = []) -> Table {
        var table = Table("STATUS", .init("NAME", rank: 2, least: 8), .init("SIZE", rank: 1), "ICON")
        for app in document.apps {
            let size = if case .ready(let image) = app.state { "\(image.width)x\(image.height)" } else { "" }
            table.add(
                status(of: app, stale: stale), StyledText(app.name ?? ""), StyledText(size),
                StyledText(shown(app.icon)))
        }
        return table
    }

    /// The reason why a list has no document, as a message; without a verdict the list is that of pins.
    private static func missing(_ list: ListName, _ verdict: ListVerdict?, _ folders: AgentFolders) -> ExitCode {
        let reason =
            switch verdict {
            case nil: "No icon is pinned. See: syncagent pin --help"
            case .failure(let rejection) where rejection.code == .nameNotUTF8:
                "\(list) has no good version: \(rejection.message) [\(rejection.code)]"
            case _
            where folders.lists.appending(list.text).isUnused
                && AdoptedLists.file(of: list, inState: folders.state) == nil:
                "There is no list \(list) in \(folders.lists).\(Suggestion.list(for: list, among: folders.knownLists))"
            case _ where !list.isAppList:
                "The lists folder ignores \(list): the name of a list must end in .plist or .json, and must not begin "
                    + "with . or #. Rename it."
            case .failure(let rejection): "\(list) has no good version: \(rejection.message) [\(rejection.code)]"
            case .success(let given) where given.images != nil:
                "\(list) has no apps: it names \(counted(given.images?.count ?? 0, "image")) of lists.iconBaseURL."
            case .success: "\(list) has not been published yet. With the agent running: syncagent sync --wait"
            }
        return Exit.because(reason)
    }

    /// Problems of the list's file as it is now.
    private static func notes(on verdict: ListVerdict?) -> [StyledText] {
        switch verdict {
        case nil: []
        case .failure(let rejection) where !rejection.isOfTheFile:
            [StyledText("current version unknown: \(rejection.message) [\(rejection.code)]", .yellow)]
        case .failure(let rejection):
            [StyledText("current version rejected: \(rejection.message) [\(rejection.code)]", .red)]
        case .success(let list): list.problems.map { StyledText("ignored: \($0)", .yellow) }
        }
    }

    private static func status(of app: AppListDocument.App, stale: Set<IconURL>) -> StyledText {
        if stale.contains(app.icon) { return StyledText("stale", .yellow) }
        if let previous = app.previous {
            return StyledText(previous.error.map { "previous, \($0)" } ?? "previous", .yellow)
        }
        return switch app.state {
        case .ready: StyledText("ready", .green)
        case .pending: StyledText("pending", .yellow)
        case .failed(let code): StyledText(code, .red)
        }
    }
}

extension AppListDocument {
    /// The document as a starting agent restores it: nothing is ready whose image is not on disk.
    func withoutMissing(in cache: FilePath) -> AppListDocument {
        var document = self
        let folder = cache.string
        for (index, app) in apps.enumerated() {
            // Joining paths with checks would take most of the time.
            guard case .ready(let image) = app.state, access("\(folder)/\(image.path)", F_OK) != 0, errno == ENOENT
            else { continue }
            document.apps[index] = app.withoutImage(app.previous?.error.map(AppListDocument.State.failed) ?? .pending)
        }
        return document
    }
}

extension Configuration {
    /// The icons whose last refresh failed, of one list or of all (`nil`); from the agent, or else from the folders.
    fileprivate func staleIcons(of list: ListName?, isAnswered: Bool) async throws -> Set<IconURL> {
        let folders = try folders()
        if isAnswered, let stale = try? await ControlClient(socket: folders.socket).staleIcons(of: list) {
            return stale
        }
        // If the agent does not answer, the list is shown as published.
        if LockState(ofFolder: folders.cache) == .free,
            let stale = try diskStatus(try settingsOrDefaults().settings).staleIcons(of: list)
        {
            return stale
        }
        Message.notice("No agent answers, and its state cannot be read: it is unknown which icons are stale.")
        return []
    }
}
