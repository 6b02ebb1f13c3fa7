// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import FuzzTargets
import HTTPRules
import Testing

@Suite("Retry-After")
struct RetryAfterTests {
    private static func delay(_ value: String, date: Int?) -> Duration? {
        let date = date.map { [("Date", HTTPDate.format(Sample.start + .seconds($0)))] } ?? []
        return RetryAfter(HTTPFields([("Retry-After", value)] + date), receivedAt: Sample.start)?.delay
    }

    @Test(
        "seconds in Retry-After are read, and limited to a week",
        arguments: [
            ("0", .zero), ("120", .seconds(120)), ("0120 ", .seconds(120)), ("604801", .seconds(604_800)),
            ("99999999999999999999", .seconds(604_800)), ("-1", nil), ("1.5", nil), ("", nil), ("soon", nil),
            ("120, 60", nil),
        ] as [(String, Duration?)])
    func seconds(value: String, delay: Duration?) {
        #expect(Self.delay(value, date: nil) == delay)
    }

    @Test(
        "a date in Retry-After counts from the Date of the response",
        arguments: [
            (120, nil, 120), (120, 0, 120), (120, 100, 20), (120, -100, 220), (-120, 0, 0), (1_000_000, 0, 604_800),
        ] as [(Int, Int?, Int)])
    func date(after: Int, date: Int?, delay: Int) {
        #expect(Self.delay(HTTPDate.format(Sample.start + .seconds(after)), date: date) == .seconds(delay))
    }

    @Test("the first of two Retry-After fields counts")
    func lines() {
        let two = HTTPFields([("Retry-After", "1"), ("retry-after", "2")])
        #expect(RetryAfter(two, receivedAt: Sample.start)?.delay == .seconds(1))
        #expect(RetryAfter(HTTPFields(), receivedAt: Sample.start) == nil)
    }
}
