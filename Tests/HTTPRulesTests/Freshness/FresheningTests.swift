// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import HTTPRules
import Testing

@Suite("Freshening by a 304")
struct FresheningTests {
    private static let later = Sample.start + .seconds(100)

    private static func freshened(
        _ response: [(name: String, value: String)], by update: [(name: String, value: String)]
    ) -> Freshening {
        Sample.response(response).freshened(by: HTTPFields(update), requestTime: later, responseTime: later)
    }

    @Test("a 304 replaces the fields that it has, and keeps the others")
    func update() {
        let old = [
            ("ETag", "\"a\""), ("Cache-Control", "max-age=1"), ("Expires", Sample.date(9)), ("Last-Modified", "x"),
        ]
        let new = [("etag", "W/\"a\""), ("Cache-Control", "max-age=60"), ("Content-Length", "0"), ("Vary", "*")]
        guard case .updated(let response) = Self.freshened(old, by: new) else {
            Issue.record("not updated")
            return
        }
        #expect(response.cacheControl.maxAge == .duration(.seconds(60)))
        #expect(response.entityTag?.text == "W/\"a\"")
        #expect(response.fields["expires"] == [Sample.date(9)] && response.fields["last-modified"] == ["x"])
        #expect(response.variesOnEverything)
        #expect(response.requestTime == Self.later && response.responseTime == Self.later && response.status == 200)
    }

    @Test("Date and Age are those of the 304, even if it has none")
    func times() {
        let old = [("ETag", "\"a\""), ("Date", Sample.date(-9)), ("Age", "9"), ("Cache-Control", "max-age=60")]
        guard case .updated(let bare) = Self.freshened(old, by: []) else {
            Issue.record("not updated")
            return
        }
        #expect(bare.date == Self.later && bare.age == .zero)
        #expect(Freshness(of: bare).end == Self.later + .seconds(60))
        guard case .updated(let dated) = Self.freshened(old, by: [("Date", Sample.date(90)), ("Age", "1")]) else {
            Issue.record("not updated")
            return
        }
        #expect(Freshness(of: dated).receivedAge.total == .seconds(10))
    }

    private enum Result { case updated, contradicted, unasked }

    private static let changed = ("Last-Modified", Sample.date(-10))
    private static let cached = [("Age", "5"), ("Date", Sample.date(-5)), changed]
    private static let table: [([(String, String)], [(String, String)], Result)] = [
        ([("ETag", "\"a\"")], [], .updated),
        ([("ETag", "\"a\"")], [("ETag", "\"a\"")], .updated),
        ([("ETag", "W/\"a\"")], [("ETag", "\"a\"")], .updated),
        ([("ETag", "\"a\"")], [("ETag", "malformed \"")], .updated),
        ([("ETag", "\"a\"")], [changed], .updated),
        ([changed], [], .updated),
        ([changed], [changed], .updated),
        ([changed], [("Last-Modified", "yesterday")], .updated),
        ([("ETag", "\"a\""), changed], [changed], .updated),
        // The tag decides: servers that share files by content give each its own date.
        ([("ETag", "\"a\""), changed], [("ETag", "\"a\""), ("Last-Modified", Sample.date(-20))], .updated),
        ([changed], [("Last-Modified", Sample.date(-20))], .contradicted),
        ([changed], [("Last-Modified", Sample.date(0))], .contradicted),
        ([("ETag", "\"a\""), changed], [("Last-Modified", Sample.date(-20))], .contradicted),
        ([changed], [changed, ("ETag", "W/\"a\"")], .updated),
        ([("ETag", "\"a\"")], [("ETag", "\"b\"")], .contradicted),
        ([("ETag", "W/\"a\""), changed], [("ETag", "W/\"b\""), changed], .contradicted),
        ([changed], [changed, ("ETag", "\"a\"")], .contradicted),
        ([changed], [("ETag", "W/\"a\"")], .contradicted),
        // A weak date from a cache is that of the response alone which the cache had.
        (cached, [], .contradicted),
        (cached, [("Date", Sample.date(-5)), changed], .updated),
        (cached, [("Date", Sample.date(-5)), ("Age", "9")], .updated),
        (cached, [("Date", Sample.date(90)), changed], .contradicted),
        (cached, [("Date", "yesterday"), changed], .contradicted),
        ([("ETag", "\"a\""), ("Age", "5"), changed], [("Date", Sample.date(90)), changed], .updated),
        ([("Age", "9"), ("Date", Sample.date(90)), changed], [("Date", Sample.date(99)), changed], .updated),
        ([("Date", Sample.date(-5)), changed], [("Date", Sample.date(90)), changed], .updated),
        ([], [("ETag", "\"a\"")], .unasked),
        ([("Cache-Control", "max-age=60")], [], .unasked),
        ([("Last-Modified", "yesterday")], [], .unasked),
    ]

    @Test("a 304 updates only the response that it is about")
    func selection() {
        for (response, update, result) in Self.table {
            let found: Result =
                switch Self.freshened(response, by: update) {
                case .updated: .updated
                case .contradicted: .contradicted
                case .unasked: .unasked
                }
            #expect(found == result, "\(response) \(update)")
        }
    }
}
