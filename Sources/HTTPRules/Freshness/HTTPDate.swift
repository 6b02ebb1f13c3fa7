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
    package static func parse(_ text: some StringProtocol, now: Timestamp) -> Timestamp? {
        // The form of nearly all servers, without a copy: several dates are parsed for every response.
        if let time = text.utf8.withContiguousStorageIfAvailable({ fixed($0) }), let time { return time }
        var text = text.utf8.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }[...]
        func isWhitespace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }
        text = text.drop(while: isWhitespace)
        while let last = text.last, isWhitespace(last) { text.removeLast() }
        guard let end = text.firstIndex(where: { !(0x61...0x7A).contains($0) }) else { return nil }
        let weekday = text[..<end]
        let isShort = weekday.count == 3 && shortWeekdays.contains(code(weekday))
        // The indices below count from the end of the day of the week.
        let rest = Array(text[end...])
        if rest.first != UInt8(ascii: ",") { return isShort ? asctime(rest) : nil }
        if isShort { return text.withUnsafeBufferPointer { fixed($0) } }
        return weekdays.contains { $0[...] == weekday } ? dashed(rest, now: now) : nil
    }

    /// Parses `Sun, 06 Nov 1994 08:49:37 GMT`.
    private static func fixed(_ text: UnsafeBufferPointer<UInt8>) -> Timestamp? {
        guard text.count == 29, matches(text, "..., .. ... .... ........ gmt"),
            shortWeekdays.contains(code(text[..<3])), let year = number(text[12..<16])
        else { return nil }
        return time(year, month: text[8..<11], day: text[5..<7], clock: text[17..<25])
    }

    /// Parses `, 06-nov-94 08:49:37 gmt`.
    private static func dashed(_ text: [UInt8], now: Timestamp) -> Timestamp? {
        guard text.count == 24, matches(text, ", ..-...-.. ........ gmt"), let lastDigits = number(text[9..<11]) else {
            return nil
        }
        let today = "\(representable(now))"
        guard let thisYear = Int(today.prefix(4)) else { return nil }
        var year = (thisYear + 50) / 100 * 100 + lastDigits
        if year > thisYear + 50 { year -= 100 }
        func time(_ year: Int) -> Timestamp? {
            self.time(year, month: text[5..<8], day: text[2..<4], clock: text[12..<20])
        }
        guard let result = time(year) else { return nil }
        // In the fiftieth year itself, the rest of the date decides; both texts have the same widths.
        let isTooFar = year == thisYear + 50 && "\(result)".dropFirst(4) > today.dropFirst(4)
        return isTooFar ? time(year - 100) : result
    }

    /// Parses ` nov  6 08:49:37 1994`.
    private static func asctime(_ text: [UInt8]) -> Timestamp? {
        guard text.count == 21, matches(text, " ... .. ........ ...."), let year = number(text[17..<21]) else {
            return nil
        }
        let day = text[5] == UInt8(ascii: " ") ? text[6..<7] : text[5..<7]
        return time(year, month: text[1..<4], day: day, clock: text[8..<16])
    }

    /// The time with the given parts; second 60 is accepted, as in a leap second.
    private static func time<Bytes: RandomAccessCollection<UInt8>>(
        _ year: Int, month: Bytes, day: Bytes, clock: Bytes
    ) -> Timestamp? where Bytes.Index == Int, Bytes.SubSequence == Bytes {
        let start = clock.startIndex
        guard let index = months.firstIndex(of: code(month)), let day = number(day),
            clock[start + 2] == UInt8(ascii: ":"), clock[start + 5] == UInt8(ascii: ":"),
            let hour = number(clock[start..<(start + 2)]), let minute = number(clock[(start + 3)..<(start + 5)]),
            let second = number(clock[(start + 6)...])
        else { return nil }
        let time = Timestamp(
            year: year, month: index + 1, day: day, hour: hour, minute: minute, second: min(second, 59))
        return second <= 59 ? time : second == 60 ? time.map { $0 + .seconds(1) } : nil
    }

    private static func number(_ digits: some Sequence<UInt8>) -> Int? {
        var number = 0
        for digit in digits {
            guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(digit) else { return nil }
            number = 10 * number + Int(digit - UInt8(ascii: "0"))
        }
        return number
    }

    /// The time, or the nearest one whose year has four digits.
    static func representable(_ time: Timestamp) -> Timestamp {
        let (first, last) = (Duration.seconds(-62_167_219_200), Duration.seconds(253_402_300_799))
        return Timestamp(sinceEpoch: min(max(time.sinceEpoch, first), last))
    }

    /// Whether the text matches the pattern, in which a dot stands for any byte, and a letter also for its capital; both
    /// must have the same length.
    private static func matches(_ text: some Sequence<UInt8>, _ pattern: StaticString) -> Bool {
        pattern.withUTF8Buffer {
            zip(text, $0).allSatisfy {
                $1 == UInt8(ascii: ".") || $0 == $1 || $1 >= UInt8(ascii: "a") && $0 | 0x20 == $1
            }
        }
    }

    private static let weekdays = [
        "sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday",
    ].map { Array($0.utf8) }

    private static let shortWeekdays = weekdays.map { code($0.prefix(3)) }

    private static let months = [
        "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
    ].map { code($0.utf8) }

    /// Three letters of any case as a number, which is compared faster.
    private static func code(_ letters: some Sequence<UInt8>) -> UInt32 {
        letters.reduce(0) { $0 << 8 | UInt32($1 | 0x20) }
    }
}
