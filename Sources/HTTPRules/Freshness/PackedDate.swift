// SPDX-License-Identifier: Apache-2.0
import CacheFormat

/// The text `Sun, 06 Nov 1994 08:49:37 GMT` in 6 bytes: the form of dates that servers must send (RFC 9110, section
/// 5.6.7).
///
/// Only the form counts: a date that does not exist, or has a wrong day of the week, is restored unchanged.
struct PackedDate {
    /// From the lowest bits: day of the week (3), month (4), day (5), year (14), hour, minute and second (6 each).
    let bits: UInt64

    private static let form: StaticString = "..., .. ... .... ..:..:.. GMT"
    private static let weekdays = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"].map(letters)
    private static let months =
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"].map(letters)
    /// Where numbers stand, their digits, and their bits.
    private static let numbers = [(5, 2, 5), (12, 4, 14), (17, 2, 6), (20, 2, 6), (23, 2, 6)]

    /// Packs a date; `nil` if the text has another form.
    init?(_ text: Span<UInt8>) {
        guard text.matches(Self.form), let weekday = Self.weekdays.firstIndex(of: Self.letters(text, 0)),
            let month = Self.months.firstIndex(of: Self.letters(text, 8))
        else { return nil }
        var bits = UInt64(weekday) | UInt64(month) << 3
        var shift = 7
        for (start, digits, width) in Self.numbers {
            guard let number = text.extracting(start..<start + digits).decimal, number < 1 << width else {
                return nil
            }
            bits |= UInt64(number) << shift
            shift += width
        }
        self.bits = bits
    }

    init(bits: UInt64) { self.bits = bits }

    /// The three letters of a name as one number.
    private static func letters(_ text: Span<UInt8>, _ start: Int) -> UInt32 {
        UInt32(text[start]) << 16 | UInt32(text[start + 1]) << 8 | UInt32(text[start + 2])
    }

    private static func letters(_ name: String) -> UInt32 { name.utf8.reduce(0) { $0 << 8 | UInt32($1) } }

    var text: [UInt8] {
        var text = Self.form.withUTF8Buffer(Array.init)
        for index in 0..<3 {
            text[index] = UInt8(truncatingIfNeeded: Self.weekdays[Int(bits & 7)] >> (16 - 8 * index))
            text[8 + index] = UInt8(truncatingIfNeeded: Self.months[Int(bits >> 3 & 15)] >> (16 - 8 * index))
        }
        var shift = 7
        for (start, digits, width) in Self.numbers {
            var number = Int(bits >> shift & (1 << width - 1))
            for index in (start..<start + digits).reversed() {
                text[index] = UInt8(ascii: "0") + UInt8(number % 10)
                number /= 10
            }
            shift += width
        }
        return text
    }
}
