// SPDX-License-Identifier: Apache-2.0

/// The text `Sun, 06 Nov 1994 08:49:37 GMT` in 6 bytes: the form of dates that servers must send (RFC 9110, section
/// 5.6.7).
///
/// Only the form counts: a day that does not exist, or has another name, comes back as it was.
struct PackedDate {
    /// From the lowest bits: day of the week (3), month (4), day (5), year (14), hour, minute and second (6 each).
    private(set) var bits: UInt64

    private static let form = Array("..., .. ... .... ..:..:.. GMT".utf8)
    private static let weekdays = Array("SunMonTueWedThuFriSat".utf8)
    private static let months = Array("JanFebMarAprMayJunJulAugSepOctNovDec".utf8)
    /// Where numbers stand, their digits, and their bits.
    private static let numbers = [(5, 2, 5), (12, 4, 14), (17, 2, 6), (20, 2, 6), (23, 2, 6)]

    /// `nil` if the text has another form.
    init?(_ place: Range<Int>, in text: Span<UInt8>) {
        guard place.count == Self.form.count,
            Self.form.indices.allSatisfy({
                Self.form[$0] == UInt8(ascii: ".") || Self.form[$0] == text[place.lowerBound + $0]
            }), let weekday = Self.index(of: place.lowerBound, in: text, among: Self.weekdays),
            let month = Self.index(of: place.lowerBound + 8, in: text, among: Self.months)
        else { return nil }
        bits = UInt64(weekday) | UInt64(month) << 3
        var shift = 7
        for (start, digits, width) in Self.numbers {
            var number = 0
            for index in start..<start + digits {
                let digit = text[place.lowerBound + index] &- UInt8(ascii: "0")
                guard digit < 10 else { return nil }
                number = 10 * number + Int(digit)
            }
            guard number < 1 << width else { return nil }
            bits |= UInt64(number) << shift
            shift += width
        }
    }

    /// The index of the three letters at `start`.
    private static func index(of start: Int, in text: Span<UInt8>, among names: [UInt8]) -> Int? {
        (0..<names.count / 3).first { name in (0..<3).allSatisfy { names[3 * name + $0] == text[start + $0] } }
    }

    /// Takes the 6 bytes of one, the lowest first.
    init(_ bytes: inout ArraySlice<UInt8>) {
        bits = bytes.prefix(6).reversed().reduce(0) { $0 << 8 | UInt64($1) }
        bytes.removeFirst(6)
    }

    var text: [UInt8] {
        var text = Self.form
        for index in 0..<3 {
            text[index] = Self.weekdays[3 * Int(bits & 7) + index]
            text[8 + index] = Self.months[3 * Int(bits >> 3 & 15) + index]
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
