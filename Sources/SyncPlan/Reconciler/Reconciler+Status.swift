// SPDX-License-Identifier: Apache-2.0
package import IconCache

extension Reconciler {
    /// What there is to tell of one URL; `nil` if nothing is known of it.
    package func report(on url: String, now: Timestamp) -> IconReport? {
        catalog.icons[url].map { icon in
            let origin = (try? IconSource(url))?.origin
            return IconReport(url: url, icon: icon, health: origin.flatMap(health), now: now)
        }
    }

    /// What there is to tell at the moment.
    ///
    /// - Complexity: O(*n*) in the number of icons and of list entries.
    package var status: StatusReport {
        var report = StatusReport(state: isPaused ? .paused : .running)
        report.generation = manifest?.generation
        report.published = manifest?.published.description
        report.inSync =
            hasScanned && unavailable == nil && queue.activeCount == 0 && queue.readyCount == 0 && publishing == nil
            && stagedURLs.isEmpty && dirtyLists.isEmpty && space.needs.isEmpty && absent.isEmpty && !isCacheInDoubt
            && window.due(during: .none) == nil && publicationFailure == nil
        report.lists = catalog.lists.sorted { $0.key < $1.key }.map { name, list in
            var row = StatusReport.List(name: name, state: list.state.word)
            for entry in list.entries { row.count(catalog.icons[entry.icon]?.state ?? .pending) }
            row.error = list.rejection?.message
            row.problems = list.problems.count
            return row
        }
        for (url, icon) in catalog.icons {
            guard icon.isReferenced else {
                if icon.image != nil { report.icons.retired += 1 }
                continue
            }
            report.icons.count(icon.state)
            if case .ready = icon.state, icon.failure != nil { report.icons.stale += 1 }
            let isHeld = icon.phase == .queued && queue.isHeld(url)
            if isHeld || icon.phase == .idle && icon.failure?.nextAttempt != nil { report.downloads.waiting += 1 }
            let isShut = icon.phase == .crowdedOut || icon.phase == .queued && (isPaused || !space.isOpen)
            if case .pending = icon.state, isHeld || isShut { report.downloads.blocked += 1 }
        }
        report.downloads.active = queue.activeCount
        report.downloads.queued = queue.readyCount
        report.downloads.reason = space.reason
        report.cache = StatusReport.Cache(bytes: ledger.holdings.bytes, images: ledger.holdings.images)
        report.cache.lastRepair = lastRepair
        report.eviction = evictionStatus
        report.watch.lastScan = lastScan?.description
        report.publication.error = publicationFailure
        return report
    }

    var evictionStatus: StatusReport.Eviction {
        if let doubt = evictionDoubt { return .suspended(doubt) }
        return brake.status
    }
}

extension EvictionBrake {
    /// What it has to do with evictions.
    package var status: StatusReport.Eviction {
        guard let hold = heldNow, let end else { return .active }
        return .held(
            "one change retired \(hold.images) of \(hold.total) images: they stay until \(end), unless "
                + "syncagent evict --confirm lets them go")
    }
}
