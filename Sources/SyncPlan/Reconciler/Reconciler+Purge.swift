// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import Reports

/// How far a purge is: everything is forgotten at once, and what is on disk goes in the order that readers rely on.
package enum PurgePhase: Equatable, Sendable {
    /// A generation in which nothing is ready is to be published; so many publications had failed before.
    case publishing(failures: Int)
    /// It is published; what only older generations name is being removed.
    case removing
}

// Everything is forgotten, removed, and downloaded anew.
extension Reconciler {
    /// Whether a purge is under way: no download is begun meanwhile.
    package var isPurging: Bool { purge != nil }

    /// Forgets images, validators, failures, pins and the pause.
    ///
    /// What the newest manifest names stays on disk until the next one is durable. If nothing may be evicted, nothing is
    /// forgotten.
    mutating func beginPurge(now: Timestamp, to actions: inout [Action]) {
        if let lastingDoubt {
            let refusal = PurgeReport(.refused, reason: Self.suspension(lastingDoubt))
            purgeReport = refusal
            events.append(.purgeFailed(refusal))
            return
        }
        purge = .publishing(failures: publishing.window.failures)
        purgeReport = PurgeReport(.underWay)
        downloads.isHeld = true
        downloads.isPaused = false
        downloads.forgive(Set(downloads.origins.keys), at: now, noting: &unstored)
        unpinAll(now: now, to: &actions)
        dropStaged(now: now, to: &actions)
        if let partials = partials.forget(where: { _ in true }) {
            actions.append(.background(.discardPartials(partials)))
        }
        dropPrevious(nil, now: now)
        for url in Array(catalog.icons.keys) { forgetImage(of: url, now: now) }
        // Also where nothing was ready: the manifest of before may name older documents.
        publishing.noteChange(at: now)
        // What made publications fail may be over.
        publishing.retry(at: now)
    }

    private mutating func forgetImage(of url: IconURL, now: Timestamp) {
        guard let place = catalog.icons.index(of: url) else { return }
        let before = catalog.icons[place].icon.state
        if catalog.icons[place].icon.phase == .waitingForSpace { space.forget(url) }
        catalog.updateIcon(at: place) {
            $0.image = nil
            $0.response = nil
            $0.failure = nil
            $0.freshUntil = .distantPast
            $0.wasMissing = false
            $0.trail = nil
            if $0.phase == .waitingForSpace { $0.phase = .idle }
        }
        unstored.note(icon: url, at: now)
        noteState(of: url, was: before, now: now)
        consider(url, now: now)
        forgetIfDone(url, now: now)
    }

    private mutating func unpinAll(now: Timestamp, to actions: inout [Action]) {
        guard catalog.lists[Self.pinList] != nil else { return }
        let diff = catalog.removeList(Self.pinList)
        forgetChanges(of: Self.pinList)
        publishing.noteChange(at: now)
        take(diff, now: now, to: &actions)
    }

    /// Takes the purge on when what it waits for is done.
    ///
    /// What readers hold a lease on goes later, and nothing waits for it. Nor does anything for a publication that fails:
    /// what is on disk then stays until one succeeds, and its grace is over.
    mutating func advancePurge(now: Timestamp, to actions: inout [Action]) {
        guard let phase = purge, folder.isScanned, isStoreIdle else { return }
        switch phase {
        case .publishing(let failures):
            let window = publishing.window
            if window.failures > failures { return endPurge(publicationFailure, to: &actions) }
            // Documents that there is no room for wait for it.
            guard window.isEmpty || !window.deferred.isEmpty else { return }
            // The generation before is superseded only now.
            retention.waiveGrace(isConfirmed: true, in: catalog)
            purge = .removing
            useStore(now: now, to: &actions)
            advancePurge(now: now, to: &actions)
        case .removing:
            if publishing.failure != nil { return endPurge(publicationFailure, to: &actions) }
            if isStopping { return endPurge(PurgeReport(.failed, reason: "the agent is stopping"), to: &actions) }
            if let lastingDoubt {
                return endPurge(PurgeReport(.failed, reason: Self.suspension(lastingDoubt)), to: &actions)
            }
            guard mayEvict, retention.isSettled(in: catalog, at: now) else { return }
            let (files, reason) = retention.unremoved
            endPurge(
                files == 0 ? PurgeReport(.done) : PurgeReport(.failed, reason: reason, files: files), to: &actions)
        }
    }

    private static func suspension(_ doubt: String) -> String { "eviction is suspended: \(doubt)" }

    private var publicationFailure: PurgeReport {
        PurgeReport(.failed, reason: "publishing failed: \(publishing.failure ?? "the reason is not known")")
    }

    private mutating func endPurge(_ report: PurgeReport, to actions: inout [Action]) {
        purge = nil
        purgeReport = report
        events.append(report.state == .done ? .purged : .purgeFailed(report))
        downloads.isHeld = false
        if space.isOpen { startDownloads(to: &actions) }
    }
}
