// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import HTTPRules
import SyncPlan
import Testing

@Suite("The next check of an image")
struct NextCheckTests {
    private static let hour = 3600
    private static let year = 365 * 86_400

    /// The rules without what spreads their times.
    private static let punctual = RefreshPolicy(longestDelay: .zero)

    private static func check(
        _ fields: [(name: String, value: String)], policy: RefreshPolicy = punctual, seed: UInt64 = 1
    ) -> NextCheck {
        var generator = SeededGenerator(seed: seed)
        return NextCheck(for: Sample.response(fields), under: policy, using: &generator)
    }

    private static let table: [([(name: String, value: String)], Int, NextCheck.Rule)] = [
        ([("Cache-Control", "max-age=7200")], 7200, .freshness),
        ([("Cache-Control", "max-age=7200"), ("Age", "600")], 6600, .freshness),
        ([("Cache-Control", "max-age=3600")], hour, .freshness),
        ([("Cache-Control", "max-age=3600"), ("Age", "600")], hour, .minimum),
        ([("Cache-Control", "max-age=0")], hour, .minimum),
        ([("Cache-Control", "no-store")], hour, .minimum),
        ([("Cache-Control", "no-cache"), ("ETag", "\"a\"")], hour, .minimum),
        ([("Vary", "*")], hour, .minimum),
        ([("Expires", "0")], hour, .minimum),
        ([("Expires", Sample.date(-60))], hour, .minimum),
        ([("ETag", "\"a\"")], hour, .minimum),
        ([("Last-Modified", Sample.date(-60))], hour, .minimum),
        ([("Last-Modified", Sample.date(-72_000))], 7200, .freshness),
        ([("Last-Modified", Sample.date(-100 * year))], 86_400, .freshness),
        ([("Cache-Control", "max-age=31536000, immutable")], year, .freshness),
        ([("Cache-Control", "max-age=99999999999")], year, .maximum),
        ([("Expires", "Fri, 31 Dec 9999 23:59:59 GMT")], year, .maximum),
    ]

    @Test("the server decides the next check, between an hour and a year")
    func rules() {
        for (fields, seconds, rule) in Self.table {
            let check = Self.check(fields)
            #expect(check.time == Sample.start + .seconds(seconds), "\(fields)")
            #expect(check.rule == rule, "\(fields)")
            #expect(!check.isDue(at: Sample.start) && check.isDue(at: check.time))
        }
    }

    @Test(
        "a redirect that is stale before the image has both asked for again, not before the minimum",
        arguments: [
            ([("Cache-Control", "max-age=31536000")], 7200, 7200, .freshness),
            ([("Cache-Control", "max-age=31536000")], 60, hour, .minimum),
            ([("Cache-Control", "max-age=7200")], 86_400, 7200, .freshness),
            ([], 7200, 7200, .routine), ([], 0, hour, .routine),
        ] as [([(name: String, value: String)], Int, Int, NextCheck.Rule)])
    func redirects(fields: [(name: String, value: String)], redirect: Int, seconds: Int, rule: NextCheck.Rule) {
        var generator = SeededGenerator(seed: 1)
        let check = NextCheck(
            for: Sample.redirected(fields, for: redirect), under: Self.punctual, using: &generator)
        #expect(check.time == Sample.start + .seconds(seconds))
        #expect(check.rule == rule)
    }

    @Test("an image of which nothing is known is asked for once a day, give or take a fifth")
    func routine() {
        let times = (0..<1000).map { seed in Self.check([], seed: seed) }
        #expect(times.allSatisfy { $0.rule == .routine })
        let delays = times.map { $0.time - Sample.start }
        #expect(delays.allSatisfy { $0 >= .seconds(69_120) && $0 <= .seconds(103_680) })
        #expect(Set(delays).count > 900)
        #expect(Self.check([], seed: 7) == Self.check([], seed: 7))
    }

    @Test("checks of images with the same lifetime are spread, and come soon after it, never before")
    func spread() {
        for (fields, seconds, rule) in Self.table + [([("Cache-Control", "max-age=86400")], 86_400, .freshness)] {
            let due = Sample.start + .seconds(seconds)
            let longest = min(Duration.seconds(seconds) / 10, .seconds(3600))
            let checks = (0..<1000).map { Self.check(fields, policy: RefreshPolicy(), seed: $0) }
            #expect(checks.allSatisfy { $0.rule == rule && $0.time >= due && $0.time <= due + longest }, "\(fields)")
            #expect(checks.allSatisfy { !$0.isDue(at: Sample.start + .seconds(seconds - 1)) })
            // A tenth of them in each tenth of the time, give or take a half.
            for part in 0..<10 {
                let begin = due + longest * part / 10
                let count = checks.count { $0.time >= begin && $0.time < begin + longest / 10 }
                #expect((50...150).contains(count), "\(fields), part \(part)")
            }
        }
    }

    @Test("a daily look that refresh.minimum puts off is spread all the same")
    func spreadMinimum() {
        let policy = RefreshPolicy(minimum: .seconds(36_000), default: .seconds(60))
        let times = Set((0..<100).map { Self.check([], policy: policy, seed: $0).time })
        #expect(times.count > 90)
        #expect(times.allSatisfy { $0 - Sample.start >= .seconds(36_000) && $0 - Sample.start <= .seconds(39_600) })
    }

    @Test("the bounds of checks hold for the daily check too, and the lower one wins")
    func bounds() {
        let minute = Duration.seconds(60)
        #expect(
            Self.check([], policy: RefreshPolicy(default: minute, longestDelay: .zero)).time == Sample.start
                + .seconds(3600))
        let short = RefreshPolicy(minimum: .seconds(3600), maximum: minute, longestDelay: .zero)
        #expect(Self.check([], policy: short).time == Sample.start + .seconds(3600))
        #expect(Self.check([("Cache-Control", "max-age=9")], policy: short).rule == .minimum)
        let none = RefreshPolicy(minimum: .seconds(-5), default: .zero)
        #expect(Self.check([], policy: none).time == Sample.start)
        let long = RefreshPolicy(default: .seconds(3_155_760_000), longestDelay: .zero)
        #expect(Self.check([], policy: long).time == Sample.start + .seconds(Self.year))
    }

    @Test(
        "a clock that is set back costs one request, a small correction none, and a jump ahead one",
        arguments: [
            (0, false), (-3600, false), (-3601, true), (-1_000_000_000, true), (7199, false), (7200, true),
            (1_000_000_000, true),
        ])
    func clock(seconds: Int, isDue: Bool) {
        let now = Sample.start + .seconds(seconds)
        let fields = [("Cache-Control", "max-age=7200")]
        #expect(Self.check(fields).isDue(at: now) == isDue)
        var generator = SeededGenerator(seed: 1)
        let answer = StoredResponse(fields: HTTPFields(fields), requestTime: now, responseTime: now)
        #expect(!NextCheck(for: answer, under: RefreshPolicy(), using: &generator).isDue(at: now))
    }

    @Test("the furthest times do not overflow the next check")
    func extremes() {
        let ends = [-9_000_000_000_000, 0, 9_000_000_000_000].map { Timestamp(sinceEpoch: .seconds($0)) }
        for received in ends {
            let response = StoredResponse(fields: HTTPFields(), requestTime: received, responseTime: received)
            var generator = SeededGenerator(seed: 1)
            let check = NextCheck(for: response, under: RefreshPolicy(), using: &generator)
            #expect(ends.allSatisfy { check.isDue(at: $0) == ($0 != received) })
        }
    }
}
