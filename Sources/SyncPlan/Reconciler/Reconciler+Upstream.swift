// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import WebAddresses

// Icons that may come from an upstream.
extension Reconciler {
    /// Has an icon that is due come from an upstream or from its origin, or wait.
    mutating func supply(_ url: IconURL, _ reason: FetchReason, now: Timestamp) {
        guard !upstreams.isEmpty, let icon = catalog.icons[url], !icon.isInline else {
            return enqueue(url, reason, from: nil, now: now)
        }
        let decision = upstreams.decide(
            for: url, icon, refreshSpread: settings.refresh.default, mayPoll: downloads.mayStart, at: now,
            using: &generator)
        switch decision {
        case .take(let request): enqueue(url, reason, from: request, now: now)
        case .origin: enqueue(url, reason, from: nil, now: now)
        case .wait(let time):
            let lack = upstreams.lack(of: url)
            if icon.upstreamLack != lack { catalog.updateIcon(url) { $0.upstreamLack = lack } }
            if let time { noteDue(url, at: time) }
        case .confirmed(let upstream, let time):
            let before = icon.state
            noteRecovery(of: url)
            noteFresh(url, .upstream(upstream, freshUntil: time, now: now), now: now)
            noteState(of: url, was: before, now: now)
            consider(url, now: now)
        case .failed(let failure, let time):
            let before = icon.state
            // No attempt of this machine failed.
            let new = IconRecord.Failure(
                code: failure.code, message: failure.message, attempts: 0, nextAttempt: time)
            catalog.updateIcon(url) { $0.failure = new }
            unstored.note(icon: url, at: now)
            tell(new, after: icon.failure, of: url)
            noteState(of: url, was: before, now: now)
            consider(url, now: now)
        }
    }

    /// Begins the looks at upstreams that are due.
    mutating func lookAtUpstreams(now: Timestamp, to actions: inout [Action]) {
        for poll in upstreams.takePolls(at: now) { actions.append(.start(.poll(poll))) }
    }

    /// A look at an upstream ended: icons of which it says something new are looked at again.
    mutating func applyPoll(_ answer: UpstreamAnswer, now: Timestamp) {
        for url in upstreams.end(answer, at: now, using: &generator) { reconsider(url, now: now) }
        requeueBlocked(now: now)
    }

    /// Looks at upstreams after a pause, if icons wait for them.
    mutating func resumeUpstreams(now: Timestamp) {
        for url in upstreams.resume(at: now, using: &generator) { reconsider(url, now: now) }
    }

    /// The wall clock was set: what an upstream confirmed that is stale by it counts no longer.
    mutating func setUpstreamClock(_ offset: Duration, now: Timestamp) {
        let (stale, icons) = upstreams.setClock(offset, at: now)
        let folders = Set(stale.map(\.folder.url))
        let places = catalog.icons.indices.filter { place in
            catalog.icons[place].icon.response?.url.map(folders.contains) ?? false
        }
        for url in places.map({ catalog.icons[$0].url }) {
            catalog.updateIcon(url) { $0.freshUntil = min($0.freshUntil, now) }
            unstored.note(icon: url, at: now)
            consider(url, now: now)
        }
        for url in icons { reconsider(url, now: now) }
    }

    /// Has icons come from elsewhere, or wait, that are queued for an upstream whose circuit breaker has opened.
    mutating func requeueBlocked(now: Timestamp) {
        for url in upstreams.takeBlocked() {
            guard case .queued? = catalog.icons[url]?.phase else { continue }
            downloads.remove(url)
            upstreams.drop(url)
            catalog.updateIcon(url) { $0.phase = .idle }
            consider(url, now: now)
        }
    }

    private mutating func reconsider(_ url: IconURL, now: Timestamp) {
        guard let place = catalog.icons.index(of: url), case let icon = catalog.icons[place].icon, icon.isReferenced,
            !icon.isInline, icon.staged == nil
        else { return }
        switch icon.phase {
        case .fetching, .waitingForSpace: return
        case .queued:
            guard upstreams.request(for: url) == nil, upstreams.canDeliver(url, icon, at: now) else { return }
            downloads.remove(url)
            catalog.updateIcon(at: place) { $0.phase = .idle }
        case .idle: break
        }
        let canDeliver = upstreams.canDeliver(url, icon, at: now)
        if let failure = icon.failure {
            // When the origin is asked again is another matter.
            if failure.attempts > 0 { return canDeliver ? supply(url, .retry, now: now) : () }
            catalog.updateIcon(at: place) { $0.failure?.nextAttempt = now }
        } else if canDeliver, let response = icon.response, upstreams.source(of: response) != nil {
            catalog.updateIcon(at: place) { $0.freshUntil = min($0.freshUntil, now) }
        }
        consider(url, now: now)
    }

    /// A request to an upstream ended.
    ///
    /// - Returns: What the outcome means for the icon, and how long its image is fresh; `nil` if the next source is to be
    ///   decided on.
    mutating func end(
        _ outcome: FetchOutcome, of url: IconURL, now: Timestamp, to actions: inout [Action]
    ) -> (outcome: FetchOutcome, answer: IconRecord.Answer?)? {
        switch upstreams.finish(url, outcome, at: now, using: &generator) {
        case nil:
            switch outcome {
            case .image, .notModified: upstreams.forget(url)
            case .failed, .noRoom, .cancelled: break
            }
            return (outcome, nil)
        case .image(let request, let time):
            return (outcome, .upstream(request.url, freshUntil: time, now: now))
        case .rejected(let failure): return (.failed(failure), nil)
        case .again, .goOn:
            switch outcome {
            case .noRoom, .cancelled: return (outcome, nil)
            case .image(let staged, _): actions.append(.background(.discard([staged.name])))
            case .failed, .notModified: break
            }
            return nil
        }
    }
}

extension IconRecord.Answer {
    /// What an upstream says of an image: its manifest, and not the response that brought the file.
    static func upstream(
        _ upstream: UpstreamURL, freshUntil: Timestamp, now: Timestamp
    ) -> IconRecord.Answer {
        // The file's own URL follows from the image. All icons share this one.
        let response = StoredResponse(
            url: upstream.folder.url, fields: HTTPFields([]), requestTime: now, responseTime: now)
        return IconRecord.Answer(response: response, freshUntil: freshUntil)
    }
}
