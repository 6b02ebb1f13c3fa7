// SPDX-License-Identifier: Apache-2.0
package import AgentSettings
import AppLists
import CacheFormat
import Fleet
import HTTPRules
package import Reports

extension Reconciler {
    /// Whether the newest generation matches the lists, as far as they have been read.
    package var isPublished: Bool { folder.isSettled && folder.unavailable == nil && book.publishing.isSettled }

    package var spaceReserve: SpaceReserve { book.settings.cache.minFree }

    package var shownImages: Int { book.catalog.images.shown }

    /// O(*n* log *n*) in the number of lists, O(*n*) in that of apps if one of their list shows its last image, and
    /// O(*n*) in that of origins that failed recently.
    package var status: StatusReport {
        let (queue, clock) = (book.downloads.queue, turn.wallClock)
        var report = StatusReport(state: book.downloads.isPaused ? .paused : .running)
        report.generation = book.publishing.manifest?.generation
        report.published = book.publishing.manifest?.published.description
        report.inSync =
            isPublished && queue.activeCount == 0 && queue.readyCount == 0 && book.space.needs.isEmpty
            && !cache.isInDoubt
        report.lists = book.catalog.lists.keys.sorted().compactMap { name in
            guard let list = book.catalog.lists[name] else { return nil }
            var row = StatusReport.List(name: name, state: list.state.word)
            row.count(entries(of: name, list))
            row.previous = list.apps.lastImages.count
            row.error = list.rejection?.message
            row.code = list.rejection?.code.rawValue
            row.problems = list.problems.count
            row.kept = list.kept
            if mutes[.list(name)] != nil { row.muted = true }
            return row
        }
        let tally = book.catalog.tally
        report.icons.count(tally.all.icons)
        report.icons.stale = tally.stale
        report.icons.retired = book.catalog.retiredCount
        report.icons.previous = book.catalog.iconsReplaced.count
        let since = book.catalog.lists.values.flatMap(\.apps.lastImages).compactMap(\.since).min()
        report.icons.previousSince = since.map { clock.time(of: $0).description }
        if let example = book.catalog.iconsReplaced.min() {
            report.icons.previousExample = IconURL("\(LogURL(example))")
            report.icons.previousList = book.catalog.lists(replacing: example).first
        }
        report.failures = rows(of: tally.failures)
        report.refreshFailures = rows(of: tally.refreshFailures)
        report.muted = mutes.count
        report.downloads.waiting = queue.heldCount + tally.retried
        let held = heldOrigins
        let heldBack = held.reduce(0) { $0 + $1.icons }
        let isShut = book.downloads.isPaused || !book.space.isOpen || book.isHeldUp
        let ready = isShut ? tally.blank.values.reduce(0, +) - heldBack : 0
        report.downloads.blocked =
            tally.waitingForSpace + (book.downloads.isPaused ? tally.awaited : 0) + heldBack + ready
        report.downloads.origins = held
        report.downloads.active = queue.activeCount
        report.downloads.queued = queue.readyCount - ready
        report.downloads.reason = book.space.reason ?? (book.isHeldUp ? "images wait to be published" : nil)
        report.downloads.pauses = reportedPauses
        let isHeldUp = book.space.reason == nil && book.isHeldUp
        report.downloads.code = isHeldUp ? "publication-failed" : book.space.waitsFor?.code.rawValue
        report.cache = StatusReport.Cache(
            bytes: book.catalog.images.holdings.bytes, images: book.catalog.images.holdings.images)
        report.cache.lastRepair = cache.lastRepair
        // Reading new lists suspends eviction too, but is not worth reporting.
        report.eviction = lastingDoubt.map(StatusReport.Eviction.suspended) ?? book.retention.brake.status(by: clock)
        report.watch.lastScan = folder.lastScan.map { clock.time(of: $0).description }
        report.publication.error = book.publishing.failure ?? cache.refusal
        report.configuration.error = configurationError
        report.configuration.needRestart = settingsNeedingRestart
        report.upstreams = book.sources.status(isPaused: !book.downloads.mayStart, at: turn.now)
        report.renditions = renditionStatus
        report.downloads.awaitingUpstream = book.sources.waitingCount
        if book.sources.isRead {
            report.downloads.unlisted = tally.sourceLacks[.unlisted].map(missing)
            report.downloads.failedUpstream = tally.sourceLacks[.failed].map(missing)
        }
        return report
    }

    /// O(*n*) in the number of images that icons show.
    private var renditionStatus: StatusReport.Renditions? {
        guard book.renditions.isOn else { return nil }
        var status = StatusReport.Renditions()
        for id in book.catalog.images.ids where book.catalog.images[id].isShown {
            switch book.renditions.standing(of: book.catalog.images[id].key) {
            case .ready: status.ready += 1
            case .pending: status.pending += 1
            case .failed: status.failed += 1
            }
        }
        status.error = renderingTrouble
        return status
    }

    var reportedPauses: [StatusReport.Downloads.Pause] {
        book.downloads.pauses.moved(by: turn.wallClock.offset).map {
            StatusReport.Downloads.Pause(reason: $0.reason.isEmpty ? nil : $0.reason, until: $0.until?.description)
        }
    }

    private func missing(_ icons: IconGroup) -> StatusReport.Downloads.Missing {
        StatusReport.Downloads.Missing(
            icons: icons.count, example: IconURL("\(LogURL(icons.example))"), list: list(naming: icons.example),
            isTemporary: !book.sources.waitsForGood)
    }

    private func entries(of name: ListName, _ list: ListRecord) -> IconCounts {
        var counts = book.catalog.tallies[name]?.entries ?? IconCounts()
        for (position, past) in list.apps.pasts where past.last != nil {
            let standing = book.catalog.icons[list.icons[position]].icon.shownStanding
            guard standing != .ready else { continue }
            counts.add(standing, times: -1)
            counts.add(.ready)
        }
        return counts
    }

    /// The waiting origins, with the number of queued icons without an image for each.
    private var heldOrigins: [StatusReport.Downloads.Origin] {
        guard book.downloads.queue.heldCount > 0 else { return [] }
        // An origin that has not failed recently need not wait.
        return book.downloads.origins.compactMap { name, health in
            guard book.downloads.queue.isHeld(origin: name), let icons = book.catalog.tally.blank[name] else {
                return nil
            }
            let end = turn.wallClock.time(of: health.waitsUntil)
            return StatusReport.Downloads.Origin(name: name, icons: icons, until: end.description)
        }.sorted { ($1.icons, $0.name) < ($0.icons, $1.name) }
    }

    /// The failed icons by code; the example is an icon that is not muted, if there is one.
    private func rows(of failures: [FetchFailure.Code: IconGroup]) -> [StatusReport.Failure] {
        failures.compactMap { code, failed in
            func isMuted(_ url: IconURL) -> Bool { mutes.include(url, in: book.catalog.icons[url]?.lists ?? []) }
            let known = mutes.isEmpty ? 0 : failed.urls.count(where: isMuted)
            let first = failed.example
            let example =
                known > 0 && isMuted(first) ? failed.urls.lazy.filter { !isMuted($0) }.min() ?? first : first
            let icon = book.catalog.icons[example]
            var proxy = ""
            if code.isNoAnswer, let hop = icon?.trail?.hops.last, hop.status == nil {
                // It may be the proxy that does not answer.
                proxy = hop.proxy.map { ", through the proxy \($0)" } ?? ""
            }
            var row = StatusReport.Failure(
                code: code.rawValue, icons: failed.count, example: IconURL("\(LogURL(example))"),
                list: list(naming: example),
                message: (icon?.failure?.message ?? code.rawValue) + proxy)
            if known > 0 { row.muted = known }
            return row
        }.sorted { ($1.icons, $0.code) < ($0.icons, $1.code) }
    }

    /// A list that names an icon; the list of pins only if no other does.
    private func list(naming url: IconURL) -> ListName? {
        let lists = book.catalog.icons[url]?.lists ?? []
        return lists.first { $0 != Self.pinList } ?? lists.first
    }

    package var evictionStatus: StatusReport.Eviction {
        if let doubt = evictionDoubt { return .suspended(doubt) }
        return book.retention.brake.status(by: turn.wallClock)
    }
}

extension EvictionBrake {
    func status(by clock: WallClock) -> StatusReport.Eviction {
        guard let hold = heldNow, let end else { return .active }
        return .held(
            "\(hold.images) of \(hold.total) images were retired: held until \(clock.time(of: end)), or until you "
                + "run syncagent evict --confirm")
    }
}

extension ListRecord.State {
    var word: StatusReport.List.State {
        switch self {
        case .ok: .ok
        case .lastGood: .lastGood
        case .rejected: .rejected
        }
    }
}
