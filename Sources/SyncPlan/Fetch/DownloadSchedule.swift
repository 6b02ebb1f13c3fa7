// SPDX-License-Identifier: Apache-2.0
import AgentSettings
import CacheFormat
import HTTPRules
import HeapModule

/// Decides when each icon is requested: has due times, the queue, and the state of the origins.
struct DownloadSchedule: Sendable {
    private struct DueTime<Key: Hashable & Sendable>: Comparable, Sendable {
        var time: Timestamp
        /// The icon or origin that is due.
        var key: Key
        static func < (a: DueTime, b: DueTime) -> Bool { a.time < b.time }
    }

    @Shared private var settings: Settings.Fetch
    /// Whether nothing is retried, so that a run with `--once` ends however many servers fail.
    let triesOnce: Bool
    var queue: FetchQueue
    private var dueTimes = Heap<DueTime<IconID>>()
    /// The origins that failed recently.
    private(set) var origins: [String: OriginHealth] = [:]
    /// The delays that origins asked for in the last minute; an image, or a failure of one URL such as 404, ends them.
    private var delays: [String: DelayRequests] = [:]
    /// The number of origins at which all recent delays are forgotten, to limit memory.
    private static let delayLimit = 1024
    /// When waiting origins may be requested again.
    private var originTimes = Heap<DueTime<String>>()
    /// The number of origins at which those are removed whose failures no longer count.
    private var originLimit = 1024
    /// The URLs that were in flight when a publication failed.
    private var invalidated: Set<IconURL> = []
    private(set) var receivedBytes = 0
    var networkLogin = NetworkLogin()
    /// The icons that failed before a network's login was suspected, or that can be retried after it.
    private var loginIcons: [IconURL] = []
    /// The pauses of new downloads.
    var pauses = Pauses()
    var isPaused: Bool { !pauses.isEmpty }
    var isHeld = false
    private(set) var isStopping = false

    init(_ settings: Settings, triesOnce: Bool) {
        _settings = settings.$fetch
        self.triesOnce = triesOnce
        queue = FetchQueue(concurrency: settings.fetch.concurrency, perOrigin: settings.fetch.perHost)
    }

    /// Applies changed settings; downloads in flight keep the old ones.
    mutating func configure(_ settings: Settings) {
        if settings.fetch.maxRate != nil, self.settings.maxRate == nil { queue.forgetMultiplexing() }
        _settings = settings.$fetch
        queue.configure(concurrency: settings.fetch.concurrency, perOrigin: settings.fetch.perHost)
    }

    var mayStart: Bool { !isStopping && !isPaused && !isHeld }

    var backoff: Backoff { Backoff(base: settings.retryBase, max: settings.retryMax) }

    /// When the next icon or origin is due, if nothing happens before.
    var nextWake: Timestamp? {
        triesOnce ? nil : [dueTimes.min?.time, originTimes.min?.time, pauses.nextEnd].compactMap(\.self).min()
    }

    // MARK: The queue

    /// Dequeues the icons to start now.
    mutating func start() -> [IconURL] { mayStart ? queue.start() : [] }

    /// Stops new downloads for good, and returns those in flight.
    mutating func stop() -> [IconURL] {
        isStopping = true
        return Array(queue.activeURLs)
    }

    mutating func invalidateActive() {
        invalidated = Set(queue.activeURLs)
    }

    func isInvalid(_ url: IconURL) -> Bool { invalidated.contains(url) }

    /// Ends a download: frees its slot, and updates its origin if a request was sent.
    ///
    /// `last` is the code of the icon's previous failure. Returns whether the download was invalidated.
    mutating func finish(
        _ ended: EndedDownload, after last: FetchFailure.Code? = nil, ofOrigin isOrigin: Bool, isRequest: Bool = true,
        in turn: inout Turn
    ) -> Bool {
        let (url, outcome) = (ended.url, ended.outcome)
        if isRequest, case .image(let staged, _) = outcome { receivedBytes += staged.image.bytes }
        if let origin = queue.finish(url) {
            // With a limited rate, each request has a connection of its own.
            if let isMultiplexed = ended.isMultiplexed {
                queue.setMultiplexed(origin, isMultiplexed && settings.maxRate == nil)
            }
            if isOrigin, isRequest {
                record(outcome, of: url, from: origin, in: &turn)
                loginIcons += networkLogin.record(
                    NetworkLogin.Answer(outcome), of: url, from: origin, isRepeated: outcome.isFailure(last),
                    at: turn.now)
            }
        }
        return !invalidated.isEmpty && invalidated.remove(url) != nil
    }

    /// Removes and returns the icons to be decided again: they got a network's login page before it was suspected, or
    /// can be retried because the suspicion has ended.
    mutating func drainLoginIcons() -> [IconURL] { exchange(&loginIcons, with: []) }

    /// Returns the icons requested in place of login probes that left, each with a time no earlier than the probe's
    /// next attempt, so that there are no more requests if each icon fails in another way.
    mutating func replaceLoginProbes(in turn: inout Turn) -> [(url: IconURL, time: Timestamp)] {
        networkLogin.replaceProbes(at: turn.now).map {
            ($0, turn.now + NetworkLogin.interval.jittered(using: &turn.generator))
        }
    }

    // MARK: Due times

    /// Schedules an icon's next check.
    ///
    /// An entry is outdated if its icon is due at another time, or if the icon's number was given to another icon.
    mutating func schedule(_ icon: IconID, at time: Timestamp) {
        dueTimes.insert(DueTime(time: time, key: icon))
    }

    /// Whether most entries are outdated, if `count` icons are scheduled.
    func isMostlyOutdated(amongst count: Int) -> Bool { dueTimes.count > 2 * count + 32 }

    mutating func removeOutdated(in icons: IconTable) {
        dueTimes = Self.swept(dueTimes) { icons[$0.key].icon.due == $0.time }
    }

    mutating func schedule(_ icons: [(icon: IconID, time: Timestamp)]) {
        dueTimes.insert(contentsOf: icons.map { DueTime(time: $0.time, key: $0.icon) })
    }

    mutating func popDue(at now: Timestamp) -> (icon: IconID, time: Timestamp)? {
        guard !triesOnce, let due = dueTimes.min, due.time <= now else { return nil }
        dueTimes.removeMin()
        return (due.key, due.time)
    }

    /// The entries that are still valid, one for each URL or origin.
    private static func swept<Key>(
        _ heap: Heap<DueTime<Key>>, where holds: (DueTime<Key>) -> Bool
    ) -> Heap<DueTime<Key>> {
        var seen: Set<Key> = []
        return Heap(heap.unordered.filter { holds($0) && seen.insert($0.key).inserted })
    }

    // MARK: Origins

    private mutating func record(
        _ outcome: FetchOutcome, of url: IconURL, from origin: String, in turn: inout Turn
    ) {
        switch outcome {
        case .cancelled, .noRoom: break
        case .image, .notModified:
            delays[origin] = nil
            recordAnswer(of: origin, in: &turn)
        case .failed(let failure):
            guard failure.blame != .agent else { return }
            // The origin that answered; after a redirect it is not the requested one.
            let answering = failure.origin ?? origin
            let delay = delay(ofOrigin: answering, after: failure, of: url, at: turn.now)
            if failure.blame == .origin || delay != nil {
                record(failure, delay: delay, ofOrigin: origin, in: &turn)
            } else {
                if failure.wait == nil { delays[answering] = nil }
                recordAnswer(of: origin, in: &turn)
            }
        }
    }

    /// The delay of a whole origin after a response that asks for one (`Retry-After`); `nil` if only the URL waits.
    ///
    /// A 429 is about the client, so it delays the origin. Other statuses delay it only if several URLs ask for it, and
    /// no longer than ``Settings/Fetch/retryMax``: a busy owner must not hold up its neighbours.
    private mutating func delay(
        ofOrigin origin: String, after failure: FetchFailure, of url: IconURL, at now: Timestamp
    ) -> Duration? {
        guard let wait = failure.wait else { return nil }
        if failure.persistence == .throttled { return wait }
        if delays.count >= Self.delayLimit, delays[origin] == nil { delays = [:] }
        let common = delays[origin, default: DelayRequests()].record(wait, for: url, at: now)
        return common.map { min($0, settings.retryMax) }
    }

    private mutating func recordAnswer(of origin: String, in turn: inout Turn) {
        guard var health = origins[origin] else {
            queue.trust(origin)
            return
        }
        health.recordAnswer()
        if health.isWaiting(at: turn.now) {
            setHealth(of: origin, health, in: &turn)
        } else {
            setHealth(of: origin, nil, in: &turn)
            queue.trust(origin)
        }
    }

    /// Counts a failure against the requested origin, even if it redirected to another one that failed.
    ///
    /// The slots in use are those of the requested origin. A delay of the other origin applies to its own URLs.
    private mutating func record(
        _ failure: FetchFailure, delay: Duration?, ofOrigin origin: String, in turn: inout Turn
    ) {
        var own = failure
        own.retryAfter = delay
        if let other = failure.origin, other != origin {
            if delay != nil, origins[other] != nil || queue.hasWork(of: other) { add(own, to: other, in: &turn) }
            own.retryAfter = nil
            own.persistence = .passing
        }
        add(own, to: origin, in: &turn)
    }

    private mutating func add(_ failure: FetchFailure, to origin: String, in turn: inout Turn) {
        var health = origins[origin] ?? OriginHealth()
        health.recordFailure(failure, backoff: backoff, at: turn.now, using: &turn.generator)
        setHealth(of: origin, health, in: &turn)
        guard origins.count > originLimit else { return }
        for (origin, health) in origins where health.isForgettable(at: turn.now) {
            setHealth(of: origin, nil, in: &turn)
        }
        originLimit = max(originLimit, 2 * origins.count)
    }

    private mutating func setHealth(of origin: String, _ health: OriginHealth?, in turn: inout Turn) {
        turn.memos.mark(.origin(origin), at: turn.now)
        apply(health, to: origin, at: turn.now)
    }

    private mutating func apply(_ health: OriginHealth?, to origin: String, at now: Timestamp) {
        origins[origin] = health
        guard let health else {
            queue.lift(origin)
            return
        }
        queue.restrict(origin, to: health.slots(of: settings.perHost, at: now))
        guard health.isWaiting(at: now) else { return }
        originTimes.insert(DueTime(time: health.waitsUntil, key: origin))
        guard originTimes.count > 2 * origins.count + 32 else { return }
        originTimes = Self.swept(originTimes) { origins[$0.key]?.waitsUntil == $0.time }
    }

    /// Forgets the failures of some origins, so that they are requested again at once.
    mutating func forgive(_ origins: Set<String>, in turn: inout Turn) {
        for origin in origins where self.origins[origin] != nil { setHealth(of: origin, nil, in: &turn) }
    }

    /// Lets a broken origin be probed now, by one request; after other settings, its waits grow anew.
    mutating func probe(_ origin: String, isSetAnew: Bool, in turn: inout Turn) {
        guard var health = origins[origin], health.isBroken, health.isWaiting(at: turn.now) else { return }
        health.endOwnWait(at: turn.now)
        if isSetAnew { health.forgetProbes() }
        setHealth(of: origin, health, in: &turn)
    }

    mutating func wakeOrigins(at now: Timestamp) {
        while !triesOnce, let due = originTimes.min, due.time <= now {
            originTimes.removeMin()
            // An origin whose wait was extended has a later entry.
            guard let health = origins[due.key], !health.isWaiting(at: now) else { continue }
            queue.restrict(due.key, to: health.slots(of: settings.perHost, at: now))
        }
    }

    /// Restores the stored failures of origins, as far as they are plausible.
    mutating func restore(_ memos: [OriginMemo], in turn: inout Turn) {
        let now = turn.now
        let longest = max(Backoff.longestWait, settings.retryMax)
        for memo in memos {
            var health = memo.health
            guard health.failures >= 0, !health.isForgettable(at: now) else {
                turn.memos.mark(.origin(memo.origin), at: now)
                continue
            }
            health.failures = min(health.failures, 1000)
            health.correct(longest: longest, own: settings.retryMax, at: now)
            apply(health, to: memo.origin, at: now)
        }
        originLimit = max(originLimit, 2 * origins.count)
    }
}

extension FetchOutcome {
    /// Whether the outcome is a failure with this code.
    fileprivate func isFailure(_ code: FetchFailure.Code?) -> Bool {
        if case .failed(let failure) = self { failure.code == code } else { false }
    }
}
