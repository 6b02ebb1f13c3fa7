// SPDX-License-Identifier: Apache-2.0
import CacheFormat

/// Which bytes of a whole an answer brings (`Content-Range`, RFC 9110, section 14.4).
package struct ContentRange: Equatable, Sendable {
    package let first: Int
    package let last: Int
    /// How many bytes the whole has.
    package let length: Int

    /// Reads `bytes 5-9/10`.
    ///
    /// `nil` for any other form and any other unit, for numbers that contradict one another, and for a whole of unknown
    /// length (`*`): whether bytes are its last ones could not be told.
    package init?(_ value: String) {
        let words = value.split(atByte: " ", omittingEmpty: false)
        guard words.count == 2, words[0].asciiLowercased == "bytes" else { return nil }
        let parts = words[1].split(atByte: "/", omittingEmpty: false)
        guard parts.count == 2, let length = Self.number(parts[1]) else { return nil }
        let ends = parts[0].split(atByte: "-", omittingEmpty: false)
        guard ends.count == 2, let first = Self.number(ends[0]), let last = Self.number(ends[1]), first <= last,
            last < length
        else { return nil }
        self.first = first
        self.last = last
        self.length = length
    }

    private static func number(_ digits: String) -> Int? {
        digits.utf8.allSatisfy { (0x30...0x39).contains($0) } ? Int(digits) : nil
    }
}
