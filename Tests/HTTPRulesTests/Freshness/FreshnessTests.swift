// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import HTTPRules
import Testing

@Suite("Freshness")
struct FreshnessTests {
    /// Fields, how long the response is fresh from its receipt, and the arithmetic in words.
    private static let table: [([(name: String, value: String)], Int, String)] = [
        (
            [("Cache-Control", "max-age=3600"), ("Age", "120")], 3480,
            "max-age 3600 s, age 120 s when received: fresh for 3480 s"
        ),
        (
            [("Cache-Control", "max-age=3600"), ("Date", Sample.date(-7200))], 0,
            "max-age 3600 s, age 7200 s when received: stale for 3600 s"
        ),
        ([("Cache-Control", "max-age=0")], 0, "max-age 0 s, age 0 s when received: stale for 0 s"),
        (
            [("Cache-Control", "max-age=0"), ("Last-Modified", Sample.date(-8_640_000))], 0,
            "max-age 0 s, age 0 s when received: stale for 0 s"
        ),
        (
            [("Cache-Control", "max-age=60"), ("Expires", Sample.date(-60))], 60,
            "max-age 60 s, age 0 s when received: fresh for 60 s"
        ),
        (
            [("Cache-Control", "s-maxage=9, public"), ("Expires", Sample.date(60)), ("Date", Sample.date(20))], 40,
            "Expires 40 s after Date, age 0 s when received: fresh for 40 s"
        ),
        (
            [("Expires", Sample.date(300)), ("Date", Sample.date(400))], 0,
            "Expires 0 s after Date, age 0 s when received: stale for 0 s"
        ),
        (
            [("Expires", Sample.date(10)), ("Date", "foo")], 10,
            "Expires 10 s after Date, age 0 s when received: fresh for 10 s"
        ),
        ([("Expires", "0")], 0, "malformed Expires: never fresh"),
        ([("Expires", "x"), ("Expires", Sample.date(60))], 0, "malformed Expires: never fresh"),
        (
            [("Last-Modified", Sample.date(-8640)), ("Date", Sample.date(0))], 864,
            "unchanged for 8640 s, a tenth of it is 864 s, age 0 s when received: fresh for 864 s"
        ),
        (
            [("Last-Modified", Sample.date(-8_640_000))], 86_400,
            "unchanged for 8640000 s, at most 86400 s, age 0 s when received: fresh for 86400 s"
        ),
        ([("Last-Modified", Sample.date(10))], 0, "no freshness lifetime given"),
        ([("Last-Modified", "yesterday")], 0, "no freshness lifetime given, and no validator"),
        ([("ETag", "\"a\"")], 0, "no freshness lifetime given"),
        ([], 0, "no freshness lifetime given, and no validator"),
        ([("Cache-Control", "immutable")], 0, "no freshness lifetime given, and no validator"),
        (
            [("Pragma", "no-cache"), ("Cache-Control", "max-age=5")], 5,
            "max-age 5 s, age 0 s when received: fresh for 5 s"
        ),
        ([("Cache-Control", "max-age=3600, no-store")], 0, "no-store: never fresh"),
        ([("Cache-Control", "max-age=3600, no-cache")], 0, "no-cache: never fresh"),
        ([("Cache-Control", "max-age=3600"), ("Vary", "*")], 0, "Vary: *: never fresh"),
        ([("Cache-Control", "max-age=-1"), ("Expires", Sample.date(60))], 0, "malformed max-age: never fresh"),
    ]

    @Test("the freshness lifetime follows from the fields, and says how")
    func lifetimes() {
        for (fields, seconds, text) in Self.table {
            let freshness = Freshness(of: Sample.response(fields))
            #expect(freshness.end == Sample.start + .seconds(seconds), "\(fields)")
            #expect(freshness.isFresh(at: Sample.start) == (seconds > 0), "\(fields)")
            #expect(!freshness.isFresh(at: freshness.end), "\(fields)")
            #expect(freshness.description == text)
        }
    }

    @Test(
        "a response is stale at the latest when a redirect to it is",
        arguments: [
            (7200, 60, 60), (60, 7200, 60), (60, 0, 0),
        ])
    func redirects(age: Int, redirect: Int, seconds: Int) {
        let freshness = Freshness(of: Sample.redirected([("Cache-Control", "max-age=\(age)")], for: redirect))
        #expect(freshness.end == Sample.start + .seconds(seconds))
        #expect(freshness.isFresh(at: Sample.start) == (seconds > 0))
        #expect(!freshness.isFresh(at: freshness.end))
        #expect(freshness.endsWithRedirect == (redirect < age))
        let own = "max-age \(age) s, age 0 s when received: fresh for \(age) s"
        #expect(freshness.description == "\(own); the redirect to it is fresh for \(redirect) s")
    }

    @Test("the text of a freshness tells what a redirect said, and that the same image came again")
    func redirectCause() {
        func response(_ seconds: Int, _ cause: String?, after hours: Int = 0, key: Int = 0) -> StoredResponse {
            let time = Sample.start + .seconds(3600 * hours)
            return StoredResponse(
                url: "https://cdn.example/\(key)", fields: HTTPFields([("Cache-Control", "no-cache")]),
                requestTime: time, responseTime: time,
                redirectLifetime: .seconds(seconds), redirectCause: cause)
        }
        let first = response(0, "302, no-store")
        #expect(Freshness(of: first).description.hasSuffix("; the redirect to it (302, no-store) is fresh for 0 s"))
        let same = response(0, nil, after: 1)
        #expect(same.bringingNothing(after: first, under: RefreshPolicy()) == same)
        let again = response(0, "302, no-store", after: 1, key: 1).bringingNothing(after: first, under: RefreshPolicy())
        let text = "; the redirect to it (302, no-store; the same image came again) is fresh for 7200 s"
        #expect(Freshness(of: again).description.hasSuffix(text))
        for (hours, seconds) in [(1, 7200), (2, 7200), (4, 21_600), (99, 86_400)] {
            let third = response(0, nil, after: hours, key: 2).bringingNothing(after: again, under: RefreshPolicy())
            #expect(third.redirectLifetime == .seconds(seconds))
        }
        #expect(PackedResponse(again).unpacked == again)
        let long = response(99_999, nil, key: 2)
        #expect(long.bringingNothing(after: again, under: RefreshPolicy()) == long)
        // A time that the last redirect said is no reason to wait as long again.
        let said = response(0, nil, after: 1, key: 2)
            .bringingNothing(after: response(80_000, "302, max-age 80000 s"), under: RefreshPolicy())
        #expect(said.redirectLifetime == .seconds(7200))
    }

    @Test(
        "a status without heuristics has no heuristic lifetime",
        arguments: [(200, "", true), (404, "", true), (403, "", false), (599, "", false), (599, "public", true)])
    func guesses(status: Int, control: String, isGuessed: Bool) {
        let fields = [("Last-Modified", Sample.date(-1000)), ("Cache-Control", control)]
        #expect(Freshness(of: Sample.response(fields, status: status)).isFresh(at: Sample.start) == isGuessed)
    }

    @Test(
        "the age when received is the larger of what the clocks and what the caches on the way say",
        arguments: [
            (0, 0, 0, 0), (0, 30, 0, 30), (0, 30, 5, 35), (-10, 0, 0, 10), (-10, 30, 0, 30), (-40, 30, 5, 45),
            (10, 0, 0, 0), (10, 15, 0, 15),
        ])
    func ages(date: Int, age: Int, delay: Int, total: Int) {
        let fields = HTTPFields([("Date", Sample.date(date)), ("Age", "\(age)"), ("Cache-Control", "max-age=3600")])
        let response = StoredResponse(
            fields: fields, requestTime: Sample.start, responseTime: Sample.start + .seconds(delay))
        let freshness = Freshness(of: response)
        #expect(freshness.receivedAge.total == .seconds(total))
        #expect(freshness.age(at: freshness.receivedAt + .seconds(7)) == .seconds(total + 7))
        #expect(freshness.end == freshness.receivedAt + .seconds(3600 - total))
    }

    @Test("a clock that goes back makes nothing older or younger than it was when received")
    func clockBack() {
        let fields = HTTPFields([("Cache-Control", "max-age=60"), ("Age", "10")])
        let response = StoredResponse(
            fields: fields, requestTime: Sample.start + .seconds(500), responseTime: Sample.start)
        let freshness = Freshness(of: response)
        #expect(freshness.receivedAge.total == .seconds(10))
        #expect(freshness.age(at: Sample.start + .seconds(-1_000_000)) == .seconds(10))
    }

    @Test("the furthest times do not overflow a freshness lifetime")
    func extremes() {
        let ends = [Int64.min, -1, 0, .max].map { Timestamp(sinceEpoch: .seconds($0)) }
        let fields = HTTPFields([
            ("Cache-Control", "max-age=99999999999"), ("Age", "99999999999"), ("Date", "Fri, 31 Dec 9999 23:59:59 GMT"),
        ])
        for request in ends {
            for response in ends {
                let freshness = Freshness(
                    of: StoredResponse(fields: fields, requestTime: request, responseTime: response))
                for now in ends {
                    #expect(freshness.age(at: now) >= .zero)
                    #expect(!freshness.isFresh(at: now))
                }
                #expect(!freshness.description.isEmpty)
            }
        }
    }
}
