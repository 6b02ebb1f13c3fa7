// SPDX-License-Identifier: Apache-2.0
import AppLists
import IconCache
package import SyncPlan
package import SystemPackage

/// The state of things as the folders show it, with no agent to ask.
package struct DiskStatus: Sendable {
    let folders: AgentFolders
    private let settings: Settings
    private let parser: ParseHelper

    /// - Parameters:
    ///   - folders: Where everything is.
    ///   - settings: What was configured.
    ///   - parser: The program `syncagent-parse`.
    package init(folders: AgentFolders, settings: Settings, parser: FilePath) {
        self.folders = folders
        self.settings = settings
        self.parser = ParseHelper(executable: parser, limits: ListLimits(settings.lists))
    }

    /// What the folders show.
    ///
    /// Of an agent that runs and cannot be asked, the newest manifest tells all there is: its lists folder and settings may
    /// be others than those of whoever asks.
    package func report(agent: LockState = .free) async -> StatusReport {
        var report = StatusReport(state: .stopped)
        report.reachable = false
        switch agent {
        case .free: break
        case .held(let process): (report.state, report.pid) = (.running, process)
        case .unknown: report.state = .unknown
        }
        var documents: [ListName: AppListDocument] = [:]
        do {
            let snapshot = try IconCache(at: folders.cache).snapshot()
            report.generation = snapshot.manifest.generation
            report.published = snapshot.manifest.published.description
            for name in snapshot.manifest.lists.keys { documents[name] = try snapshot.document(of: name) }
        } catch .noCache {
            // Nothing has been published yet.
        } catch {
            report.publication.error = "\(error)"
        }
        countIcons(of: documents, in: &report)
        guard agent == .free else {
            report.lists = documents.sorted { $0.key < $1.key }.map { Self.row($0, $1) }
            report.eviction = .unknown
            report.inSync =
                report.generation != nil && report.icons.pending == 0 && report.publication.error == nil
            return report
        }
        // It has a row for every icon: it is read at most once, and only where it has something to say.
        lazy var stored = StateStore.read(folder: folders.state)
        if report.icons.retired > 0, let hold = stored?.values.hold { report.eviction = status(of: hold) }
        let isCurrent = await readLists(documents, in: &report) { stored?.values.folder }
        report.inSync =
            isCurrent && report.generation != nil && report.icons.pending == 0 && report.publication.error == nil
        return report
    }

    /// Whether the next agent will go on to hold an eviction.
    private func status(of hold: EvictionBrake.Hold) -> StatusReport.Eviction {
        var brake = EvictionBrake(
            threshold: settings.eviction.holdAbove, holdFor: settings.eviction.holdFor, hold: hold)
        brake.noteTime(AgentClock.wallTime)
        return brake.status
    }

    private static func row(_ name: ListName, _ document: AppListDocument?) -> StatusReport.List {
        var row = StatusReport.List(name: name, state: "ok")
        for app in document?.apps ?? [] { row.count(app.state) }
        return row
    }

    private func countIcons(of documents: [ListName: AppListDocument], in report: inout StatusReport) {
        var states: [IconURL: AppListDocument.State] = [:]
        for app in documents.values.lazy.flatMap(\.apps) { states[app.icon] = app.state }
        for state in states.values { report.icons.count(state) }
        guard let folder = try? CacheFolder(folders.cache) else { return }
        var urls = 0
        for fan in CacheLayout.fanOut {
            urls += (try? folder.names(in: "\(CacheLayout.byURL)/\(fan)").count) ?? 0
            try? folder.keepingFoldersOpen {
                for entry in (try? folder.names(in: "\(CacheLayout.icons)/\(fan)")) ?? [] {
                    report.cache.images += 1
                    let file = try? folder.entry("\(CacheLayout.icons)/\(fan)/\(entry.name)")
                    report.cache.bytes += Int(file?.size ?? 0)
                }
            }
        }
        // Without a manifest nobody knows which of them are referenced.
        if report.generation != nil { report.icons.retired = max(urls - report.icons.ready, 0) }
    }

    /// The lists that an agent published, and in which it passed over nothing: there is nothing more to be told of a file
    /// that is as it was then.
    private func flawless(_ documents: [ListName: AppListDocument]) -> [ListName: KnownList] {
        let rules = ListLimits(settings.lists).rules
        var lists: [ListName: KnownList] = [:]
        for memo in StateStore.readLists(folder: folders.state)
        where memo.rules == rules && documents[memo.list]?.source.sha256 == memo.sha256 {
            // What it names was counted by its document.
            lists[memo.list] = KnownList(sha256: memo.sha256, list: AppList())
        }
        return lists
    }

    /// Reads the lists that are in the folder now.
    ///
    /// - Returns: Whether what was published is what they say.
    private func readLists(
        _ documents: [ListName: AppListDocument], in report: inout StatusReport, known: () -> FolderIdentity?
    ) async -> Bool {
        var readings: [ListName: ListReading] = [:]
        var isCurrent = true
        var scanner = ListScanner(
            folder: folders.lists, parser: parser, maxBytes: settings.lists.maxBytes, known: flawless(documents))
        switch await scanner.look().scan {
        case .unavailable(let reason):
            report.eviction = .suspended(reason)
            isCurrent = false
        case .listed(let folder, let present, let changed):
            let hasLists = documents.keys.contains { $0 != Reconciler.pinList }
            if present.isEmpty, hasLists,
                let doubt = folder.doubt(isEmpty: true, since: known())
            {
                report.eviction = .suspended(doubt)
            }
            readings = changed
            if !documents.keys.allSatisfy({ changed[$0] != nil || $0 == Reconciler.pinList }) { isCurrent = false }
        }
        for name in Set(documents.keys).union(readings.keys).sorted() {
            let document = documents[name]
            var row = Self.row(name, document)
            switch readings[name]?.verdict {
            case .failure(let rejection):
                row.state = document == nil ? "rejected" : "last-good"
                row.error = rejection.message
            case .success(let list):
                row.problems = list.problems.count
                if readings[name]?.source?.sha256 != document?.source.sha256 { isCurrent = false }
            case nil: break
            }
            report.lists.append(row)
        }
        return isCurrent
    }
}
