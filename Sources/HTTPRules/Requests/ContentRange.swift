// SPDX-License-Identifier: Apache-2.0
import CacheFormat

/// The byte range in a partial response (`Content-Range`, RFC 9110, section 14.4).
package struct ContentRange: Equatable, Sendable {
    package let first: Int
    package let last: Int
    /// The size of the whole representation, in bytes; `nil` if the server does not say (`*`).
    package let length: Int?

    /// Parses `bytes 5-9/10`.
    ///
    /// `nil` for any other form or unit, and for contradictory numbers.
    package init?(_ value: String) {
        let words = value.split(atByte: " ", omittingEmpty: false)
        guard words.count == 2, words[0].asciiLowercased == "bytes" else { return nil }
        let parts = words[1].split(atByte: "/", omittingEmpty: false)
        guard parts.count == 2 else { return nil }
        let length = Self.number(parts[1])
        guard length != nil || parts[1] == "*" else { return nil }
        let ends = parts[0].split(atByte: "-", omittingEmpty: false)
        guard ends.count == 2, let first = Self.number(ends[0]), let last = Self.number(ends[1]), first <= last,
            last < length ?? .max
        else { return nil }
        self.first = first
        self.last = last
        self.length = length
    }

    private static func number(_ digits: String) -> Int? {
        digits.utf8.allSatisfy { (0x30...0x39).contains($0) } ? Int(digits) : nil
    }
}
