// SPDX-License-Identifier: Apache-2.0
import AppLists
package import CacheFormat
import IconCache
package import SyncPlan
package import SystemPackage

/// The state of things as the folders show it, with no agent to ask: what the plan would say that an agent begins with.
package struct DiskStatus: Sendable {
    private let folders: AgentFolders
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
    /// Of an agent that runs and cannot be asked, the cache tells all there is: its lists folder and settings may be others
    /// than those of whoever asks.
    package func report(agent: LockState = .free) async -> StatusReport {
        let (restored, trouble) = restore()
        var plan = restored
        let isCurrent = agent == .free ? await readLists(into: &plan) : true
        let known = plan.status
        var report = StatusReport(state: .stopped)
        switch agent {
        case .free: break
        case .held(let process): (report.state, report.pid) = (.running, process)
        case .unknown: report.state = .unknown
        }
        report.reachable = false
        (report.generation, report.published) = (known.generation, known.published)
        (report.lists, report.icons, report.cache) = (known.lists, known.icons, known.cache)
        report.eviction = agent == .free ? known.eviction : .unknown
        report.publication.error = trouble.map { "\($0)" }
        report.inSync = isCurrent && known.generation != nil && known.icons.pending == 0 && trouble == nil
        return report
    }

    /// Everything that the folders tell of one URL; `nil` if nothing does.
    ///
    /// - Throws: ``IconCacheError`` or ``FileError`` if the cache cannot be read.
    package func report(on url: IconURL) throws -> IconReport? {
        let (plan, trouble) = restore()
        if let trouble { throw trouble }
        return plan.report(on: url, now: AgentClock.wallTime)
    }

    /// The plan that an agent would begin with, and what keeps readers from the newest generation.
    private func restore() -> (plan: Reconciler, trouble: (any Error)?) {
        var state = RestoredState()
        var trouble: (any Error)?
        var snapshot: Snapshot?
        // What an agent publishes meanwhile takes nothing away that is named by what is leased.
        defer { snapshot?.end() }
        do throws(IconCacheError) {
            snapshot = try IconCache(at: folders.cache).snapshot()
        } catch .noCache {
            // Nothing has been published yet.
        } catch {
            trouble = error
        }
        if snapshot != nil || trouble != nil {
            do {
                state = try GenerationReading(CacheFolder(folders.cache)).state
            } catch {
                trouble = trouble ?? error
            }
        }
        let documents = state.documents
        state.takeApart()
        state.memory = StateStore.read(folder: folders.state) ?? Remembered(failuresIn: state.manifests.last, documents)
        return (Reconciler(settings: settings, seed: 0, restored: state, now: AgentClock.wallTime), trouble)
    }

    /// Has the plan take in the lists that are in the folder now.
    ///
    /// - Returns: Whether what was published is what they say.
    private func readLists(into plan: inout Reconciler) async -> Bool {
        var scanner = ListScanner(
            folder: folders.lists, parser: parser, maxBytes: settings.lists.maxBytes, known: plan.knownLists)
        let scan = await scanner.look().scan
        // Nobody carries out what follows from it.
        _ = plan.handle([.scanned(scan)], now: AgentClock.wallTime)
        guard case .listed(_, let present, let changed) = scan else { return false }
        return plan.isPublished && present.allSatisfy { changed[$0] != nil }
    }
}

extension Remembered {
    /// What a manifest and its documents tell of failures, where nothing is remembered beside them.
    fileprivate init(failuresIn manifest: Manifest?, _ documents: [Digest: AppListDocument]) {
        self.init()
        for list in manifest?.lists.values.sorted(by: { $0.document < $1.document }) ?? [] {
            for app in documents[list.sha256]?.apps ?? [] {
                // A later version may have codes that this one does not know.
                guard case .failed(let error) = app.state, let code = FetchFailure.Code(rawValue: error) else {
                    continue
                }
                let failure = IconRecord.Failure(
                    code: code, message: "the details are in the state folder, which cannot be read", attempts: 1,
                    nextAttempt: .distantPast)
                icons.append(
                    IconMemo(url: app.icon, image: nil, response: nil, freshUntil: .distantPast, failure: failure))
            }
        }
    }
}
