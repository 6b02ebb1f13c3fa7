// SPDX-License-Identifier: Apache-2.0
package import AgentSettings
import AppLists
package import CacheFormat
import Fleet
import Glibc
import HTTPRules
import IconCache
package import Reports
import SyncPlan
package import SystemPackage

/// The status read from disk when no agent can be asked: what the plan of a starting agent would report.
package struct DiskStatus: Sendable {
    private let folders: AgentFolders
    private let settings: Settings
    private let parser: ParseHelper

    package init(folders: AgentFolders, settings: Settings, parser: FilePath) {
        self.folders = folders
        self.settings = settings
        self.parser = ParseHelper(executable: parser, limits: ListLimits(settings.lists))
    }

    /// The status that the folders show.
    ///
    /// If an agent runs but cannot be asked, only the cache is read: the agent's lists folder and settings may differ
    /// from the caller's.
    package func report(agent: LockState = .free) async -> StatusReport {
        var restored = restore()
        // The hold is taken before the lists are read, which may end it: its generations are not restored here.
        let hold = restored.plan.evictionStatus
        let isCurrent = agent == .free ? await readLists(into: &restored.plan).isCurrent : true
        var report = restored.plan.status
        if !restored.isMemoryKnown { report.muted = nil }
        // The values that only a running agent knows.
        var blank = StatusReport(state: .stopped)
        blank.downloads.pauses = report.downloads.pauses
        (report.state, report.reachable) = (blank.state, blank.reachable)
        (report.downloads, report.watch, report.configuration) = (blank.downloads, blank.watch, blank.configuration)
        (report.cache, report.upstreams) = (blank.cache, blank.upstreams)
        switch agent {
        case .free: break
        case .held(let process): (report.state, report.pid) = (.running, process)
        case .unknown: report.state = .unknown
        }
        countFiles(in: &report, images: restored.imageFiles, showing: restored.plan.shownImages)
        if agent != .free {
            (report.eviction, report.renditions) = (.unknown, nil)
        } else if report.eviction.state != .suspended || report.generation == nil && restored.trouble == nil {
            // If nothing was ever published, eviction is not in doubt.
            report.eviction = report.icons.retired > 0 ? hold : .active
        }
        report.storage = StatusReport.Storage(damaged: StateStore.damagedFile(in: folders.state)?.string)
        report.publication.error = restored.trouble.map { "\($0)" }
        report.inSync = isCurrent && report.generation != nil && report.icons.pending == 0 && restored.trouble == nil
        return report
    }

    /// Why nothing may be purged, as a starting agent would say; `nil` if it may, as when nothing was ever published.
    ///
    /// Also returns the lists whose files say all that is published of them.
    package func purgeReview() async -> (refusal: PurgeReport?, readable: Set<ListName>) {
        var restored = restore()
        guard restored.plan.status.generation != nil || restored.trouble != nil else { return (nil, []) }
        let read = await readLists(into: &restored.plan).read
        let readable = restored.plan.status.lists.filter { list in
            read.contains(list.name) && list.state == .ok && list.kept == nil
                && access(folders.lists.appending(list.name.text).string, F_OK) == 0
        }
        return (restored.plan.purgeRefusal, Set(readable.map(\.name)))
    }

    /// The state of a URL as the folders show it; `nil` if they do not have it.
    ///
    /// Lists are read only if no published one names it, and no agent runs.
    ///
    /// - Throws: ``IconCacheError`` if the cache cannot be read.
    package func report(on url: IconURL, agent: LockState = .free) async throws -> IconReport? {
        var restored = restore()
        if let trouble = restored.trouble { throw trouble }
        var report = restored.plan.report(on: url, now: AgentClock.wallTime)
        if agent == .free, report?.lists.isEmpty ?? true {
            _ = await readLists(into: &restored.plan)
            report = restored.plan.report(on: url, now: AgentClock.wallTime) ?? report
            // The plan would download it now.
            if report?.state == .pending { report?.next = "download at the next start" }
        }
        if !restored.hasMemory {
            report?.next = "unknown: the state of the agent cannot be read"
            report?.failure?.nextAttempt = nil
        }
        return report
    }

    /// Everything that is muted; `nil` if the state cannot be read.
    package var mutes: MuteReport? { known { $0.muteReport() } }

    /// The icons whose last refresh failed; `nil` if the state cannot be read.
    package func staleIcons(of list: ListName?) -> Set<IconURL>? { known { $0.staleIcons(of: list) } }

    private func known<Fact>(_ fact: (Reconciler) -> Fact) -> Fact? {
        let restored = restore()
        return restored.isMemoryKnown ? fact(restored.plan) : nil
    }

    private struct Restored {
        /// The plan that an agent would start with, except for older generations.
        var plan: Reconciler
        /// The reason why readers cannot read the newest generation, or a part of it.
        var trouble: IconCacheError?
        /// The paths of the files in `icons/`.
        var imageFiles: [String]
        /// Whether the state database could be read.
        var hasMemory: Bool
        /// Whether it could be read, or no agent has stored anything.
        var isMemoryKnown: Bool
    }

    private func restore() -> Restored {
        var state = RestoredState()
        var trouble: IconCacheError?
        var lease: Snapshot?
        do throws(IconCacheError) {
            let snapshot = try IconCache(at: folders.cache).snapshot()
            lease = snapshot
            state.manifests = [snapshot.manifest]
            state.nextGeneration = snapshot.manifest.generation + 1
            for (name, list) in snapshot.manifest.lists {
                do throws(IconCacheError) {
                    state.documents[list.sha256] = try snapshot.document(of: name)
                } catch {
                    trouble = error
                }
            }
        } catch .noCache {
            // Nothing has been published yet.
        } catch {
            trouble = error
        }
        let files = imageFiles
        lease?.end()
        if let files, !state.documents.isEmpty {
            let present = Set(files.lazy.compactMap(\.digest))
            for app in state.documents.values.lazy.flatMap(\.apps) {
                for image in app.images where !present.contains(image.sha256) { state.missing.insert(image.sha256) }
            }
        }
        let memory = StateStore.read(folder: folders.state)
        state.memory = memory ?? Remembered(failuresIn: state.documents)
        var plan = Reconciler(settings: settings, seed: 0, restored: state, now: AgentClock.wallTime)
        plan.endLapsed()
        return Restored(
            plan: plan, trouble: trouble, imageFiles: files?.map(\.path) ?? [], hasMemory: memory != nil,
            isMemoryKnown: memory != nil || StateStore.isAbsent(from: folders.state))
    }

    /// The files in `icons/`, each with the digest in its name; `nil` if a folder of them cannot be listed.
    private var imageFiles: [(path: String, digest: Digest?)]? {
        guard let folder = try? CacheFolder(folders.cache) else { return nil }
        var files: [(path: String, digest: Digest?)] = []
        for fan in CacheLayout.fanOut.map({ "\(CacheLayout.icons)/\($0)" }) {
            do throws(FileError) {
                for (name, _) in try folder.names(in: fan) {
                    files.append(("\(fan)/\(name)", Digest(hex: Substring(name.utf8.prefix(64)))))
                }
            } catch {
                guard error.errno == .noSuchFileOrDirectory else { return nil }
            }
        }
        return files
    }

    /// Feeds the current lists to the plan, and returns whether the published generation matches them, and which were read.
    private func readLists(into plan: inout Reconciler) async -> (isCurrent: Bool, read: Set<ListName>) {
        let adopted = AdoptedLists.root(inState: folders.state)
        // Only the agent's user and root can see which lists were taken over from upstreams.
        let isHidden = access(adopted.string, R_OK) != 0 && errno == EACCES
        var scanner = ListScanner(
            folder: folders.lists, adopted: isHidden ? nil : adopted, parser: parser,
            maxBytes: settings.lists.maxBytes, known: plan.knownLists)
        var scan = await scanner.scan().scan
        if isHidden, case .listed(var folder, let present, let changed) = scan {
            let published = plan.knownLists.keys.filter { name in
                !present.contains(name) && settings.upstream.adopts(name)
            }
            folder.adopted = Set(published)
            scan = .listed(folder, present: present.union(published), changed: changed)
        }
        let now = AgentClock.wallTime
        _ = plan.handle([.scanned(scan)], now: now)
        guard case .listed(let folder, let present, let changed) = scan else { return (false, []) }
        // An agent scans again before it treats a list as removed.
        let again = ListScan.listed(folder, present: present, changed: [:])
        let later = now + settings.lists.settleMax + AbsentLists.shortest
        _ = plan.handle([.scanned(again.listed(at: later))], now: later)
        let isWhole = present.allSatisfy { changed[$0] != nil || folder.adopted.contains($0) }
        return (plan.isPublished && isWhole, Set(changed.keys))
    }

    /// Counts the images on disk, and the `by-url/` names that no list references, where lists show `shownImages`.
    private func countFiles(in report: inout StatusReport, images: [String], showing shownImages: Int) {
        guard let folder = try? CacheFolder(folders.cache) else { return }
        var urls = 0
        // Files of images that are newer than the manifest were written for a publication that did not follow.
        var unpublished = 0
        let published = (try? folder.status(CacheLayout.manifest)).map { Duration($0.st_mtim) }
        for fan in CacheLayout.fanOut {
            urls += (try? folder.names(in: "\(CacheLayout.byURL)/\(fan)").count) ?? 0
        }
        report.cache.images = images.count
        try? folder.keepingFoldersOpen {
            for path in images {
                guard let file = try? folder.status(path) else { continue }
                // The lengths of sparse files can have a sum beyond the largest number.
                report.cache.bytes &+= Int(file.st_size)
                if let published, Duration(file.st_mtim) > published { unpublished += 1 }
            }
        }
        // Without a manifest, it is unknown which images are referenced.
        let shown = report.icons.ready + report.icons.previous
        if report.generation != nil {
            report.icons.retired = max(min(urls - shown, images.count - unpublished - shownImages), 0)
        }
    }
}

extension Remembered {
    /// Restores failures from the published documents, without a state database.
    fileprivate init(failuresIn documents: [Digest: AppListDocument]) {
        self.init()
        for app in documents.values.lazy.flatMap(\.apps) {
            // A later version may have written codes that are unknown here.
            guard let error = app.error, let code = FetchFailure.Code(rawValue: error) else { continue }
            let failure = IconRecord.Failure(
                code: code, message: "the cause is not stored on disk", attempts: 0, nextAttempt: .distantPast)
            icons.append(IconMemo(url: app.icon, image: nil, freshUntil: .distantPast, failure: failure))
        }
    }
}

extension AppListDocument.App {
    /// The reason why the icon's own URL has no image; `nil` if it has one or was never tried.
    fileprivate var error: String? {
        if case .failed(let error) = state { error } else { previous?.error }
    }
}
