// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import HTTPRules
import Testing

@Suite("Conditions of refreshes")
struct ConditionTests {
    private static let url = "https://a.example/1.png"
    private static let day = Duration.seconds(86_400)

    private static func response(
        _ fields: [(name: String, value: String)], from url: String? = url, at time: Timestamp = Sample.start
    ) -> StoredResponse {
        StoredResponse(url: url, fields: HTTPFields(fields), requestTime: time, responseTime: time)
    }

    private static func modified(_ seconds: Int) -> (String, String) { ("Last-Modified", Sample.date(seconds)) }

    @Test(
        "a date is sent without a tag only if it is a minute away from that of the response, or a cache gave that",
        arguments: [
            ([modified(-86_400)], true), ([modified(-60)], true), ([modified(-59)], false), ([modified(0)], false),
            ([modified(59)], false), ([modified(60)], true),
            ([("Date", Sample.date(100)), modified(40)], true), ([("Date", Sample.date(100)), modified(41)], false),
            // Without a usable Date, the time of receipt counts.
            ([("Date", "x"), modified(-60)], true), ([("Date", "x"), modified(-1)], false),
            // A cache says so with Age, and keeps the Date of its server.
            ([("Age", "9"), ("Date", Sample.date(-90)), modified(-90)], true),
            ([("Age", "0"), ("Date", Sample.date(0)), modified(-59)], true),
            ([("Age", "9"), modified(0)], false), ([("Age", "9"), ("Date", "x"), modified(0)], false),
            ([("Date", Sample.date(-90)), modified(-90)], false),
            ([("ETag", "\"a\""), modified(0)], true), ([("ETag", "W/\"a\""), modified(0)], true),
            ([("ETag", "a\"b"), modified(0)], false), ([("ETag", "\"a\"")], true),
            ([("Last-Modified", "x")], false), ([], false),
        ] as [([(name: String, value: String)], Bool)])
    func weakDates(fields: [(name: String, value: String)], isConditional: Bool) {
        let condition = Self.response(fields).condition(at: Sample.start + .seconds(3600))
        #expect((condition != nil) == isConditional)
        if let condition {
            #expect(condition.url == Self.url && condition.validators == Self.response(fields).validators)
        }
    }

    @Test("a response of an unknown URL gives no condition")
    func unknownURL() {
        #expect(Self.response([("ETag", "\"a\"")], from: nil).condition(at: Sample.start) == nil)
    }

    /// The days of 300 on which the daily refresh of an image has no condition.
    private static func wholeDays(_ fields: [(name: String, value: String)], of url: String) -> [Int] {
        (1...300).filter { number in
            let now = Sample.start + day * number
            return response(fields, from: url, at: now + day * -1).condition(at: now) == nil
        }
    }

    @Test("an image with a date alone is requested whole every 30 days, each URL on its own day")
    func months() {
        let urls = (1...20).map { "https://a.example/\($0).png" }
        let days = urls.map { Self.wholeDays([Self.modified(-86_400 * 400)], of: $0) }
        for days in days {
            #expect(days.count == 10)
            #expect(zip(days, days.dropFirst()).allSatisfy { $1 - $0 == 30 })
        }
        #expect(Set(days.compactMap(\.first)).count > 5)
        #expect(days == urls.map { Self.wholeDays([Self.modified(-86_400 * 400)], of: $0) })
    }

    @Test("a tag is trusted for any time, and a date for less than 30 days")
    func trust() {
        #expect(Self.wholeDays([("ETag", "\"a\""), Self.modified(-86_400)], of: Self.url).isEmpty)
        let dated = Self.response([Self.modified(-86_400)])
        #expect(dated.condition(at: Sample.start) != nil)
        #expect(dated.condition(at: Sample.start + Self.day * 30) == nil)
        let cached = Self.response([("Age", "9"), ("Date", Sample.date(-9)), Self.modified(-9)])
        #expect(cached.condition(at: Sample.start) != nil)
        #expect(cached.condition(at: Sample.start + Self.day * 30) == nil)
    }

    @Test("a weak date from a cache is confirmed as long as the cache has the same response, and has to be each time")
    func cached() {
        let date = ("Date", Sample.date(-90))
        var response = Self.response([("Age", "90"), date, Self.modified(-91)])
        for number in 1...2 {
            let time = Sample.start + Self.day * number
            let update = Self.response([("Age", "9"), date], at: time)
            guard case .updated(let new) = response.freshened(by: update) else {
                Issue.record("not updated")
                return
            }
            #expect(new.condition(at: time) != nil)
            response = new
        }
        let time = Sample.start + Self.day * 3
        let update = Self.response([("Age", "1"), ("Date", Sample.date(86_400 * 2)), Self.modified(-91)], at: time)
        #expect(response.freshened(by: update) == .contradicted)
    }
}
