// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Reads JSON in the very words in which ``JSON`` writes it, one after the other: several times as fast as what reads any.
///
/// What it does not find may be there all the same, otherwise written.
struct WrittenJSON {
    private let bytes: [UInt8]
    private var position = 0

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    var isAtEnd: Bool { position == bytes.count }

    /// Goes past these words, if they are next.
    mutating func take(_ words: StaticString) -> Bool {
        let count = words.utf8CodeUnitCount
        guard bytes.count - position >= count else { return false }
        let isNext = bytes.withUnsafeBytes { bytes in
            bytes.baseAddress.map { memcmp($0 + position, words.utf8Start, count) == 0 } ?? false
        }
        if isNext { position += count }
        return isNext
    }

    /// The string that is next, if there is one without escapes.
    mutating func string() -> String? {
        let quote = UInt8(ascii: "\"")
        guard position < bytes.count, bytes[position] == quote else { return nil }
        var end = position + 1
        while end < bytes.count, bytes[end] != quote {
            guard bytes[end] >= 0x20, bytes[end] != UInt8(ascii: "\\") else { return nil }
            end += 1
        }
        guard end < bytes.count, let text = String(validating: bytes[position + 1..<end], as: UTF8.self) else {
            return nil
        }
        position = end + 1
        return text
    }

    /// The digest that is next as a string.
    mutating func digest() -> Digest? {
        let quote = UInt8(ascii: "\"")
        let end = position + 65
        guard end < bytes.count, bytes[position] == quote, bytes[end] == quote,
            let digest = bytes.withUnsafeBufferPointer({
                Digest(hexDigits: UnsafeBufferPointer(rebasing: $0[position + 1..<end]))
            })
        else { return nil }
        position = end + 1
        return digest
    }

    /// The number that is next, if it is a natural one.
    mutating func number() -> Int? {
        var value = 0
        let start = position
        while position < bytes.count, case UInt8(ascii: "0")...UInt8(ascii: "9") = bytes[position] {
            value = 10 * value + Int(bytes[position] - UInt8(ascii: "0"))
            position += 1
            // Longer ones may be more than there is room for.
            guard position - start <= 18 else { return nil }
        }
        guard position > start, position == start + 1 || bytes[start] != UInt8(ascii: "0") else { return nil }
        return value
    }
}
