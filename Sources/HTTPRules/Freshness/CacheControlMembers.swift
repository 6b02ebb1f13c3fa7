// SPDX-License-Identifier: Apache-2.0
import AppLists

/// Reads the directives of a `Cache-Control` value one after the other (RFC 9111, section 5.2).
struct CacheControlMembers {
    struct Member {
        /// The range of the name in the value.
        var name: Range<Int>
        /// The argument; `nil` if there is none, or if it is neither a token nor a quoted string, or follows white
        /// space.
        var argument: String?

        /// The argument in seconds; `nil` if it is not a number.
        var seconds: Duration? { argument.flatMap { DeltaSeconds.parse($0) } }
    }

    /// Whether the value ended within a quoted string.
    private(set) var isCut = false
    private var place = 0

    /// The next directive of the value, which must be the same one each time.
    mutating func next(in value: Span<UInt8>) -> Member? {
        _ = take(from: value) { $0.isBlank || $0 == UInt8(ascii: ",") }
        guard place < value.count else { return nil }
        let spelling = take(from: value) { $0 != UInt8(ascii: "=") && $0 != UInt8(ascii: ",") }
        let name = Self.trimmed(spelling, in: value)
        guard takes(UInt8(ascii: "="), from: value) else { return Member(name: name) }
        let argument = takes(UInt8(ascii: "\""), from: value) ? quotedString(in: value) : token(in: value)
        return Member(name: name, argument: name == spelling ? argument : nil)
    }

    /// The token up to the next comma; `nil` if there is no token.
    private mutating func token(in value: Span<UInt8>) -> String? {
        let token = Self.trimmed(take(from: value) { $0 != UInt8(ascii: ",") }, in: value)
        for index in token where !Self.isTokenByte(value[index]) { return nil }
        return token.isEmpty ? nil : value.extracting(token).string
    }

    /// The rest of a quoted string; `nil` if it is unclosed or not followed by a comma or the end.
    private mutating func quotedString(in value: Span<UInt8>) -> String? {
        var content: [UInt8] = []
        while place < value.count {
            if takes(UInt8(ascii: "\""), from: value) {
                let tail = take(from: value) { $0 != UInt8(ascii: ",") }
                return Self.trimmed(tail, in: value).isEmpty ? String(decoding: content, as: UTF8.self) : nil
            }
            if value[place] == UInt8(ascii: "\\"), place + 1 < value.count { place += 1 }
            content.append(value[place])
            place += 1
        }
        isCut = true
        return nil
    }

    private mutating func take(from value: Span<UInt8>, while condition: (UInt8) -> Bool) -> Range<Int> {
        let start = place
        while place < value.count, condition(value[place]) { place += 1 }
        return start..<place
    }

    /// Takes this byte if it is the next one.
    private mutating func takes(_ byte: UInt8, from value: Span<UInt8>) -> Bool {
        guard place < value.count, value[place] == byte else { return false }
        place += 1
        return true
    }

    /// The text without white space at its end.
    private static func trimmed(_ text: Range<Int>, in value: Span<UInt8>) -> Range<Int> {
        var end = text.upperBound
        while end > text.lowerBound, value[end - 1].isBlank { end -= 1 }
        return text.lowerBound..<end
    }

    /// Whether the byte is allowed in a token (RFC 9110, section 5.6.2).
    private static func isTokenByte(_ byte: UInt8) -> Bool {
        byte.isLetter || byte.isDigit || "!#$%&'*+-.^_`|~".utf8.contains(byte)
    }
}
