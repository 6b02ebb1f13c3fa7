// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import Fleet
import HTTPRules

// Sources of icons other than their origins.
extension IconBook {
    mutating func applyPoll(_ reply: UpstreamAnswer, in turn: inout Turn) {
        if case .accepted = reply.outcome { renditions.queue.forgetMisses() }
        for url in sources.end(reply, at: turn.now, using: &turn.generator) { reconsider(url, in: &turn) }
        requeueBlocked(in: &turn)
    }

    /// Decides again, after a pause or a purge, the icons whose waits for a source ended meanwhile.
    mutating func resumeSources(in turn: inout Turn) {
        for url in sources.resume(at: turn.now, using: &turn.generator) { reconsider(url, in: &turn) }
    }

    /// Applies a new offset of the wall clock, by which images that a source confirmed may be stale.
    mutating func setSourceClock(_ offset: Duration, in turn: inout Turn) {
        let (stale, icons) = sources.setClock(offset, at: turn.now)
        let folders = Set(stale)
        let expired = catalog.icons.ids.filter { catalog.icons.responseURL(of: $0).map(folders.contains) ?? false }
        for id in expired { expire(id, in: &turn) }
        for url in icons { reconsider(url, in: &turn) }
    }

    private mutating func expire(_ id: IconID, in turn: inout Turn) {
        apply(.expires(min(catalog.icons[id].icon.freshUntil, turn.now)), to: id, in: &turn)
    }

    /// Dequeues icons whose source's circuit breaker opened, and decides again where they come from.
    mutating func requeueBlocked(in turn: inout Turn) {
        for url in sources.drainBlocked() {
            if let id = catalog.icons.id(of: url), catalog.icons[id].icon.isQueued { dequeue(id, in: &turn) }
        }
    }

    /// Decides an icon again after news from a source.
    private mutating func reconsider(_ url: IconURL, in turn: inout Turn) {
        guard let id = catalog.icons.id(of: url), case let icon = catalog.icons[id].icon, icon.isReferenced,
            !icon.isInline
        else { return }
        let canDeliver = sources.canDeliver(icon.sought(at: url, in: catalog.images), at: turn.now)
        switch icon.phase {
        case .fetching, .blocked, .staged: return
        case .queued:
            if !sources.isTaking(url), canDeliver { dequeue(id, in: &turn) }
        case .idle:
            if let failure = icon.failure {
                // The origin's backoff stays as it is.
                if failure.attempts > 0 { return canDeliver ? supply(id, .retry, in: &turn) : decide(id, in: &turn) }
                apply(.retried(turn.now), to: id, in: &turn)
            } else if canDeliver, sources.gave(responseFrom: catalog.icons.responseURL(of: id)) {
                expire(id, in: &turn)
            } else {
                decide(id, in: &turn)
            }
        }
    }

    /// Ends a request to a source.
    ///
    /// - Returns: Whether the outcome applies to the icon (if not, it must be decided again), and the source's answer if
    ///   it delivered.
    mutating func endSupply(
        _ outcome: FetchOutcome, of url: IconURL, in turn: inout Turn
    ) -> (isOver: Bool, answer: IconRecord.Answer?) {
        switch sources.finish(url, outcome, at: turn.now, using: &turn.generator) {
        case nil:
            switch outcome {
            case .image, .notModified: sources.forget(url)
            case .failed, .noRoom, .cancelled: break
            }
            return (true, nil)
        case .image(let answer): return (true, IconRecord.Answer(answer, of: url))
        case .rejected: return (true, nil)
        case .again, .goOn:
            switch outcome {
            case .noRoom, .cancelled: return (true, nil)
            case .image(let staged, _): turn.run(.discard([staged.name]))
            case .failed, .notModified: break
            }
            return (false, nil)
        }
    }
}

extension IconRecord {
    func sought(at url: IconURL, in images: ImageTable) -> SoughtIcon {
        SoughtIcon(url, image: images.digest(image), expected: expected)
    }
}

extension IconRecord.Answer {
    init(_ answer: SourceAnswer, of url: IconURL) {
        self.init(response: PackedResponse(answer.response).sharing(url.text), freshUntil: answer.freshUntil)
    }
}
