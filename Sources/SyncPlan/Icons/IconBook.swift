// SPDX-License-Identifier: Apache-2.0
import AgentSettings
import CacheFormat
import Fleet
import HTTPRules
import Reports

/// All lists and icons, and the work on them.
///
/// Only ``apply(_:to:in:)`` changes an icon; it also applies all consequences of a change.
struct IconBook: Sendable {
    private(set) var settings: Settings
    var catalog: Catalog
    var downloads: DownloadSchedule
    var sources: IconSources
    var partials: PartialImages
    var cuts = CutDownloads()
    var space = SpaceGate()
    var publishing: PublicationPlan
    var retention: Retention
    var admission = Admission()
    var keyGroups = KeyGroups()
    var sharedDownloads = SharedDownloads()
    var repository: IconRepository?
    var renditions: Renditions
    var renditionNames: RenditionNames
    /// Icons whose downloads began under other settings, and how these changed since.
    var outdated: [IconURL: SettingsChange] = [:]

    init(
        _ settings: Settings, catalog: Catalog, sources: IconSources, partials: PartialImages,
        publishing: PublicationPlan, retention: Retention, hasRenditionNames: Bool, triesOnce: Bool
    ) {
        (self.settings, self.catalog, self.sources) = (settings, catalog, sources)
        (self.partials, self.publishing, self.retention) = (partials, publishing, retention)
        downloads = DownloadSchedule(settings, triesOnce: triesOnce)
        renditions = Renditions(settings)
        renditionNames = RenditionNames(areThere: hasRenditionNames || renditions.isOn)
    }

    mutating func configure(_ new: Settings, in turn: inout Turn) {
        let old = settings
        settings = new
        downloads.configure(new)
        sources.configure(new.upstream, at: turn.now, using: &turn.generator)
        publishing.configure(new.publish)
        retention.configure(new)
        configureRenditions(since: old, in: &turn)
        if new.upstream != old.upstream || new.render != old.render { reviewCopies() }
        if new.keys != old.keys {
            resetKeys(in: &turn)
        } else if new.credentials != old.credentials {
            rankAllKeys(in: &turn)
        }
        if new.lists.iconBaseURL != old.lists.iconBaseURL { setRepository(in: &turn) }
        let hasOtherLimits =
            new.cache.maxBytes != old.cache.maxBytes || new.lists.maxBytesPerList != old.lists.maxBytesPerList
        if hasOtherLimits { admission = Admission() }
        if new.cache.minFree != old.cache.minFree { space.prioritize(at: turn.now) }
        let change = SettingsChange(from: old, to: new)
        if change.hasOtherRequests { sources.pollNow(at: turn.now) }
        // Servers may accept the same credentials by now, and the same file may have other authorities.
        let readsFiles = !new.credentials.isEmpty || !old.credentials.isEmpty || new.fetch.caFile != nil
        let hasOtherSources = new.upstream != old.upstream
        if change.hasOtherRequests || new.images != old.images || readsFiles || hasOtherSources || hasOtherLimits {
            decideAgain(after: change, all: hasOtherSources, in: &turn)
        }
    }

    // MARK: The transition

    /// Applies an event to an icon, and its consequences for documents, memos, events and requests.
    mutating func apply(_ event: IconEvent, to url: IconURL, in turn: inout Turn) {
        apply(event, to: catalog.id(of: url), in: &turn)
    }

    mutating func apply(_ event: IconEvent, to id: IconID, in turn: inout Turn) {
        let news = catalog.icons[id].icon.news(of: event, at: catalog.icons.url(of: id), turn.wallClock)
        let (before, after) = catalog.apply(event, to: id)
        let consequences = event.consequences(ofFirstImage: !before.hasImage)
        if consequences.memo { turn.memos.mark(icon: id, at: turn.now) }
        if let news { turn.emit(news) }
        if consequences.documents, !after.isSameInDocuments(as: before) {
            for list in after.lists { publishing.window.markChanged(list, at: turn.now) }
        }
        if !keyGroups.isEmpty { share(event, of: catalog.icons.url(of: id), in: &turn) }
        if consequences.decision { decide(id, in: &turn) }
    }

    /// Requests an icon if it is due, schedules its next check, or forgets it if its record is not needed any more.
    mutating func decide(_ id: IconID, in turn: inout Turn) {
        if downloads.networkLogin.mayHoldIcons, !awaitsLogin(id) {
            downloads.networkLogin.leave(catalog.icons.url(of: id))
        }
        switch catalog.fetchPlan(of: id, now: turn.now) {
        case .fetch(let reason): supply(id, reason, in: &turn)
        case .fresh(let time), .waiting(let time): schedule(id, at: time, in: &turn)
        case .unreferenced: forgetIfDone(id, in: &turn)
        case .refused, .inline, .underWay: break
        }
    }

    /// Removes an icon from the queue, and decides it again.
    mutating func dequeue(_ id: IconID, in turn: inout Turn) {
        let url = catalog.icons.url(of: id)
        downloads.queue.remove(url)
        sources.drop(url)
        apply(.dequeued, to: id, in: &turn)
    }

    /// Forgets an unreferenced icon if nothing of it is on disk or in progress.
    private mutating func forgetIfDone(_ id: IconID, in turn: inout Turn) {
        let (url, icon) = (catalog.icons.url(of: id), catalog.icons[id].icon)
        if !icon.isBusy { sources.forget(url) }
        guard !icon.hasStaged, !icon.isBusy else { return }
        if let image = icon.image {
            // No document names it, and so no eviction would: its lists left before they were published.
            guard !catalog.icons[id].isNamed else { return }
            if !catalog.images[image].isShown { catalog.recordOrphan(image, of: url) }
            catalog.names.forget([url], in: &catalog.images)
            return apply(.evicted, to: id, in: &turn)
        }
        catalog.forgetIcon(id)
        keyGroups.remove(url)
        sharedDownloads.forget(url)
        cuts.forget(url)
        turn.memos.mark(forgotten: url, of: id, at: turn.now)
    }

    // MARK: Due times

    mutating func schedule(_ id: IconID, at time: Timestamp, in turn: inout Turn) {
        // A list that comes and goes must not leave an entry each time.
        guard catalog.icons[id].icon.due != time else { return }
        apply(.scheduled(time), to: id, in: &turn)
        downloads.schedule(id, at: time)
        if downloads.isMostlyOutdated(amongst: catalog.tally.scheduled) {
            downloads.removeOutdated(in: catalog.icons)
        }
    }

    /// Decides icons that are due, wakes origins whose wait is over, and starts due polls.
    mutating func advance(in turn: inout Turn) {
        while let due = downloads.popDue(at: turn.now) {
            guard catalog.icons[due.icon].icon.due == due.time else { continue }
            apply(.scheduled(nil), to: due.icon, in: &turn)
            decide(due.icon, in: &turn)
        }
        downloads.wakeOrigins(at: turn.now)
        admit(in: &turn)
        if downloads.mayStart {
            for var poll in sources.beginPolls(at: turn.now) {
                poll.renditions = Set(renditions.pixels)
                turn.start(.poll(poll))
            }
        }
    }

    /// Decides all icons at the start, including refused URLs, which this version may allow.
    mutating func decideAll(in turn: inout Turn) {
        inheritMissing(in: &turn)
        var dueTimes: [(icon: IconID, time: Timestamp)] = []
        let ids = catalog.icons.ids
        dueTimes.reserveCapacity(ids.count)
        for id in ids {
            let isScheduled = catalog.icons[id].icon.due != nil
            // A response from an upstream says nothing about other URLs.
            if catalog.icons.hasResponse(id), !sources.gave(responseFrom: catalog.icons.responseURL(of: id)) {
                sharedDownloads.record(catalog.icons.url(of: id))
            }
            if catalog.icons[id].icon.hasFailed { sharedDownloads.recordFailure(of: catalog.icons.url(of: id)) }
            switch catalog.fetchPlan(of: id, now: turn.now) {
            case .fresh(let time) where !isScheduled, .waiting(let time) where !isScheduled:
                apply(.scheduled(time), to: id, in: &turn)
                dueTimes.append((id, time))
            case .refused: apply(.retried(turn.now), to: id, in: &turn)
            case .fetch, .fresh, .waiting: decide(id, in: &turn)
            case .inline, .unreferenced, .underWay: break
            }
        }
        downloads.schedule(dueTimes)
    }

    /// Decides icons again that new settings may affect: queued ones, icons whose failures depend on settings, and with
    /// `all`, for other upstreams, every idle one.
    private mutating func decideAgain(after change: SettingsChange, all: Bool, in turn: inout Turn) {
        for id in catalog.icons.ids {
            let icon = catalog.icons[id].icon
            var mayEnd = false
            if icon.phase != .fetching, let failure = icon.failure {
                let url = catalog.icons.url(of: id)
                // A failure without an attempt comes from an upstream.
                mayEnd = change.mayEnd(failure.code, of: url, isOwn: failure.attempts > 0)
                if mayEnd { probeOrigin(of: url, after: failure.code, in: &turn) }
            }
            if icon.isQueued {
                dequeue(id, in: &turn)
            } else if icon.phase == .fetching {
                let url = catalog.icons.url(of: id)
                outdated[url] = outdated[url]?.followed(by: change) ?? change
            } else if mayEnd || all && !icon.isBusy && icon.failure?.attempts == 0 {
                apply(.retried(turn.now), to: id, in: &turn)
            } else if all, !icon.isBusy {
                decide(id, in: &turn)
            }
        }
    }

    // MARK: Room

    /// Records that there is no room for an icon's image; for an unwanted one, only if that concerns all images.
    mutating func recordShortage(_ shortage: Shortage, of url: IconURL, isWanted: Bool, at now: Timestamp) {
        if isWanted || shortage.isGeneral { space.record(shortage, of: isWanted ? url : nil, at: now) }
    }

    /// Requests icons and publishes documents for which there is room now.
    mutating func applySpace(_ found: Result<DiskSpace, Shortage>, in turn: inout Turn) {
        let wasOpen = space.isOpen
        if case .success(let there) = found {
            let deferred = publishing.window.deferred
            publishing.window.deferLists(space.admitDocuments(to: there, above: settings.cache.minFree))
            if publishing.window.deferred != deferred { markStagedLists() }
        }
        for url in space.apply(found, above: settings.cache.minFree, at: turn.now) {
            apply(.dequeued, to: url, in: &turn)
        }
        guard !wasOpen, space.isOpen else { return }
        publishing.retry(at: turn.now)
        // Renditions had no room either.
        renditions.renderer.askAgain()
    }

    /// Marks the lists with staged images, whose publication may have waited for a deferred list.
    mutating func markStagedLists() {
        for id in publishing.staged where !publishing.isInFlight(id) {
            for list in catalog.icons[id].icon.lists { publishing.window.markChanged(list, at: .distantPast) }
        }
    }

    /// Retries a deferred document, because the list has changed.
    mutating func retryDocument(of list: ListName) {
        guard space.documents[list] != nil else { return }
        space.forgetDocument(of: list)
        publishing.window.deferLists(Set(space.documents.keys))
        markStagedLists()
    }

    /// Makes a list's document the next to be written, whatever it costs: that on disk must not stay.
    mutating func renewDocument(of list: ListName, at now: Timestamp) {
        guard catalog.lists[list]?.source != nil else { return }
        retryDocument(of: list)
        publishing.renew(list, at: now)
    }

    mutating func forgetDocument(of list: ListName) {
        space.forgetDocument(of: list)
        if publishing.forget(list) { markStagedLists() }
    }

    // MARK: State

    var mayDownload: Bool { downloads.mayStart && space.isOpen && !isHeldUp }

    /// Whether downloads wait because a publication failed, and 64 MiB of images wait for the next publication.
    var isHeldUp: Bool { publishing.failure != nil && catalog.tally.all.stagedBytes >= 64 << 20 }

    /// Whether no download is in flight or can start now; retries and waiting origins come later.
    var isIdle: Bool { downloads.queue.activeCount == 0 && (!mayDownload || downloads.queue.readyCount == 0) }

    var traffic: PublicationWindow.Traffic {
        guard isIdle else { return downloads.queue.isFlowing ? .flowing : .doubtful }
        return downloads.isStopping || downloads.triesOnce ? .ending : .none
    }
}

extension IconRecord {
    /// Whether the icon is queued, in flight, or waits for disk space.
    var isBusy: Bool {
        switch phase {
        case .idle, .staged: false
        case .queued, .fetching, .blocked: true
        }
    }
}
