// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Reads JSON in the very words in which ``JSON`` writes it, one after the other: several times as fast as what reads any.
///
/// What it does not find may be there all the same, otherwise written.
package struct WrittenJSON {
    private let bytes: [UInt8]
    private var position = 0

    package init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    package var isAtEnd: Bool { position == bytes.count }

    /// Goes past these words, if they are next.
    package mutating func take(_ words: StaticString) -> Bool {
        let count = words.utf8CodeUnitCount
        guard bytes.count - position >= count else { return false }
        let isNext = bytes.withUnsafeBytes { bytes in
            bytes.baseAddress.map { memcmp($0 + position, words.utf8Start, count) == 0 } ?? false
        }
        if isNext { position += count }
        return isNext
    }

    /// The string that is next, if there is one without escapes.
    package mutating func string() -> String? {
        take("\"") ? rest() : nil
    }

    /// What is left of a string without escapes, up to its end.
    private mutating func rest() -> String? {
        var end = position
        while end < bytes.count, bytes[end] != UInt8(ascii: "\"") {
            guard bytes[end] >= 0x20, bytes[end] != UInt8(ascii: "\\") else { return nil }
            end += 1
        }
        guard end < bytes.count, let text = String(validating: bytes[position..<end], as: UTF8.self) else { return nil }
        position = end + 1
        return text
    }

    /// The digest that is next as a string.
    mutating func digest() -> Digest? {
        guard take("\""), let digest = digits(), take("\"") else { return nil }
        return digest
    }

    /// The hexadecimal digits of a digest that are next.
    private mutating func digits() -> Digest? {
        guard bytes.count - position >= 64,
            let digest = bytes.withUnsafeBufferPointer({
                Digest(hexDigits: UnsafeBufferPointer(rebasing: $0[position..<position + 64]))
            })
        else { return nil }
        position += 64
        return digest
    }

    /// The path and the digest of an image that are next, if the one follows from the other.
    ///
    /// - Returns: The digest, and the suffix of the path.
    mutating func image() -> (sha256: Digest, suffix: String)? {
        guard take("\"icons/"), bytes.count - position > 67 else { return nil }
        let fan = position
        position += 3
        let name = position
        guard bytes[fan] == bytes[name], bytes[fan + 1] == bytes[name + 1], bytes[fan + 2] == UInt8(ascii: "/"),
            let named = digits(), take("."), let suffix = rest(), !suffix.utf8.contains(UInt8(ascii: "/")),
            take(", \"sha256\": \""), bytes.count - position > 64, isSame(as: name, count: 64)
        else { return nil }
        position += 64
        guard take("\"") else { return nil }
        return (named, suffix)
    }

    /// Whether the bytes that are next are those at another place.
    private func isSame(as place: Int, count: Int) -> Bool {
        bytes.withUnsafeBytes { bytes in
            bytes.baseAddress.map { memcmp($0 + position, $0 + place, count) == 0 } ?? false
        }
    }

    /// The number that is next, if it is a natural one.
    package mutating func number() -> Int? {
        var value = 0
        let start = position
        while position < bytes.count, case UInt8(ascii: "0")...UInt8(ascii: "9") = bytes[position] {
            // Longer ones may be more than there is room for.
            guard position - start < 18 else { return nil }
            value = 10 * value + Int(bytes[position] - UInt8(ascii: "0"))
            position += 1
        }
        guard position > start, position == start + 1 || bytes[start] != UInt8(ascii: "0") else { return nil }
        return value
    }

    /// What is next, or `.some(nil)` if that is `null`.
    package mutating func orNull<Value>(_ read: (inout WrittenJSON) -> Value?) -> Value?? {
        if take("null") { return .some(nil) }
        return read(&self).map(Optional.some)
    }
}
