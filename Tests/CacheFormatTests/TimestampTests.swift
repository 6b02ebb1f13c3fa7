// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import Testing

@Suite("A time stamp")
struct TimestampTests {
    @Test(
        "a time stamp is written and read as RFC 3339 has it",
        arguments: [
            (0, "1970-01-01T00:00:00Z"),
            (1_795_229_092, "2026-11-21T02:44:52Z"),
            (951_868_799, "2000-02-29T23:59:59Z"),
            (1_735_648_496, "2024-12-31T12:34:56Z"),
            (4_107_542_400, "2100-03-01T00:00:00Z"),
            (-1, "1969-12-31T23:59:59Z"),
            (-2_203_891_200, "1900-03-01T00:00:00Z"),
            (-62_167_219_200, "0000-01-01T00:00:00Z"),
            (253_402_300_799, "9999-12-31T23:59:59Z"),
        ])
    func text(seconds: Int, text: String) {
        #expect(Timestamp(sinceEpoch: .seconds(seconds)).description == text)
        #expect(Timestamp(text) == Timestamp(sinceEpoch: .seconds(seconds)))
    }

    @Test("a time stamp is read back from every day of 400 years")
    func days() {
        let wrong = (0..<146_097).filter { day in
            let time = Timestamp(sinceEpoch: .seconds(day * 86_400))
            return Timestamp(time.description) != time
        }
        #expect(wrong.isEmpty)
    }

    @Test(
        "a time stamp is written down to the second that has begun",
        arguments: [
            (Duration.milliseconds(1999), "1970-01-01T00:00:01Z"),
            (.milliseconds(-1), "1969-12-31T23:59:59Z"),
            (.milliseconds(-1000), "1969-12-31T23:59:59Z"),
            (.milliseconds(-1001), "1969-12-31T23:59:58Z"),
        ])
    func fraction(sinceEpoch: Duration, text: String) {
        #expect(Timestamp(sinceEpoch: sinceEpoch).description == text)
    }

    @Test(
        "a time stamp outside of RFC 3339 becomes the nearest one in it",
        arguments: [
            (253_402_300_800, "9999-12-31T23:59:59Z"), (Int.max, "9999-12-31T23:59:59Z"),
            (-62_167_219_201, "0000-01-01T00:00:00Z"), (Int.min, "0000-01-01T00:00:00Z"),
        ])
    func outside(seconds: Int, text: String) {
        #expect(Timestamp(sinceEpoch: .seconds(seconds)).description == text)
    }

    @Test(
        "a time stamp is not read from other texts",
        arguments: [
            "", "2026-11-21", "2026-11-21T02:44:52", "2026-11-21T02:44:52z", "2026-11-21 02:44:52Z",
            "2026-11-21T02:44:52.5Z", "2026-11-21T02:44:52+00:00", "2026-11-21T02:44:5aZ", "+026-11-21T02:44:52Z",
            "2026-00-21T02:44:52Z", "2026-13-21T02:44:52Z", "2026-11-00T02:44:52Z", "2026-11-31T02:44:52Z",
            "2026-02-29T02:44:52Z", "2100-02-29T02:44:52Z", "2026-11-21T24:00:00Z", "2026-11-21T02:60:00Z",
            "2026-11-21T02:44:60Z", "2026-11-21T02:44:52Ä",
        ])
    func notTime(text: String) {
        #expect(Timestamp(text) == nil)
    }

    @Test("time stamps differ by durations")
    func arithmetic() {
        let time = Timestamp(sinceEpoch: .seconds(100))
        #expect(time + .seconds(5) == Timestamp(sinceEpoch: .seconds(105)))
        #expect(time + .seconds(5) - time == .seconds(5))
        #expect(time < time + .microseconds(1))
        #expect(Timestamp(sinceEpoch: .seconds(Int64.max)) - Timestamp(sinceEpoch: .seconds(Int64.min)) > .zero)
    }
}
