// SPDX-License-Identifier: Apache-2.0

/// A time of the wall clock, in UTC, to the microsecond.
///
/// Its text form is RFC 3339 in whole seconds: `2026-11-21T02:44:52Z`. A time outside the years 0 to 9999, which a file
/// can have, is written as the nearest one within them.
public struct Timestamp: Hashable, Comparable, Sendable {
    /// The time since 1970-01-01T00:00:00Z; half the size of a `Duration`, because each icon has several timestamps.
    package let microseconds: Int64

    /// The time since 1970-01-01T00:00:00Z, in whole microseconds, without leap seconds.
    public var sinceEpoch: Duration { .microseconds(microseconds) }

    /// Creates a time.
    ///
    /// - Parameter sinceEpoch: The time since 1970-01-01T00:00:00Z; more than 290,000 years count as that many.
    public init(sinceEpoch: Duration) {
        let limit: Int128 = 9_150_000_000_000_000_000
        microseconds = Int64(min(max(sinceEpoch.attoseconds / 1_000_000_000_000, -limit), limit))
    }

    package init(microseconds: Int64) { self.microseconds = microseconds }

    /// Reads `2026-11-21T02:44:52Z`; `nil` if the text has another form, or there is no such date.
    public init?(_ text: some StringProtocol) {
        let bytes = Array(text.utf8)
        guard bytes.count == 20, bytes[19] == UInt8(ascii: "Z") else { return nil }
        for (index, mark) in [(4, "-"), (7, "-"), (10, "T"), (13, ":"), (16, ":")] as [(Int, Unicode.Scalar)] {
            guard bytes[index] == UInt8(ascii: mark) else { return nil }
        }
        func number(_ range: Range<Int>) -> Int? { bytes.span.extracting(range).decimal }
        guard let year = number(0..<4), let month = number(5..<7), let day = number(8..<10),
            let hour = number(11..<13), let minute = number(14..<16), let second = number(17..<19)
        else { return nil }
        self.init(year: year, month: month, day: day, hour: hour, minute: minute, second: second)
    }

    /// Creates a time from a date and a time of day; `nil` if there is no such date or time.
    package init?(year: Int, month: Int, day: Int, hour: Int, minute: Int, second: Int) {
        guard (0...9999).contains(year), (1...12).contains(month), (1...31).contains(day), (0..<24).contains(hour),
            (0..<60).contains(minute), (0..<60).contains(second)
        else { return nil }
        let days = Self.days(year: year, month: month, day: day)
        guard Self.date(days: days) == (year, month, day) else { return nil }
        microseconds = Int64(((days * 24 + hour) * 60 + minute) * 60 + second) * 1_000_000
    }

    public static func < (a: Timestamp, b: Timestamp) -> Bool { a.microseconds < b.microseconds }

    public static func + (time: Timestamp, duration: Duration) -> Timestamp {
        Timestamp(sinceEpoch: time.sinceEpoch + duration)
    }

    public static func - (a: Timestamp, b: Timestamp) -> Duration {
        a.sinceEpoch - b.sinceEpoch
    }

    /// The beginning of the year 0, earlier than any time that a clock shows.
    package static let distantPast = Timestamp(sinceEpoch: .seconds(writable.lowerBound))

    /// The time in whole seconds, which stays the same when it is written and read as text.
    package var inWholeSeconds: Timestamp { Timestamp(description) ?? self }

    /// The seconds from 0000-01-01T00:00:00Z to 9999-12-31T23:59:59Z: RFC 3339 has four digits for the year.
    private static let writable = -62_167_219_200...253_402_300_799

    // The Gregorian calendar, in eras of 400 years that begin on March 1st.

    private static func days(year: Int, month: Int, day: Int) -> Int {
        let shifted = month > 2 ? year : year - 1
        let era = (shifted >= 0 ? shifted : shifted - 399) / 400
        let yearOfEra = shifted - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    private static func date(days: Int) -> (year: Int, month: Int, day: Int) {
        let shifted = days + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthIndex = (5 * dayOfYear + 2) / 153
        let month = monthIndex < 10 ? monthIndex + 3 : monthIndex - 9
        let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        return (year, month, dayOfYear - (153 * monthIndex + 2) / 5 + 1)
    }
}

extension Timestamp: CustomStringConvertible {
    public var description: String {
        var seconds = Int(sinceEpoch.components.seconds)
        if sinceEpoch.components.attoseconds < 0, seconds > Self.writable.lowerBound { seconds -= 1 }
        seconds = min(max(seconds, Self.writable.lowerBound), Self.writable.upperBound)
        let days = (seconds >= 0 ? seconds : seconds - 86_399) / 86_400
        let rest = seconds - days * 86_400
        let date = Self.date(days: days)
        func padded(_ value: Int, _ width: Int) -> String {
            let digits = String(value)
            return String(repeating: "0", count: max(0, width - digits.count)) + digits
        }
        return "\(padded(date.year, 4))-\(padded(date.month, 2))-\(padded(date.day, 2))"
            + "T\(padded(rest / 3600, 2)):\(padded(rest / 60 % 60, 2)):\(padded(rest % 60, 2))Z"
    }
}
