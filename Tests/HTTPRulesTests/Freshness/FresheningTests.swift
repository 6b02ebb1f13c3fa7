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
        Sample.response(response).freshened(
            by: StoredResponse(fields: HTTPFields(update), requestTime: later, responseTime: later))
    }

    private static func updated(
        _ response: [(name: String, value: String)], by update: [(name: String, value: String)]
    ) -> StoredResponse? {
        if case .updated(let updated) = freshened(response, by: update) { updated } else { nil }
    }

    @Test("a 304 replaces the fields that it has, and keeps the others")
    func update() throws {
        let old = [
            ("ETag", "\"a\""), ("Cache-Control", "max-age=1"), ("Expires", Sample.date(9)), ("Last-Modified", "x"),
        ]
        let new = [("etag", "W/\"a\""), ("Cache-Control", "max-age=60"), ("Content-Length", "0"), ("Vary", "*")]
        let response = try #require(Self.updated(old, by: new))
        #expect(response.cacheControl.maxAge == .duration(.seconds(60)))
        #expect(response.entityTag?.text == "W/\"a\"")
        #expect(response.fields["expires"] == [Sample.date(9)] && response.fields["last-modified"] == ["x"])
        #expect(response.variesOnEverything)
        #expect(response.requestTime == Self.later && response.responseTime == Self.later && response.status == 200)
    }

    @Test("a 304 behind another redirect, or none, has that of its own way", arguments: [nil, 0, 7200])
    func redirects(seconds: Int?) throws {
        let update = StoredResponse(
            fields: HTTPFields([Self.tag]), requestTime: Self.later, responseTime: Self.later,
            redirectLifetime: seconds.map { .seconds($0) })
        guard case .updated(let response) = Sample.redirected([Self.tag], for: 60).freshened(by: update) else {
            Issue.record("the response is the same")
            return
        }
        #expect(response.redirectLifetime == seconds.map { .seconds($0) })
        #expect(PackedResponse(response).unpacked == response)
    }

    private static let tag = (name: "ETag", value: "\"a\"")
    private static let texts: [([(String, String)], [(String, String)], String)] = [
        ([tag, ("Vary", "é")], [], "etag: \"a\"\nvary: é\n"),
        ([tag, ("Vary", "A")], [("vary", "B"), ("Expires", "0")], "etag: \"a\"\nvary: B\nexpires: 0\n"),
        ([("Vary", "A"), ("Expires", "0"), tag], [("Vary", ""), tag], "expires: 0\nvary: \netag: \"a\"\n"),
        ([("Date", "x"), tag, ("Age", "1")], [("Age", "2")], "etag: \"a\"\nage: 2\n"),
        ([("Age", "1"), tag, ("Date", "x")], [("Content-Length", "0"), ("Ag", "3")], "etag: \"a\"\n"),
        // Repeated lines: the first of a single field, and all of a list.
        ([tag, ("ETag", "\"b\""), ("Vary", "A"), ("Vary", "B")], [], "etag: \"a\"\nvary: A, B\n"),
        ([tag, ("Vary", "A")], [("Vary", "B"), ("Age", "1"), ("Vary", "")], "etag: \"a\"\nvary: B,\nage: 1\n"),
        ([tag, ("Expires", "0")], [("Expires", "1"), ("Expires", "2")], "etag: \"a\"\nexpires: 1\n"),
        // A value that is too long replaces the stored one, too.
        ([tag, ("Expires", "0")], [("Expires", long)], "etag: \"a\"\nexpires: \n"),
        ([tag, ("Cache-Control", "public")], [("Cache-Control", long)], "etag: \"a\"\ncache-control: no-cache\n"),
    ]
    private static let long = String(repeating: "x", count: 1025)

    @Test("the stored fields that a 304 does not replace keep their order, and those of the 304 follow")
    func order() {
        for (response, update, text) in Self.texts {
            #expect(Self.updated(response, by: update)?.fields.text == text)
        }
    }

    @Test("Date and Age are those of the 304, even if it has none")
    func times() throws {
        let old = [("ETag", "\"a\""), ("Date", Sample.date(-9)), ("Age", "9"), ("Cache-Control", "max-age=60")]
        let bare = try #require(Self.updated(old, by: []))
        #expect(bare.date == Self.later && bare.age == .zero)
        #expect(Freshness(of: bare).end == Self.later + .seconds(60))
        let dated = try #require(Self.updated(old, by: [("Date", Sample.date(90)), ("Age", "1")]))
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
