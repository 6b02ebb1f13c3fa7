// SPDX-License-Identifier: Apache-2.0
package import CacheFormat

/// Parses the date forms of HTTP (RFC 9110, section 5.6.7).
///
/// Widths, separators and the zone must match the grammar. Letter case and a wrong day of the week are ignored: servers
/// are known to get both wrong, and the date is unambiguous without them.
package enum HTTPDate {
    /// Parses a date in any of the three forms; `nil` if the form is invalid or the date does not exist.
    ///
    /// A two-digit year is the latest matching year that is not more than 50 years after `now`.
    package static func parse(_ text: String, now: Timestamp) -> Timestamp? { parse(text.utf8Span.span, now: now) }

    static func parse(_ text: Span<UInt8>, now: Timestamp) -> Timestamp? {
        // The fast path for the form that nearly all servers use, without a copy: several dates are parsed for every
        // response.
        if let time = fixed(text) { return time }
        let text = Array(text.string.trimmingWhitespace.asciiLowercased.utf8)[...]
        guard let end = text.firstIndex(where: { !(0x61...0x7A).contains($0) }) else { return nil }
        let weekday = text[..<end]
        let isShort = weekday.count == 3 && shortWeekdays.contains(code(weekday.span))
        // The indices below count from the end of the day of the week.
        let rest = Array(text[end...])
        if rest.first != UInt8(ascii: ",") { return isShort ? asctime(rest) : nil }
        if isShort { return fixed(text.span) }
        return weekdays.contains { $0[...] == weekday } ? dashed(rest, now: now) : nil
    }

    /// Parses `Sun, 06 Nov 1994 08:49:37 GMT`.
    private static func fixed(_ text: Span<UInt8>) -> Timestamp? {
        guard text.matches("..., .. ... .... ..:..:.. gmt"),
            shortWeekdays.contains(code(text.extracting(..<3))), let year = text.extracting(12..<16).decimal
        else { return nil }
        return time(
            year, month: text.extracting(8..<11), day: text.extracting(5..<7), clock: text.extracting(17..<25))
    }

    /// Parses `, 06-nov-94 08:49:37 gmt`.
    private static func dashed(_ text: [UInt8], now: Timestamp) -> Timestamp? {
        let text = text.span
        guard text.matches(", ..-...-.. ..:..:.. gmt"), let lastDigits = text.extracting(9..<11).decimal else {
            return nil
        }
        let today = "\(now)"
        guard let thisYear = Int(today.prefix(4)) else { return nil }
        var year = (thisYear + 50) / 100 * 100 + lastDigits
        if year > thisYear + 50 { year -= 100 }
        func time(_ year: Int) -> Timestamp? {
            self.time(
                year, month: text.extracting(5..<8), day: text.extracting(2..<4), clock: text.extracting(12..<20))
        }
        guard let result = time(year) else { return nil }
        // In the fiftieth year itself, the rest of the date decides; both texts have the same widths.
        let isTooFar = year == thisYear + 50 && "\(result)".dropFirst(4) > today.dropFirst(4)
        return isTooFar ? time(year - 100) : result
    }

    /// Parses ` nov  6 08:49:37 1994`.
    private static func asctime(_ text: [UInt8]) -> Timestamp? {
        let text = text.span
        guard text.matches(" ... .. ..:..:.. ...."), let year = text.extracting(17..<21).decimal else { return nil }
        let day = text[5] == UInt8(ascii: " ") ? 6..<7 : 5..<7
        return time(
            year, month: text.extracting(1..<4), day: text.extracting(day), clock: text.extracting(8..<16))
    }

    /// The time with the given parts; second 60 is accepted, as in a leap second.
    private static func time(
        _ year: Int, month: Span<UInt8>, day: Span<UInt8>, clock: Span<UInt8>
    ) -> Timestamp? {
        guard let index = months.firstIndex(of: code(month)), let day = day.decimal,
            let hour = clock.extracting(0..<2).decimal, let minute = clock.extracting(3..<5).decimal,
            let second = clock.extracting(6..<8).decimal
        else { return nil }
        let time = Timestamp(
            year: year, month: index + 1, day: day, hour: hour, minute: minute, second: min(second, 59))
        return second <= 59 ? time : second == 60 ? time.map { $0 + .seconds(1) } : nil
    }

    private static let weekdays = [
        "sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday",
    ].map { Array($0.utf8) }

    private static let shortWeekdays = weekdays.map { code($0.span.extracting(..<3)) }

    private static let months = [
        "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
    ].map { code($0.utf8Span.span) }

    /// Three letters of any case as a number, which is compared faster.
    private static func code(_ letters: Span<UInt8>) -> UInt32 {
        UInt32(letters[0] | 0x20) << 16 | UInt32(letters[1] | 0x20) << 8 | UInt32(letters[2] | 0x20)
    }
}
