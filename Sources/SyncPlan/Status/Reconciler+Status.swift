// SPDX-License-Identifier: Apache-2.0
import AppLists
package import CacheFormat

extension Reconciler {
    /// What there is to tell of one URL; `nil` if nothing is known of it.
    package func report(on url: IconURL, now: Timestamp) -> IconReport? {
        catalog.icons[url].map { IconReport(url: url, icon: $0, health: { downloads.origins[$0] }, now: now) }
    }

    /// Whether the newest generation is what the lists say, as far as they have been read.
    package var isPublished: Bool { folder.isSettled && folder.unavailable == nil && publishing.isSettled }

    /// What there is to tell at the moment.
    ///
    /// - Complexity: O(*n* log *n*) in the number of lists, and O(*n*) in that of the origins that failed of late.
    package var status: StatusReport {
        let queue = downloads.queue
        var report = StatusReport(state: downloads.isPaused ? .paused : .running)
        report.generation = publishing.manifest?.generation
        report.published = publishing.manifest?.published.description
        report.inSync =
            isPublished && queue.activeCount == 0 && queue.readyCount == 0 && space.needs.isEmpty && !cache.isInDoubt
        report.lists = catalog.lists.keys.sorted().compactMap { name in
            guard let list = catalog.lists[name] else { return nil }
            var row = StatusReport.List(name: name, state: list.state.word)
            row.count(catalog.tallies[name]?.entries ?? IconCounts())
            row.error = list.rejection?.message
            row.problems = list.problems.count
            return row
        }
        let tally = catalog.tally
        report.icons.count(tally.all.icons)
        report.icons.stale = tally.stale
        report.icons.retired = catalog.retired.count
        report.downloads.waiting = queue.heldCount + tally.retried
        report.downloads.blocked =
            tally.waitingForSpace + (downloads.isPaused || !space.isOpen ? tally.blank.values.reduce(0, +) : heldBlank)
        report.downloads.active = queue.activeCount
        report.downloads.queued = queue.readyCount
        report.downloads.reason = space.reason
        report.cache = StatusReport.Cache(
            bytes: retention.ledger.holdings.bytes, images: retention.ledger.holdings.images)
        report.cache.lastRepair = cache.lastRepair
        report.eviction = evictionStatus
        report.watch.lastScan = folder.lastScan?.description
        report.publication.error = publishing.failure
        report.configuration.error = configurationError
        return report
    }

    /// How many icons without an image are queued whose origin has to wait.
    private var heldBlank: Int {
        guard downloads.queue.heldCount > 0 else { return 0 }
        // Only origins that failed have to wait.
        return downloads.origins.keys.reduce(0) { sum, origin in
            downloads.queue.isHeld(origin: origin) ? sum + (catalog.tally.blank[origin] ?? 0) : sum
        }
    }

    /// Whether anything is evicted at the moment, and if not, why.
    package var evictionStatus: StatusReport.Eviction {
        if let doubt = evictionDoubt { return .suspended(doubt) }
        return retention.brake.status
    }
}

extension EvictionBrake {
    /// What it has to do with evictions.
    var status: StatusReport.Eviction {
        guard let hold = heldNow, let end else { return .active }
        return .held(
            "one change retired \(hold.images) of \(hold.total) images: held until \(end), or until you "
                + "run syncagent evict --confirm")
    }
}
