// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Reads JSON in the exact layout in which this package writes it, several times as fast as a general parser.
///
/// It refuses valid JSON in another layout; for that, a general parser is needed.
package struct WrittenJSON {
    private let bytes: [UInt8]
    private var position = 0

    package init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    package var isAtEnd: Bool { position == bytes.count }

    /// Skips this text if it is next; returns whether it was there.
    package mutating func take(_ text: StaticString) -> Bool {
        let count = text.utf8CodeUnitCount
        guard bytes.count - position >= count else { return false }
        let isNext = bytes.withUnsafeBytes { bytes in
            bytes.baseAddress.map { memcmp($0 + position, text.utf8Start, count) == 0 } ?? false
        }
        if isNext { position += count }
        return isNext
    }

    /// Reads a member that may be missing; its JSON text begins with `beginning`, and `end` follows its value.
    ///
    /// - Returns: `.some(nil)` if the member is missing; `nil` if its value cannot be read.
    @inline(__always)
    mutating func optional<Value>(
        _ beginning: StaticString, before end: StaticString = "", _ read: (inout WrittenJSON) -> Value?
    ) -> Value?? {
        guard take(beginning) else { return .some(nil) }
        guard let value = read(&self), take(end) else { return nil }
        return value
    }

    /// Reads the next string; `nil` if there is none, or it has an escape that this package does not write.
    package mutating func string() -> String? {
        take("\"") ? rest() : nil
    }

    /// Reads a string after its opening quote.
    private mutating func rest() -> String? {
        // The unescaped text before the last escape.
        var text: [UInt8] = []
        var start = position
        var end = firstSpecial(from: start)
        while end < bytes.count, bytes[end] == UInt8(ascii: "\\") {
            guard let (byte, length) = escape(at: end + 1) else { return nil }
            if start == position { text.reserveCapacity(min(bytes.count - start, 512)) }
            text += bytes[start..<end]
            text.append(byte)
            start = end + 1 + length
            end = firstSpecial(from: start)
        }
        guard end < bytes.count, bytes[end] == UInt8(ascii: "\"") else { return nil }
        if start > position { text += bytes[start..<end] }
        guard let string = start > position ? String(utf8: text[...]) : String(utf8: bytes[start..<end]) else {
            return nil
        }
        position = end + 1
        return string
    }

    /// The index of the next quote, backslash or control character; the end if there is none.
    private func firstSpecial(from place: Int) -> Int {
        bytes.withUnsafeBufferPointer { bytes in
            bytes[place...].firstIndex { $0 < 0x20 || $0 == UInt8(ascii: "\"") || $0 == UInt8(ascii: "\\") }
                ?? bytes.count
        }
    }

    /// The byte that an escape stands for, and its length after the backslash.
    private func escape(at place: Int) -> (byte: UInt8, length: Int)? {
        guard place < bytes.count else { return nil }
        switch bytes[place] {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"): return (bytes[place], 1)
        case UInt8(ascii: "n"): return (0x0A, 1)
        case UInt8(ascii: "r"): return (0x0D, 1)
        case UInt8(ascii: "t"): return (0x09, 1)
        case UInt8(ascii: "u"):
            // This package writes only control characters in this form.
            guard bytes.count - place > 4,
                bytes[(place + 1)...(place + 3)].elementsEqual("000".utf8)
                    || bytes[(place + 1)...(place + 3)].elementsEqual("001".utf8),
                let low = Self.digit(bytes[place + 4])
            else { return nil }
            return ((bytes[place + 3] - UInt8(ascii: "0")) << 4 | low, 5)
        default: return nil
        }
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        default: nil
        }
    }

    package mutating func digest() -> Digest? {
        guard take("\""), let digest = digits(), take("\"") else { return nil }
        return digest
    }

    private mutating func digits() -> Digest? {
        guard bytes.count - position >= 64,
            let digest = bytes.withUnsafeBufferPointer({
                Digest(hexDigits: UnsafeBufferPointer(rebasing: $0[position..<position + 64]))
            })
        else { return nil }
        position += 64
        return digest
    }

    /// Reads the path and digest of the next image.
    ///
    /// - Returns: The digest, and the path's suffix; `nil` if the rest of the path does not follow from the digest.
    mutating func image() -> (sha256: Digest, suffix: String)? {
        guard take("\"icons/"), bytes.count - position > 67 else { return nil }
        let fan = position
        position += 3
        let name = position
        guard bytes[fan] == bytes[name], bytes[fan + 1] == bytes[name + 1], bytes[fan + 2] == UInt8(ascii: "/"),
            let named = digits(), take("."), let suffix = rest(), CacheLayout.isImageSuffix(suffix),
            take(", \"sha256\": \""), bytes.count - position > 64, isSame(as: name, count: 64)
        else { return nil }
        position += 64
        guard take("\"") else { return nil }
        return (named, suffix)
    }

    private func isSame(as place: Int, count: Int) -> Bool {
        bytes.withUnsafeBytes { bytes in
            bytes.baseAddress.map { memcmp($0 + position, $0 + place, count) == 0 } ?? false
        }
    }

    /// Reads the next number; `nil` if it is not a natural one.
    package mutating func number() -> Int? {
        var value = 0
        let start = position
        while position < bytes.count, case UInt8(ascii: "0")...UInt8(ascii: "9") = bytes[position] {
            // A number with more digits could overflow.
            guard position - start < 18 else { return nil }
            value = 10 * value + Int(bytes[position] - UInt8(ascii: "0"))
            position += 1
        }
        guard position > start, position == start + 1 || bytes[start] != UInt8(ascii: "0") else { return nil }
        return value
    }

    /// Skips the next member of an object, with the comma before it, if a later version added it.
    ///
    /// - Parameter known: The keys that are not skipped, in any position.
    /// - Returns: Whether it skipped a member: its value is a string, natural number, Boolean or `null`.
    mutating func skipUnknownMember(besides known: [String]) -> Bool {
        guard take(", "), let key = string(), !known.contains(where: { $0.utf8.elementsEqual(key.utf8) }), take(": ")
        else { return false }
        return string() != nil || number() != nil || take("true") || take("false") || take("null")
    }
}
