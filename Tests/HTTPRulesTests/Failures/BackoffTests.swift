// SPDX-License-Identifier: Apache-2.0
import AppLists
import CacheFormat
import ImageChecks
import SyncPlan
import Testing

@testable import HTTPRules

@Suite("Delays after failures")
struct BackoffTests {
    private static let backoff = Backoff(base: .seconds(1), max: .seconds(600))

    private static func delays(
        _ persistence: FetchFailure.Persistence, attempt: Int, of backoff: Backoff = backoff
    ) -> [Duration?] {
        var generator = SeededGenerator(seed: 1)
        return (0..<1000).map { _ in backoff.delay(after: persistence, attempt: attempt, using: &generator) }
    }

    @Test("a random fraction is the one of the standard library")
    func fraction() {
        var (generator, other) = (SeededGenerator(seed: 3), SeededGenerator(seed: 3))
        // One in 2,000 numbers is drawn again.
        for _ in 0..<20_000 { #expect(generator.fraction() == Double.random(in: 0...1, using: &other)) }
        #expect(generator.next() == other.next())
    }

    @Test(
        "a delay lies within its bounds, and uses all of them",
        arguments: [
            (.passing, 1, .zero, .seconds(1)), (.passing, 2, .zero, .seconds(2)), (.passing, 5, .zero, .seconds(16)),
            (.passing, 10, .zero, .seconds(512)), (.passing, 11, .zero, .seconds(600)),
            (.passing, .max, .zero, .seconds(600)), (.momentary, 1, .zero, .seconds(1)),
            (.momentary, 8, .zero, .seconds(128)), (.momentary, 9, .seconds(2880), .seconds(4320)),
            (.momentary, 10, .seconds(5760), .seconds(8640)), (.momentary, .max, .seconds(69_120), .seconds(103_680)),
            (.throttled, 3, .zero, .seconds(4)),
            (.lasting, 1, .seconds(2880), .seconds(4320)), (.lasting, 2, .seconds(5760), .seconds(8640)),
            (.lasting, 5, .seconds(46_080), .seconds(69_120)), (.lasting, 6, .seconds(69_120), .seconds(103_680)),
            (.lasting, .max, .seconds(69_120), .seconds(103_680)), (.forbidden, 1, .seconds(17_280), .seconds(25_920)),
            (.forbidden, 9, .seconds(17_280), .seconds(25_920)), (.gone, 1, .seconds(483_840), .seconds(725_760)),
        ] as [(FetchFailure.Persistence, Int, Duration, Duration)])
    func bounds(persistence: FetchFailure.Persistence, attempt: Int, low: Duration, high: Duration) throws {
        let delays = Self.delays(persistence, attempt: attempt).compactMap(\.self)
        let (least, most) = (try #require(delays.min()), try #require(delays.max()))
        #expect(delays.count == 1000)
        #expect(least >= low && most <= high)
        let edge = (high - low) / 20
        #expect(least < low + edge && most > high - edge)
    }

    @Test(
        "a Retry-After wins over the backoff of the first failure, up to a day",
        arguments: [
            (503, 120, 120, 132), (429, 1, 1, 1.1), (403, 60, 60, 66), (202, 60, 60, 66), (500, 86_400, 86_400, 86_400),
            (429, 1_000_000_000, 86_400, 86_400), (503, 0, 0, 1), (429, -5, 0, 1), (404, 5, 2880, 4320),
            (410, 5, 483_840, 725_760),
        ] as [(Int, Int, Double, Double)])
    func retryAfter(status: Int, seconds: Int, low: Double, high: Double) throws {
        let failure = FetchFailure.status(status, retryAfter: .seconds(seconds))
        var generator = SeededGenerator(seed: 1)
        for _ in 0..<100 {
            let delay = try #require(Self.backoff.delay(after: failure, attempt: 1, using: &generator))
            #expect(delay >= .seconds(low) && delay <= .seconds(high))
            #expect(delay <= Self.backoff.longest(after: failure.code))
        }
    }

    /// The status, the seconds that the server asks for, the attempt, and the bounds of the delay.
    @Test(
        "from the fourth failure in a row on, the longer of Retry-After and backoff counts",
        arguments: [
            (503, 1, 3, 1, 1.1), (503, 1, 4, 1, 8), (503, 1, 11, 1, 600), (503, 1, .max, 1, 600), (503, 0, 4, 0, 8),
            (429, 1, 3, 1, 1.1), (429, 2, 11, 2, 600), (429, 3600, 11, 3600, 3960), (429, 90_000, 11, 86_400, 86_400),
            (403, 1, 3, 1, 1.1), (403, 1, 4, 17_280, 25_920), (401, 2, 124, 17_280, 25_920),
            (403, 21_600, 4, 21_600, 25_920), (403, 86_400, 4, 86_400, 86_400), (202, 1, 3, 1, 1.1),
            (202, 1, 8, 1, 128), (202, 1, 9, 2880, 4320), (425, 1, .max, 69_120, 103_680),
        ] as [(Int, Int, Int, Double, Double)])
    func shortRetryAfter(status: Int, seconds: Int, attempt: Int, low: Double, high: Double) throws {
        let failure = FetchFailure.status(status, retryAfter: .seconds(seconds))
        var generator = SeededGenerator(seed: 1)
        let delays = (0..<1000).compactMap { _ in
            Self.backoff.delay(after: failure, attempt: attempt, using: &generator)
        }
        let (least, most) = (try #require(delays.min()), try #require(delays.max()))
        #expect(delays.count == 1000)
        #expect(least >= .seconds(low) && most <= .seconds(high) && most <= Self.backoff.longest(after: failure.code))
        let edge = Duration.seconds((high - low) / 20)
        #expect(least <= .seconds(low) + edge && most >= .seconds(high) - edge)
    }

    @Test(
        "a failure is the origin's, the URL's or the agent's",
        arguments: [
            (FetchFailure(.connect, ""), .origin), (FetchFailure(.connectionClosed, ""), .origin),
            (FetchFailure(.dns, ""), .origin), (FetchFailure(.tls, ""), .origin),
            (cut(isProgress: false), .origin), (cut(isProgress: true), .resource),
            (FetchFailure(.cutShort, ""), .resource),
            (.timeout("10 s"), .origin), (.status(500), .origin), (.status(503), .origin), (.status(429), .origin),
            (.status(503, retryAfter: .seconds(1)), .origin), (.status(403, retryAfter: .seconds(1)), .resource),
            (.status(403), .resource), (.status(404), .resource),
            (.status(404, retryAfter: .seconds(1)), .resource), (.status(410), .resource), (.status(408), .resource),
            (.status(425), .resource), (.status(304), .resource), (.status(501), .resource),
            (.tooLarge(limit: .mebibytes(1)), .resource),
            (FetchFailure(.image(.notAnImage), ""), .resource), (FetchFailure(.disk, ""), .agent),
            (FetchFailure(.addressRefused, ""), .agent), (FetchFailure(.url(.badURL), ""), .agent),
        ] as [(FetchFailure, FetchFailure.Blame)])
    func blame(failure: FetchFailure, blame: FetchFailure.Blame) {
        #expect(failure.blame == blame)
    }

    /// A connection that was closed before the image was complete.
    private static func cut(isProgress: Bool) -> FetchFailure {
        var failure = FetchFailure(.connectionClosed, "")
        failure.cut = FetchFailure.Cut(end: 100_000, length: nil, isWhole: true, isKept: true)
        failure.cut?.isProgress = isProgress
        return failure
    }

    @Test(
        "a failure may be a cut if the connection can have ended the body",
        arguments: [
            (FetchFailure(.connectionClosed, ""), true), (.timeout("x"), true), (.image(.truncated(.png)), true),
            (.image(.truncatedAtSource(.png)), false), (.image(.damaged(.png, what: "x")), false),
            (FetchFailure(.connect, ""), false), (FetchFailure(.disk, ""), false), (.status(503), false),
            (FetchFailure(.cutShort, ""), false),
        ] as [(FetchFailure, Bool)])
    func cuts(failure: FetchFailure, mayBeCut: Bool) {
        #expect(failure.mayBeCut == mayBeCut)
    }

    @Test("a refused URL is never retried")
    func refused() {
        #expect(Self.delays(.refused, attempt: 1).allSatisfy { $0 == nil })
    }

    @Test("the longest delays do not overflow")
    func extremes() {
        let century = Duration.seconds(3_155_760_000)
        let delays = Self.delays(.passing, attempt: .max, of: Backoff(base: century, max: century))
        #expect(delays.allSatisfy { $0.map { $0 <= century } ?? false })
        let small = Self.delays(.passing, attempt: 1, of: Backoff(base: .seconds(60), max: .milliseconds(1)))
        #expect(small.allSatisfy { $0.map { $0 <= .milliseconds(1) } ?? false })
    }

    @Test("the same seed gives the same delays of retries")
    func seeded() {
        #expect(Self.delays(.passing, attempt: 4) == Self.delays(.passing, attempt: 4))
    }

    /// The registered statuses that are failures, by how long they are likely to last, and some that are not registered.
    private static let statusTable: [(FetchFailure.Persistence, [Int])] = [
        (.momentary, [202, 304, 408, 421, 423, 425]), (.passing, [500, 502, 503, 504, 507, 511]),
        (.passing, [509, 520, 521, 522, 523, 524, 525, 526, 530, 599]), (.throttled, [429]), (.forbidden, [401, 403]),
        (.gone, [410]), (.lasting, [100, 101, 102, 103, 104, 201, 204, 205, 206, 207, 208, 226]),
        (.lasting, [300, 305, 306]),
        (.lasting, [400, 402, 404, 405, 406, 407, 409, 411, 412, 413, 414, 415, 416, 417]),
        (.lasting, [418, 422, 424, 426, 428, 431, 444, 451, 499]), (.lasting, [501, 505, 506, 508, 510]),
        (.lasting, [600, 999]),
    ]

    @Test("an HTTP status says how long its cause is likely to last", arguments: statusTable)
    func statuses(persistence: FetchFailure.Persistence, statuses: [Int]) {
        for status in statuses {
            #expect(FetchFailure.status(status).persistence == persistence, "\(status)")
            #expect(FetchFailure.status(status).code.rawValue == "http-\(status)")
        }
    }

    @Test("every status has a persistence, and only 5xx that pass and 429 are failures of the origin")
    func allStatuses() {
        for status in 100...999 {
            let failure = FetchFailure.status(status)
            let isOrigin = status == 429 || failure.persistence == .passing && (500...599).contains(status)
            #expect(failure.blame == (isOrigin ? .origin : .resource), "\(status)")
            #expect(failure.persistence != .refused, "\(status)")
        }
    }
}
