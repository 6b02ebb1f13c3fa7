// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import FoundationEssentials
import HTTPRules
import Testing

@testable import SyncPlan

@Suite("The health of an origin")
struct OriginHealthTests {
    private static let now = Sample.start
    private static let backoff = Backoff(base: .seconds(1), max: .seconds(600))
    private var generator = SeededGenerator(seed: 1)

    private mutating func fail(_ health: inout OriginHealth, _ failure: FetchFailure = .status(503), at now: Timestamp)
    {
        health.recordFailure(failure, backoff: Self.backoff, at: now, using: &generator)
    }

    /// The origin after so many failures, each of them when the wait for the one before was over.
    private mutating func health(after failures: Int) -> OriginHealth {
        var health = OriginHealth()
        for _ in 0..<failures { fail(&health, at: max(Self.now, health.waitsUntil)) }
        return health
    }

    @Test("each failure leaves an origin fewer slots, and the fifth makes it wait")
    mutating func slots() {
        let slots = (0...5).map { OriginHealth(failures: $0).slots(of: 4, at: Self.now) }
        #expect(slots == [4, 4, 3, 2, 1, 1])
        #expect((0...5).map { OriginHealth(failures: $0).slots(of: 100, at: Self.now) } == [100, 4, 3, 2, 1, 1])
        #expect((0...5).map { OriginHealth(failures: $0).slots(of: 1, at: Self.now) } == [1, 1, 1, 1, 1, 1])
        for failures in 1...4 {
            let health = health(after: failures)
            #expect(!health.isBroken && !health.isWaiting(at: Self.now))
        }
        let broken = health(after: 5)
        #expect(broken.isBroken && broken.isWaiting(at: Self.now) && broken.slots(of: 4, at: Self.now) == 0)
        #expect(broken.slots(of: 4, at: broken.waitsUntil) == 1)
        #expect(broken.waitsUntil <= Self.now + .seconds(16))
    }

    @Test("a broken origin is probed more and more rarely, but at least every ten minutes")
    mutating func probes() {
        var health = health(after: 5)
        var longest = Duration.zero
        for failures in 6...40 {
            let now = health.waitsUntil
            fail(&health, at: now)
            #expect(health.failures == failures && health.waitsUntil - now <= .seconds(600))
            longest = max(longest, health.waitsUntil - now)
        }
        #expect(longest > .seconds(400))
    }

    @Test("requests under way when an origin broke do not prolong its wait")
    mutating func stragglers() {
        var health = health(after: 5)
        let before = health
        for _ in 0..<100 { fail(&health, at: Self.now) }
        #expect(health == before)
    }

    @Test("an answer makes an origin healthy, but does not end a Retry-After")
    mutating func answer() {
        var health = health(after: 4)
        fail(&health, .status(429, retryAfter: .seconds(100)), at: Self.now)
        #expect(health.waitsUntil >= Self.now + .seconds(100) && health.waitsUntil <= Self.now + .seconds(110))
        health.recordAnswer()
        #expect(health.failures == 0 && health.isWaiting(at: Self.now + .seconds(99)))
        #expect(health.slots(of: 4, at: Self.now + .seconds(111)) == 4)
    }

    @Test("the wait of a broken origin can be ended, but not a delay that it asked for")
    mutating func ownWait() {
        var health = health(after: 9)
        let now = health.waitsUntil
        fail(&health, at: now)
        #expect(health.isWaiting(at: now))
        health.endOwnWait(at: now)
        #expect(health.failures > OriginHealth.threshold)
        health.forgetProbes()
        #expect(health.slots(of: 4, at: now) == 1 && health.failures == OriginHealth.threshold)
        fail(&health, .status(503, retryAfter: .seconds(100)), at: now)
        let asked = health.waitsUntil
        fail(&health, at: asked)
        let later = health.waitsUntil
        health.endOwnWait(at: now)
        #expect(health.waitsUntil == min(asked, later) && asked >= now + .seconds(100))
        health.endOwnWait(at: asked + .seconds(1))
        #expect(!health.isWaiting(at: asked))
    }

    /// A health as older versions stored it.
    private struct Older: Encodable {
        var failures = 9
        var waitsUntil: Timestamp
    }

    /// What is left of a stored health's wait under a `fetch.retryMax` of 600 s, once the own wait is over.
    private static func rest(of stored: some Encodable) throws -> Duration {
        var health = try JSONDecoder().decode(OriginHealth.self, from: JSONEncoder().encode(stored))
        health.correct(longest: .seconds(86_400), own: .seconds(600), at: now)
        health.endOwnWait(at: now)
        return health.waitsUntil - now
    }

    @Test(
        "a long stored wait of a version that does not say was asked for, unless a wrong clock made it",
        arguments: [(500, 0), (7200, 7200), (86_400, 86_400), (100_000, 0)])
    func stored(seconds: Int, rest: Int) throws {
        let end = Self.now + .seconds(seconds)
        #expect(try Self.rest(of: Older(waitsUntil: end)) == .seconds(rest))
        #expect(try Self.rest(of: OriginHealth(failures: 9, waitsUntil: end)) == .zero)
    }

    @Test("a stored wait that the origin asked for goes on, unless a wrong clock made it")
    mutating func storedAsked() throws {
        var health = health(after: 9)
        fail(&health, .status(503, retryAfter: .seconds(7200)), at: Self.now)
        #expect(try Self.rest(of: health) >= .seconds(7200))
        fail(&health, .status(503, retryAfter: .seconds(7200)), at: Self.now + .seconds(86_400))
        #expect(try Self.rest(of: health) == .zero)
    }

    @Test("an origin that throttles waits at its first failure; only a longer Retry-After prolongs the wait")
    mutating func throttling() {
        var health = OriginHealth()
        fail(&health, .status(429), at: Self.now)
        #expect(health.isWaiting(at: Self.now) && health.waitsUntil <= Self.now + .seconds(1))
        fail(&health, .status(503, retryAfter: .seconds(1000)), at: Self.now)
        let long = health.waitsUntil
        #expect(long >= Self.now + .seconds(1000))
        fail(&health, .status(503, retryAfter: .seconds(5)), at: Self.now)
        #expect(health.waitsUntil == long)
        fail(&health, .status(503, retryAfter: .seconds(1_000_000_000)), at: Self.now)
        #expect(health.waitsUntil == Self.now + .seconds(86_400))
    }

    @Test("an origin that always asks for a second is requested more and more rarely", arguments: [403, 429, 503])
    mutating func shortDelays(status: Int) {
        var health = OriginHealth()
        var requests = 0
        while health.waitsUntil < Self.now + .seconds(3600) {
            let now = max(Self.now, health.waitsUntil)
            fail(&health, .status(status, retryAfter: .seconds(1)), at: now)
            requests += 1
            #expect(health.waitsUntil >= now + .seconds(1) && health.waitsUntil <= now + .seconds(600))
            if requests <= Backoff.shortWaits { #expect(health.waitsUntil <= now + .seconds(1.2)) }
        }
        #expect(requests > 10 && requests < 40)
    }

    @Test("requests under way when an origin broke prolong its wait by no more than it asks for")
    mutating func askingStragglers() {
        var health = health(after: 12)
        let now = health.waitsUntil
        fail(&health, at: now)
        let before = health
        for _ in 0..<100 { fail(&health, .status(503, retryAfter: .seconds(1)), at: now) }
        #expect(health.failures == before.failures)
        #expect(health.waitsUntil <= max(before.waitsUntil, now + .seconds(1.2)))
    }

    @Test("failures of the day before yesterday do not count")
    mutating func memory() {
        var health = health(after: 4)
        let later = Self.now + .seconds(2 * 86_400)
        #expect(!health.isForgettable(at: Self.now) && health.isForgettable(at: later))
        fail(&health, at: later)
        #expect(health.failures == 1)
    }
}
