// SPDX-License-Identifier: Apache-2.0
import AgentSettings
import AppLists
import CacheFormat
import Fleet
import HTTPRules

// Icons that may come from an upstream.
extension Reconciler {
    /// Has an icon that is due come from an upstream or from its origin, or wait.
    mutating func supply(_ url: IconURL, _ reason: FetchReason, now: Timestamp) {
        guard !sources.isEmpty, let icon = catalog.icons[url], !icon.isInline else {
            return enqueue(url, reason, from: nil, now: now)
        }
        let decision = sources.decide(
            for: icon.sought(at: url), refreshSpread: settings.refresh.default, mayPoll: downloads.mayStart, at: now,
            using: &generator)
        switch decision {
        case .take(let queue): enqueue(url, reason, from: queue, now: now)
        case .origin: enqueue(url, reason, from: nil, now: now)
        case .wait(let time):
            let lack = sources.lack(of: url)
            if icon.sourceLack != lack { catalog.updateIcon(url) { $0.sourceLack = lack } }
            if let time { noteDue(url, at: time) }
        case .confirmed(let answer):
            let before = icon.state
            noteRecovery(of: url)
            noteFresh(url, IconRecord.Answer(answer), now: now)
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
    mutating func pollSources(now: Timestamp, to actions: inout [Action]) {
        for poll in sources.takePolls(at: now) { actions.append(.start(.poll(poll))) }
    }

    /// A look at an upstream ended: icons of which it says something new are looked at again.
    mutating func applyPoll(_ answer: SourceReply, now: Timestamp) {
        for url in sources.end(answer, at: now, using: &generator) { reconsider(url, now: now) }
        requeueBlocked(now: now)
    }

    /// Looks at upstreams after a pause, if icons wait for them.
    mutating func resumeSources(now: Timestamp) {
        for url in sources.resume(at: now, using: &generator) { reconsider(url, now: now) }
    }

    /// The wall clock was set: what an upstream confirmed that is stale by it counts no longer.
    mutating func setSourceClock(_ offset: Duration, now: Timestamp) {
        let (stale, icons) = sources.setClock(offset, at: now)
        let folders = Set(stale)
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
        for url in sources.takeBlocked() {
            guard case .queued? = catalog.icons[url]?.phase else { continue }
            downloads.remove(url)
            sources.drop(url)
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
            guard !sources.isTaking(url), sources.canDeliver(icon.sought(at: url), at: now) else { return }
            downloads.remove(url)
            catalog.updateIcon(at: place) { $0.phase = .idle }
        case .idle: break
        }
        let canDeliver = sources.canDeliver(icon.sought(at: url), at: now)
        if let failure = icon.failure {
            // When the origin is asked again is another matter.
            if failure.attempts > 0 { return canDeliver ? supply(url, .retry, now: now) : () }
            catalog.updateIcon(at: place) { $0.failure?.nextAttempt = now }
        } else if canDeliver, let response = icon.response, sources.gave(response) {
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
        switch sources.finish(url, outcome, at: now, using: &generator) {
        case nil:
            switch outcome {
            case .image, .notModified: sources.forget(url)
            case .failed, .noRoom, .cancelled: break
            }
            return (outcome, nil)
        case .image(let answer): return (outcome, IconRecord.Answer(answer))
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

extension IconRecord {
    func sought(at url: IconURL) -> SoughtIcon { SoughtIcon(url, image: boxedImage.digest, expected: expected) }
}

extension IconRecord.Answer {
    fileprivate init(_ answer: SourceAnswer) {
        self.init(response: answer.response, freshUntil: answer.freshUntil)
    }
}
