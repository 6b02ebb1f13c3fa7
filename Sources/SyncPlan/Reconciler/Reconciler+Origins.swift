// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import HeapModule

extension Reconciler {
    /// How an origin fares; `nil` if nothing is known against it.
    package func health(of origin: String) -> OriginHealth? { origins[origin] }

    var backoff: Backoff { Backoff(base: settings.fetch.retryBase, max: settings.fetch.retryMax) }

    /// Takes note of what the end of a download tells of its origin.
    mutating func noteOutcome(_ outcome: FetchOutcome, of origin: String, now: Timestamp) {
        switch outcome {
        case .cancelled, .noRoom: break
        case .image, .notModified: noteAnswer(of: origin, now: now)
        case .failed(let failure):
            switch failure.blame {
            case .origin: noteFailure(failure, ofOrigin: origin, now: now)
            case .resource: noteAnswer(of: origin, now: now)
            case .agent: break
            }
        }
    }

    private mutating func noteAnswer(of origin: String, now: Timestamp) {
        guard var health = origins[origin] else {
            queue.trust(origin)
            return
        }
        health.noteAnswer()
        if health.isWaiting(at: now) {
            setHealth(of: origin, health, now: now)
        } else {
            setHealth(of: origin, nil, now: now)
            queue.trust(origin)
        }
    }

    /// Counts a failure against the origin that was asked, even if it redirected to another one that failed.
    ///
    /// It is the slots of the one that was asked that are lost. What the other one asks for is for its own URLs.
    private mutating func noteFailure(_ failure: FetchFailure, ofOrigin origin: String, now: Timestamp) {
        var own = failure
        if let other = failure.origin, other != origin {
            own.retryAfter = nil
            own.persistence = .passing
            if failure.wait != nil, origins[other] != nil || queue.hasWork(of: other) {
                addFailure(failure, to: other, now: now)
            }
        }
        addFailure(own, to: origin, now: now)
    }

    private mutating func addFailure(_ failure: FetchFailure, to origin: String, now: Timestamp) {
        var health = origins[origin] ?? OriginHealth()
        health.noteFailure(failure, backoff: backoff, at: now, using: &generator)
        setHealth(of: origin, health, now: now)
        guard origins.count > originLimit else { return }
        for (origin, health) in origins where health.isForgettable(at: now) { setHealth(of: origin, nil, now: now) }
        originLimit = max(originLimit, 2 * origins.count)
    }

    private mutating func setHealth(of origin: String, _ health: OriginHealth?, now: Timestamp) {
        unrememberedOrigins.insert(origin)
        rememberSoon(now: now)
        apply(health, to: origin, now: now)
    }

    private mutating func apply(_ health: OriginHealth?, to origin: String, now: Timestamp) {
        origins[origin] = health
        guard let health else {
            queue.lift(origin)
            return
        }
        queue.restrict(origin, to: health.slots(of: settings.fetch.perHost, at: now))
        guard health.isWaiting(at: now) else { return }
        originTimes.insert(DueTime(time: health.waitsUntil, key: origin))
        // Times that hold no longer are taken away once they are the most.
        guard originTimes.count > 2 * origins.count + 32 else { return }
        originTimes = originTimes.swept { origins[$0.key]?.waitsUntil == $0.time }
    }

    /// Lets the origins go on whose wait is over.
    mutating func wakeOrigins(now: Timestamp) {
        while !triesOnce, let due = originTimes.min, due.time <= now {
            originTimes.removeMin()
            // One that was made to wait longer meanwhile is due another time.
            guard let health = origins[due.key], !health.isWaiting(at: now) else { continue }
            queue.restrict(due.key, to: health.slots(of: settings.fetch.perHost, at: now))
        }
    }

    // MARK: Pause

    mutating func pause(_ isPaused: Bool, now: Timestamp) {
        guard self.isPaused != isPaused else { return }
        self.isPaused = isPaused
        isPauseUnremembered = true
        // Somebody was told so: it is not to be lost with the next second.
        rememberAt = now
    }

    // MARK: Memory

    /// Takes in what is remembered of origins, as far as it can be true.
    mutating func restoreOrigins(_ memos: [OriginMemo], now: Timestamp) {
        let latest = now + max(Backoff.longestWait, settings.fetch.retryMax)
        for memo in memos {
            var health = memo.health
            guard health.failures >= 0, !health.isForgettable(at: now) else {
                unrememberedOrigins.insert(memo.origin)
                continue
            }
            health.failures = min(health.failures, 1000)
            health.waitsUntil = min(health.waitsUntil, latest)
            apply(health, to: memo.origin, now: now)
        }
        originLimit = max(originLimit, 2 * origins.count)
        if !unrememberedOrigins.isEmpty { rememberSoon(now: now) }
    }

    /// What changed of origins and of the pause since this was last asked.
    mutating func takeOriginChanges(_ changes: inout MemoChanges) {
        for origin in unrememberedOrigins {
            if let health = origins[origin] {
                changes.origins.append(OriginMemo(origin: origin, health: health))
            } else {
                changes.forgottenOrigins.append(origin)
            }
        }
        if isPauseUnremembered { changes.isPaused = isPaused }
        unrememberedOrigins = []
        isPauseUnremembered = false
    }
}

extension Heap {
    /// Those that still hold, each URL or origin once.
    func swept<Key: Hashable>(where holds: (Element) -> Bool) -> Self where Element == Reconciler.DueTime<Key> {
        var seen: Set<Key> = []
        return Heap(unordered.filter { holds($0) && seen.insert($0.key).inserted })
    }
}
