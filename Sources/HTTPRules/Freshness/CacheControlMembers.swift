// SPDX-License-Identifier: Apache-2.0
import CacheFormat

/// Iterates over the directives of a `Cache-Control` value (RFC 9111, section 5.2).
struct CacheControlMembers: IteratorProtocol {
    struct Member: Equatable {
        enum Argument: Equatable {
            case none
            /// Neither a token nor a quoted string, or separated from its directive by white space.
            case malformed
            case value(String)
        }

        var name: String
        var argument = Argument.none

        /// The argument in seconds; `nil` if it is not a number.
        var seconds: Duration? {
            guard case .value(let text) = argument else { return nil }
            return DeltaSeconds.parse(text)
        }
    }

    /// Whether the value ended within a quoted string.
    private(set) var isCut = false
    private var rest: Substring.UTF8View

    init(_ value: String) {
        rest = value[...].utf8
    }

    mutating func next() -> Member? {
        rest = rest.drop { Self.isWhitespace($0) || $0 == UInt8(ascii: ",") }
        guard !rest.isEmpty else { return nil }
        let spelling = take { $0 != UInt8(ascii: "=") && $0 != UInt8(ascii: ",") }
        let name = spelling.trimmingWhitespace.asciiLowercased
        guard rest.first == UInt8(ascii: "=") else { return Member(name: name) }
        rest = rest.dropFirst()
        let value = rest.first == UInt8(ascii: "\"") ? quotedString() : token()
        guard let value, name.utf8.count == spelling.utf8.count else {
            return Member(name: name, argument: .malformed)
        }
        return Member(name: name, argument: .value(value))
    }

    /// The token up to the next comma; `nil` if there is something else.
    private mutating func token() -> String? {
        var text = take { $0 != UInt8(ascii: ",") }.utf8
        while let last = text.last, Self.isWhitespace(last) { text.removeLast() }
        return !text.isEmpty && text.allSatisfy(Self.isTokenByte) ? String(Substring(text)) : nil
    }

    /// The quoted string that begins here; `nil` if it is unclosed or not followed by a comma or the end.
    private mutating func quotedString() -> String? {
        rest = rest.dropFirst()
        var content: [UInt8] = []
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "\"") {
                let tail = take { $0 != UInt8(ascii: ",") }
                return tail.trimmingWhitespace.isEmpty ? String(decoding: content, as: UTF8.self) : nil
            }
            content.append(byte == UInt8(ascii: "\\") ? rest.popFirst() ?? byte : byte)
        }
        isCut = true
        return nil
    }

    private mutating func take(while condition: (UInt8) -> Bool) -> Substring {
        let taken = rest.prefix(while: condition)
        rest = rest[taken.endIndex...]
        return Substring(taken)
    }

    private static func isWhitespace(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t")
    }

    /// Whether the byte is allowed in a token (RFC 9110, section 5.6.2).
    private static func isTokenByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "a")...UInt8(ascii: "z"):
            true
        default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
        }
    }
}
