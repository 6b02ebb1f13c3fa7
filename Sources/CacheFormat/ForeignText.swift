// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Operations on the bytes of text from outside.
///
/// A `Character` can hold a quote and a combining mark, or two million marks; `hasPrefix`, `contains` and `split` of
/// `String` work on Characters. So `"-\u{301}".hasPrefix("-")` is false, although every other program reads a text that
/// begins with a dash. Compare, cut and search text that others write with these methods. `Tests/Tools/characters`
/// finds code that works on Characters.
extension StringProtocol {
    @inlinable package func starts(withBytes start: String) -> Bool { utf8.starts(with: start.utf8) }

    @inlinable package func ends(withBytes end: String) -> Bool {
        utf8.suffix(end.utf8.count).elementsEqual(end.utf8)
    }

    package func contains(bytes: String) -> Bool { utf8.contains(bytes.utf8) }

    /// Replaces every occurrence of `bytes`, which must not be empty.
    package func replacing(bytes: String, with other: String) -> String {
        precondition(!bytes.utf8.isEmpty, "there must be a byte to replace")
        return String(decoding: Array(utf8).replacing(bytes.utf8, with: other.utf8), as: UTF8.self)
    }

    /// Splits the text at an ASCII character, as `sign` must be.
    package func split(
        atByte sign: Unicode.Scalar, maxSplits: Int = .max, omittingEmpty: Bool = true
    ) -> [String] {
        let byte = UInt8(ascii: sign)
        return utf8.split(separator: byte, maxSplits: maxSplits, omittingEmptySubsequences: omittingEmpty)
            .map { String(decoding: $0, as: UTF8.self) }
    }

    /// The longest beginning of at most `limit` bytes that ends with a whole scalar.
    package func prefix(bytes limit: Int) -> String {
        guard utf8.count > limit else { return String(self) }
        let beginning = Array(utf8.prefix(limit + 1))
        // The byte after the end begins a scalar.
        let end = beginning.lastIndex { $0 & 0xC0 != 0x80 } ?? 0
        return String(decoding: beginning[..<end], as: UTF8.self)
    }

    package func dropping(bytes count: Int) -> String { String(decoding: utf8.dropFirst(count), as: UTF8.self) }

    package func droppingLast(bytes count: Int) -> String { String(decoding: utf8.dropLast(count), as: UTF8.self) }

    /// The text without ASCII white space at both ends.
    package var trimmed: String {
        func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }
        let rest = Array(utf8.drop(while: isBlank))
        guard let last = rest.lastIndex(where: { !isBlank($0) }) else { return "" }
        return String(decoding: rest[...last], as: UTF8.self)
    }

    /// The text with ASCII capitals in lower case; `lowercased()` also turns the Kelvin sign and others into ASCII
    /// letters.
    package var asciiLowercased: String {
        utf8.withContiguousStorageIfAvailable(asciiLowercase) ?? Array(utf8).withUnsafeBufferPointer(asciiLowercase)
    }
}

private func asciiLowercase(_ bytes: UnsafeBufferPointer<UInt8>) -> String {
    String(unsafeUninitializedCapacity: bytes.count) { text in
        for (index, byte) in bytes.enumerated() { text[index] = (0x41...0x5A).contains(byte) ? byte | 0x20 : byte }
        return bytes.count
    }
}

extension Span<UInt8> {
    /// The index of the first such byte at or after `start`.
    package func firstIndex(of byte: UInt8, from start: Int = 0) -> Int? {
        extracting(start...).withUnsafeBytes { rest in
            guard let first = rest.baseAddress, let found = memchr(first, Int32(byte), rest.count) else { return nil }
            return start + (UnsafeRawPointer(found) - first)
        }
    }

    /// The number that at most 18 digits stand for; `nil` if another byte is among them.
    @inlinable package var decimal: Int? {
        var number = 0
        for index in indices {
            let digit = self[index] &- UInt8(ascii: "0")
            guard digit < 10 else { return nil }
            number = 10 * number + Int(digit)
        }
        return number
    }
}

/// Whether two texts have the same bytes; `==` of `String` compares by canonical equivalence.
package func haveSameBytes(_ one: some StringProtocol, _ other: some StringProtocol) -> Bool {
    one.utf8.elementsEqual(other.utf8)
}

extension String {
    /// A text in UTF-8; `nil` if the bytes are invalid.
    ///
    /// For ASCII, as most names and URLs are, it is several times as fast as `init(validating:as:)`.
    package init?(utf8 bytes: ArraySlice<UInt8>) {
        let isASCII = bytes.withUnsafeBufferPointer { $0.reduce(0 as UInt8, |) < 0x80 }
        guard isASCII else {
            guard let text = String(validating: bytes, as: UTF8.self) else { return nil }
            self = text
            return
        }
        self.init(decoding: bytes, as: UTF8.self)
    }
}
