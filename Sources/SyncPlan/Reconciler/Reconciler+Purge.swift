// SPDX-License-Identifier: Apache-2.0
import AgentSettings
import CacheFormat
package import Reports

/// The phase of a purge: everything is forgotten at once, but files are removed in the order that readers rely on.
package enum PurgePhase: Equatable, Sendable {
    /// A generation without images is being published; `failures` publications failed before.
    case publishing(failures: Int)
    /// The generation is published; files that only older generations name are being removed.
    case removing
    /// All files are removed; a generation that no longer says that the cache is private is being published.
    case opening(failures: Int)
}

// A purge forgets and removes everything, and downloads it again.
extension Reconciler {
    /// Whether a purge is in progress, or begins as soon as the cache folder has been searched.
    package var isPurging: Bool { purge != nil || isPurgeDue && lastingDoubt == nil }

    /// Why nothing may be purged now; `nil` if it may.
    package var purgeRefusal: PurgeReport? {
        lastingDoubt.map { PurgeReport(.refused, reason: Self.suspension($0)) }
    }

    /// Forgets images, validators, failures, pins, mutes and the pause; refused while eviction is suspended.
    ///
    /// The files that the newest manifest names stay on disk until the next manifest is durable.
    mutating func beginPurge() {
        if let refusal = purgeRefusal {
            purgeReport = refusal
            return turn.emit(.purgeFailed(refusal))
        }
        changePauses { $0 = Pauses() }
        emitEnd(of: mutes.end(nil))
        purgeReport = PurgeReport(.underWay)
        isPurgeDue = true
    }

    /// Begins a purge that is due, once the lists are known, eviction is not in doubt, and the cache folder is searched.
    ///
    /// The search removes what no icon has, and the manifest in force names the images until the next one is published.
    mutating func beginDuePurge() {
        guard isPurgeDue, folder.isScanned, cache.isSearched, lastingDoubt == nil else { return }
        isPurgeDue = false
        purgeContent()
    }

    /// Forgets everything but pauses and mutes.
    private mutating func purgeContent() {
        purge = .publishing(failures: book.publishing.window.failures)
        purging = book.publishing.manifest?.generation
        book.retention.ledger.purge(through: book.publishing.newest)
        book.publishing.window.prioritize(book.retention.ledger.purgedLists)
        purgeReport = PurgeReport(.underWay)
        book.downloads.isHeld = true
        book.downloads.forgive(Set(book.downloads.origins.keys), in: &turn)
        for url in pins { turn.emit(.unpinned(url)) }
        unpinAll()
        book.dropStaged(in: &turn)
        book.resetRenditions(in: &turn)
        // A running download writes to its own.
        let idle = Set(book.partials.urls.filter { book.catalog.icons[$0]?.phase != .fetching })
        book.discardParts(book.partials.forget(where: idle.contains), in: &turn)
        book.cuts = CutDownloads()
        book.dropLastImages(nil, in: &turn)
        book.catalog.settlePasts { _ in true }
        book.catalog.forgetOrphans()
        for url in book.catalog.icons.urls {
            if book.catalog.icons[url]?.phase == .blocked { book.space.forget(url) }
            book.apply(.purged, to: url, in: &turn)
        }
        // A generation is published even if no icon was ready: the last manifest may name older documents.
        book.publishing.window.markChanged(at: turn.now)
        // A user waits: publish at once, although earlier publications failed.
        book.publishing.retry(at: turn.now)
    }

    /// Takes the next step of a purge.
    ///
    /// A purge waits neither for readers' leases, nor for another publication after a failed one: the files then stay
    /// until a publication succeeds and their grace period is over.
    mutating func advancePurge() {
        guard let phase = purge, isStoreIdle else { return }
        switch phase {
        case .publishing(let failures):
            let window = book.publishing.window
            if window.failures > failures { return endPurge(publicationFailure) }
            guard !window.isManifestChanged else { return }
            // Other lists may change all the time. Deferred documents wait for disk space.
            let waiting = book.retention.ledger.purgedLists.filter(window.isChanged)
            guard waiting.isSubset(of: window.deferred) else { return }
            book.retention.ledger.endPurge(waiting: waiting)
            // The publication has just superseded the last generation with images.
            book.retention.waiveGrace(isConfirmed: true, in: book.catalog)
            purge = .removing
            useStore()
            advancePurge()
        case .removing:
            if book.publishing.trouble != nil { return endPurge(publicationFailure) }
            if isStopping { return endPurge(PurgeReport(.failed, reason: "the agent is stopping")) }
            if let lastingDoubt { return endPurge(PurgeReport(.failed, reason: Self.suspension(lastingDoubt))) }
            guard mayEvict, book.retention.isSettled(in: book.catalog, at: turn.now) else { return }
            if !book.retention.ledger.purgedDocuments.isEmpty { return endPurge(publicationFailure) }
            let (files, reason) = book.retention.unremoved
            if files > 0 { return endPurge(PurgeReport(.failed, reason: reason, files: files)) }
            // The files that readers keep may be private.
            if book.retention.ledger.hasPurgedImages { return endPurge(PurgeReport(.done)) }
            // Until now, files of private icons may have been left.
            privateOrigins = book.settings.privateOrigins(after: [])
            knownCaches = KnownCaches()
            publishPrivacy()
            book.publishing.retry(at: turn.now)
            purge = .opening(failures: book.publishing.window.failures)
            useStore()
            advancePurge()
        case .opening(let failures):
            if !isPrivacyWrong { return endPurge(PurgeReport(.done)) }
            let window = book.publishing.window
            if window.failures > failures || !window.deferred.isEmpty { endPurge(publicationFailure) }
        }
    }

    private static func suspension(_ doubt: String) -> String { "eviction is suspended: \(doubt)" }

    private var publicationFailure: PurgeReport {
        let reason = book.publishing.failure ?? book.space.reason ?? "the reason is not known"
        return PurgeReport(.failed, reason: "publishing failed: \(reason)")
    }

    private mutating func endPurge(_ report: PurgeReport) {
        purge = nil
        purgeReport = report
        turn.emit(report.state == .done ? .purged : .purgeFailed(report))
        book.downloads.isHeld = false
        book.resumeSources(in: &turn)
        book.startDownloads(in: &turn)
    }
}
