// SPDX-License-Identifier: Apache-2.0
import AgentSettings
import AppLists
import CacheFormat
import HTTPRules
import HeapModule

/// When each icon is asked for: what is due waits for its turn, and for its origin.
struct DownloadSchedule: Sendable {
    private struct DueTime<Key: Hashable & Sendable>: Comparable, Sendable {
        var time: Timestamp
        /// The URL of an icon, or an origin.
        var key: Key
        static func < (a: DueTime, b: DueTime) -> Bool { a.time < b.time }
    }

    @Shared private var settings: Settings.Fetch
    /// Whether nothing is asked for a second time, so that there is an end however many servers fail.
    private let triesOnce: Bool
    private(set) var queue: FetchQueue
    private var dueTimes = Heap<DueTime<IconURL>>()
    /// How the origins fare that failed of late.
    private(set) var origins: [String: OriginHealth] = [:]
    /// When origins that wait may be asked again.
    private var originTimes = Heap<DueTime<String>>()
    /// How many origins are kept before those are looked for that can be forgotten.
    private var originLimit = 1024
    /// The URLs whose downloads were under way when a publication failed.
    private var invalidated: Set<IconURL> = []
    /// How many bytes of images have come since the start.
    private(set) var receivedBytes = 0
    /// Whether no download is begun because somebody said so.
    var isPaused = false
    /// Whether no download is begun until a purge is done.
    var isHeld = false
    /// Whether the agent is about to end.
    private(set) var isStopping = false

    /// - Parameters:
    ///   - settings: What was configured.
    ///   - triesOnce: Whether retries and probes that become due from now on are left to a later run.
    init(_ settings: Settings, triesOnce: Bool) {
        _settings = settings.$fetch
        self.triesOnce = triesOnce
        queue = FetchQueue(concurrency: settings.fetch.concurrency, perOrigin: settings.fetch.perHost)
    }

    /// Goes on with other settings; what is under way goes on as it was begun.
    mutating func configure(_ settings: Settings) {
        _settings = settings.$fetch
        queue.configure(concurrency: settings.fetch.concurrency, perOrigin: settings.fetch.perHost)
    }

    /// Whether downloads may begin, if there is room.
    var mayStart: Bool { !isStopping && !isPaused && !isHeld }

    var backoff: Backoff { Backoff(base: settings.retryBase, max: settings.retryMax) }

    /// When something is due, if nothing happens before.
    var nextWake: Timestamp? {
        triesOnce ? nil : [dueTimes.min?.time, originTimes.min?.time].compactMap(\.self).min()
    }

    // MARK: The queue

    /// Has an icon wait for its turn.
    mutating func add(_ url: IconURL, origin: String, for list: ListName, _ priority: FetchQueue.Priority) {
        queue.add(url, origin: origin, list: list, priority: priority)
    }

    mutating func remove(_ url: IconURL) { queue.remove(url) }
    mutating func raise(_ url: IconURL) { queue.raise(url) }
    mutating func move(_ url: IconURL, to list: ListName) { queue.move(url, to: list) }

    /// Takes out those whose turn it is.
    mutating func start() -> [IconURL] { mayStart ? queue.start() : [] }

    /// Begins no download any more.
    ///
    /// - Returns: What is under way.
    mutating func stop() -> [IconURL] {
        isStopping = true
        return Array(queue.activeURLs)
    }

    /// Invalidates all that is under way.
    mutating func invalidateActive() {
        invalidated = Set(queue.activeURLs)
    }

    /// Whether a download that is under way is invalidated.
    func isInvalid(_ url: IconURL) -> Bool { invalidated.contains(url) }

    /// A download ended: it makes room for others, and tells of its origin.
    ///
    /// - Parameters:
    ///   - url: The icon.
    ///   - outcome: How its download ended.
    ///   - isMultiplexed: Whether all answers came over HTTP/2; `nil` if that is not known.
    ///   - isOrigin: Whether the origin was asked, and no upstream.
    ///   - now: The present time.
    ///   - generator: The source of jitter.
    ///   - unstored: Takes note of origins that are to be remembered.
    /// - Returns: Whether it was invalidated.
    mutating func finish(
        _ url: IconURL, _ outcome: FetchOutcome, isMultiplexed: Bool?, ofOrigin isOrigin: Bool, at now: Timestamp,
        using generator: inout SeededGenerator, noting unstored: inout UnstoredChanges
    ) -> Bool {
        if case .image(let staged, _) = outcome { receivedBytes += staged.image.bytes }
        if let origin = queue.finish(url) {
            if let isMultiplexed { queue.setMultiplexed(origin, isMultiplexed) }
            if isOrigin { note(outcome, of: origin, at: now, using: &generator, &unstored) }
        }
        return invalidated.remove(url) != nil
    }

    // MARK: Due times

    /// Notes when an icon is to be looked at again.
    ///
    /// - Parameters:
    ///   - url: The icon.
    ///   - time: When it is due.
    ///   - count: How many icons are noted.
    ///   - noted: When an icon is noted for; times that hold no longer are forgotten once they are the most.
    mutating func note(_ url: IconURL, dueAt time: Timestamp, amongst count: Int, noted: (IconURL) -> Timestamp?) {
        dueTimes.insert(DueTime(time: time, key: url))
        guard dueTimes.count > 2 * count + 32 else { return }
        dueTimes = Self.swept(dueTimes) { noted($0.key) == $0.time }
    }

    /// The same for many at once.
    mutating func note(_ icons: [(url: IconURL, time: Timestamp)]) {
        dueTimes.insert(contentsOf: icons.map { DueTime(time: $0.time, key: $0.url) })
    }

    /// Takes out the next icon that is due, and for when it was noted.
    mutating func takeDue(at now: Timestamp) -> (url: IconURL, time: Timestamp)? {
        guard !triesOnce, let due = dueTimes.min, due.time <= now else { return nil }
        dueTimes.removeMin()
        return (due.key, due.time)
    }

    /// Those that still hold, each URL or origin once.
    private static func swept<Key>(
        _ heap: Heap<DueTime<Key>>, where holds: (DueTime<Key>) -> Bool
    ) -> Heap<DueTime<Key>> {
        var seen: Set<Key> = []
        return Heap(heap.unordered.filter { holds($0) && seen.insert($0.key).inserted })
    }

    // MARK: Origins

    /// Takes note of what the end of a download tells of its origin.
    private mutating func note(
        _ outcome: FetchOutcome, of origin: String, at now: Timestamp, using generator: inout SeededGenerator,
        _ unstored: inout UnstoredChanges
    ) {
        switch outcome {
        case .cancelled, .noRoom: break
        case .image, .notModified: noteAnswer(of: origin, at: now, &unstored)
        case .failed(let failure):
            switch failure.blame {
            case .origin: note(failure, ofOrigin: origin, at: now, using: &generator, &unstored)
            case .resource: noteAnswer(of: origin, at: now, &unstored)
            case .agent: break
            }
        }
    }

    private mutating func noteAnswer(of origin: String, at now: Timestamp, _ unstored: inout UnstoredChanges) {
        guard var health = origins[origin] else {
            queue.trust(origin)
            return
        }
        health.noteAnswer()
        if health.isWaiting(at: now) {
            setHealth(of: origin, health, at: now, &unstored)
        } else {
            setHealth(of: origin, nil, at: now, &unstored)
            queue.trust(origin)
        }
    }

    /// Counts a failure against the origin that was asked, even if it redirected to another one that failed.
    ///
    /// It is the slots of the one that was asked that are lost. What the other one asks for is for its own URLs.
    private mutating func note(
        _ failure: FetchFailure, ofOrigin origin: String, at now: Timestamp, using generator: inout SeededGenerator,
        _ unstored: inout UnstoredChanges
    ) {
        var own = failure
        if let other = failure.origin, other != origin {
            own.retryAfter = nil
            own.persistence = .passing
            if failure.wait != nil, origins[other] != nil || queue.hasWork(of: other) {
                add(failure, to: other, at: now, using: &generator, &unstored)
            }
        }
        add(own, to: origin, at: now, using: &generator, &unstored)
    }

    private mutating func add(
        _ failure: FetchFailure, to origin: String, at now: Timestamp, using generator: inout SeededGenerator,
        _ unstored: inout UnstoredChanges
    ) {
        var health = origins[origin] ?? OriginHealth()
        health.noteFailure(failure, backoff: backoff, at: now, using: &generator)
        setHealth(of: origin, health, at: now, &unstored)
        guard origins.count > originLimit else { return }
        for (origin, health) in origins where health.isForgettable(at: now) {
            setHealth(of: origin, nil, at: now, &unstored)
        }
        originLimit = max(originLimit, 2 * origins.count)
    }

    private mutating func setHealth(
        of origin: String, _ health: OriginHealth?, at now: Timestamp, _ unstored: inout UnstoredChanges
    ) {
        unstored.note(origin: origin, at: now)
        apply(health, to: origin, at: now)
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
        // Times that hold no longer are taken away once they are the most.
        guard originTimes.count > 2 * origins.count + 32 else { return }
        originTimes = Self.swept(originTimes) { origins[$0.key]?.waitsUntil == $0.time }
    }

    /// Forgets what is known against some origins: they are asked again at once.
    mutating func forgive(_ origins: Set<String>, at now: Timestamp, noting unstored: inout UnstoredChanges) {
        for origin in origins where self.origins[origin] != nil { setHealth(of: origin, nil, at: now, &unstored) }
    }

    /// Lets the origins go on whose wait is over.
    mutating func wakeOrigins(at now: Timestamp) {
        while !triesOnce, let due = originTimes.min, due.time <= now {
            originTimes.removeMin()
            // One that was made to wait longer meanwhile is due another time.
            guard let health = origins[due.key], !health.isWaiting(at: now) else { continue }
            queue.restrict(due.key, to: health.slots(of: settings.perHost, at: now))
        }
    }

    /// Takes in what is remembered of origins, as far as it can be true.
    mutating func restore(_ memos: [OriginMemo], at now: Timestamp, noting unstored: inout UnstoredChanges) {
        let latest = now + max(Backoff.longestWait, settings.retryMax)
        for memo in memos {
            var health = memo.health
            guard health.failures >= 0, !health.isForgettable(at: now) else {
                unstored.note(origin: memo.origin, at: now)
                continue
            }
            health.failures = min(health.failures, 1000)
            health.waitsUntil = min(health.waitsUntil, latest)
            apply(health, to: memo.origin, at: now)
        }
        originLimit = max(originLimit, 2 * origins.count)
    }
}
