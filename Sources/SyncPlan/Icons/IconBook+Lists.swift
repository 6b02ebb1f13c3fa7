// SPDX-License-Identifier: Apache-2.0
import AppLists
import CacheFormat
import Fleet
import HTTPRules
import Reports

// Consequences of list changes for icons.
extension IconBook {
    /// Applies the URLs that lists newly name and no longer name.
    mutating func applyDiff(_ diff: IconDiff, in turn: inout Turn) {
        returnImages(to: diff.added, in: &turn)
        let grouped = keyGroups.isEmpty ? [] : keyGroups.members(sharing: diff.added.union(diff.removed))
        // A queued icon may count for a shorter list now, or its list may no longer name it.
        let queued =
            downloads.queue.isEmpty ? [] : diff.added.union(diff.removed).filter { catalog.icons[$0]?.isQueued == true }
        // Another list may name what this one dropped: renaming a list cancels nothing.
        for url in diff.removed where catalog.icons[url]?.isReferenced == false { retire(url, in: &turn) }
        requestNewest(of: grouped, in: &turn)
        for url in diff.added {
            retry(url, after: .authRefused, in: &turn)
            probeOrigin(ofNew: url, in: &turn)
        }
        for url in queued {
            if let id = catalog.icons.id(of: url) { downloads.queue.move(url, to: catalog.shortestList(naming: id)) }
        }
    }

    /// Discards partial images of icons that no list names.
    mutating func discardUnnamedParts(in turn: inout Turn) {
        let unnamed = partials.forget { url in
            guard let icon = catalog.icons[url] else { return true }
            // A running download keeps its partial image.
            return !icon.isReferenced && icon.phase != .fetching
        }
        discardParts(unnamed, in: &turn)
    }

    /// Ends the work on an icon that no list names any more.
    private mutating func retire(_ url: IconURL, in turn: inout Turn) {
        guard let id = catalog.icons.id(of: url), case let icon = catalog.icons[id].icon else { return }
        if let image = icon.image, !catalog.images[image].isShown { turn.emit(.iconRetired(url)) }
        switch icon.phase {
        case .idle: decide(id, in: &turn)
        case .queued: dequeue(id, in: &turn)
        case .fetching: cancel(url, in: &turn)
        case .blocked:
            space.forget(url)
            apply(.dequeued, to: id, in: &turn)
        case .staged:
            guard !publishing.isInFlight(id) else { return decide(id, in: &turn) }
            publishing.unstage(id)
            unstage(id, in: &turn)
        }
    }

    /// Whether the lists accept the image of an icon that waits for its publication.
    func acceptsStaged(_ id: IconID) -> Bool {
        catalog.icons[id].icon.staged.map { catalog.icons[id].icon.accepts(catalog.images[$0.image].key) } ?? true
    }

    /// Gives up images that wait for their publication, and that the lists no longer accept.
    mutating func giveUpRefused(_ urls: Set<IconURL>, in turn: inout Turn) {
        for id in urls.compactMap({ catalog.icons.id(of: $0) }).sorted()
        where !publishing.isInFlight(id) && !acceptsStaged(id) {
            publishing.unstage(id)
            unstage(id, in: &turn)
        }
    }

    /// Retries an icon that failed for this cause or for lack of room, because its lists changed; decides other icons.
    mutating func retry(_ url: IconURL, after cause: FetchFailure.Cause, in turn: inout Turn) {
        guard let id = catalog.icons.id(of: url) else { return }
        if cause == .digestMismatch, let answer = answerAcceptedAgain(of: id) {
            apply(.confirmed(answer), to: id, in: &turn)
        } else if let code = catalog.icons[id].icon.failure?.code, code == .fetch(cause) || code == .fetch(.overLimit),
            isRequested(url)
        {
            apply(.retried(turn.now), to: id, in: &turn)
        } else {
            decide(id, in: &turn)
        }
    }

    /// What is known of the image on disk of an icon that failed because its lists gave another digest, and that they
    /// give again.
    private func answerAcceptedAgain(of id: IconID) -> IconRecord.Answer? {
        let icon = catalog.icons[id].icon
        guard icon.phase == .idle, icon.failure?.code == .fetch(.digestMismatch), !icon.isFullRequested,
            let image = catalog.images.digest(icon.image), !icon.expected.isEmpty, icon.accepts(image)
        else { return nil }
        return catalog.icons.response(of: id).map { IconRecord.Answer(response: $0, freshUntil: icon.freshUntil) }
    }

    /// Emits an event for each icon that was retired and is named again.
    func emitReturned(_ urls: Set<IconURL>, in turn: inout Turn) {
        for url in urls.sorted() {
            guard let icon = catalog.icons[url], icon.isReferenced, let image = icon.image else { continue }
            turn.emit(.iconReady(url, bytes: catalog.images.bytes(image), generation: nil))
        }
    }

    /// The retired icons that new versions of lists name.
    func retiredIcons(in changed: [ListName: ListReading]) -> Set<IconURL> {
        guard !catalog.retired.isEmpty else { return [] }
        var found: Set<IconURL> = []
        for case .success(let list) in changed.values.lazy.map(\.verdict) {
            for entry in list.entries where catalog.retired[entry.icon] != nil { found.insert(entry.icon) }
        }
        return found
    }

    // MARK: Requests

    /// Whether a request by a user changes anything for an icon.
    func isDue(_ url: IconURL, isRefresh: Bool, isFull: Bool = false) -> Bool {
        isDownloadDue(url, isRefresh: isRefresh, isFull: isFull) || !isRefresh && !originalsToRetry(of: url).isEmpty
    }

    private func isDownloadDue(_ url: IconURL, isRefresh: Bool, isFull: Bool) -> Bool {
        guard let icon = catalog.icons[url], icon.isReferenced else { return false }
        // A queued request that may have conditions does not count as a full one.
        let becomesFull =
            isFull && icon.hasImage && !icon.isInline && !icon.isFullRequested && !sources.isTaking(url)
        switch icon.phase {
        case .queued(_, let origin): return becomesFull || downloads.queue.isHeld(origin: origin)
        case .fetching: return becomesFull
        case .staged, .blocked: return false
        case .idle where absence(of: url) != nil || icon.isRefused: return false
        case .idle: return icon.hasFailed || sources.isWaiting(url) || isRefresh && icon.hasImage && !icon.isInline
        }
    }

    /// Requests icons now, for a user; if full, without conditions.
    mutating func request(_ urls: [IconURL], isRefresh: Bool, isFull: Bool, in turn: inout Turn) {
        if !isRefresh { retryRendering(of: urls, in: &turn) }
        for url in urls where isUnderWay(url) { apply(.awaited, to: url, in: &turn) }
        let urls = urls.filter { isDownloadDue($0, isRefresh: isRefresh, isFull: isFull) }
        downloads.forgive(Set(urls.compactMap(origin)), in: &turn)
        if !urls.isEmpty { sources.pollNow(at: turn.now) }
        if isFull {
            // They may come from HTTP caches on the way.
            discardParts(of: urls, in: &turn)
            sharedDownloads.recordFullRequests(of: urls, at: turn.now)
        }
        for url in urls {
            // A request in flight goes on; a full one follows.
            if catalog.icons[url]?.phase != .fetching {
                sources.waive(url, at: turn.now)
                sharedDownloads.insist(on: url)
            }
            apply(.requested(turn.now, isRefresh: isRefresh, isFull: isFull), to: url, in: &turn)
            downloads.queue.raise(url)
        }
    }

    private func isUnderWay(_ url: IconURL) -> Bool {
        catalog.icons[url].map { $0.isQueued || $0.phase == .fetching } ?? false
    }

    /// Discards partial images of icons that are not being downloaded.
    mutating func discardParts(of urls: [IconURL], in turn: inout Turn) {
        guard !partials.urls.isEmpty else { return }
        // The partial image of a running download is discarded when the download ends.
        let idle = Set(urls.filter { catalog.icons[$0]?.phase != .fetching })
        discardParts(partials.forget(where: idle.contains), in: &turn)
    }

    /// Requests icons that failed because the clock was wrong, after it was set.
    mutating func retryFailuresOfClock(in turn: inout Turn) {
        var failed: [IconURL] = []
        for id in catalog.icons.ids {
            if catalog.icons[id].icon.phase == .fetching {
                let url = catalog.icons.url(of: id)
                outdated[url] = outdated[url] ?? SettingsChange(to: settings)
            } else if catalog.icons[id].icon.failure?.code.dependsOnClock == true {
                failed.append(catalog.icons.url(of: id))
            }
        }
        // A wait that an origin requested, as with Retry-After, stays unless its circuit breaker is open.
        let broken = Set(failed.compactMap(origin)).filter { downloads.origins[$0]?.isBroken == true }
        downloads.forgive(broken, in: &turn)
        for url in failed { apply(.retried(turn.now), to: url, in: &turn) }
    }

    /// Lets the origin of an icon be probed that other settings may let answer, if it waits after failures.
    mutating func probeOrigin(of url: IconURL, after code: FetchFailure.Code, in turn: inout Turn) {
        guard !downloads.origins.isEmpty, code.isNoAnswer, let origin = origin(of: url) else { return }
        downloads.probe(origin, isSetAnew: true, in: &turn)
    }

    /// Lets the origin of an icon be probed that lists newly name: perhaps only other icons fail there.
    private mutating func probeOrigin(ofNew url: IconURL, in turn: inout Turn) {
        guard !downloads.origins.isEmpty, case let icon? = catalog.icons[url], case .queued(_, let origin) = icon.phase,
            !icon.hasImage, icon.failure == nil
        else { return }
        downloads.probe(origin, isSetAnew: false, in: &turn)
    }

    private func origin(of url: IconURL) -> String? {
        if case .queued(_, let origin)? = catalog.icons[url]?.phase { return origin }
        return (try? FetchTarget(url.text))?.origin
    }
}
