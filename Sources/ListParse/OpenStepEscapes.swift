// SPDX-License-Identifier: Apache-2.0
import AppLists
import CacheFormat

enum OpenStepEscapes {
    /// Replaces two escapes that are halves of one character, as GNUstep, dd-plist and openstep-plist write those beyond
    /// U+FFFF (`\UD83C\UDF88`), by the character, since the parser takes each escape for a character of its own.
    static func joiningSurrogates(_ bytes: [UInt8]) -> [UInt8] {
        // In another encoding, the character would not be its bytes.
        guard bytes.contains(UInt8(ascii: "\\")), String(utf8: bytes[...]) != nil else { return bytes }
        var joined: [UInt8] = []
        joined.reserveCapacity(bytes.count)
        var index = 0
        while index < bytes.count {
            guard bytes[index] == UInt8(ascii: "\\") else {
                joined.append(bytes[index])
                index += 1
                continue
            }
            if let high = unit(at: index, in: bytes), let low = unit(at: index + 6, in: bytes),
                UTF16.isLeadSurrogate(high), UTF16.isTrailSurrogate(low)
            {
                joined += String(decoding: [high, low], as: UTF16.self).utf8
                index += 12
            } else {
                // An escaped byte, such as another backslash, begins no escape.
                joined += bytes[index..<min(index + 2, bytes.count)]
                index += 2
            }
        }
        return joined
    }

    /// The UTF-16 code unit of an escape with four hexadecimal digits; `nil` if there is none.
    private static func unit(at index: Int, in bytes: [UInt8]) -> UInt16? {
        guard index + 6 <= bytes.count, bytes[index] == UInt8(ascii: "\\"), bytes[index + 1] == UInt8(ascii: "U")
        else { return nil }
        var unit: UInt16 = 0
        for byte in bytes[index + 2..<index + 6] {
            guard let digit = PercentEncoding.digit(byte) else { return nil }
            unit = unit << 4 | UInt16(digit)
        }
        return unit
    }
}
