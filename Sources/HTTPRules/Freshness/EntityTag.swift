// SPDX-License-Identifier: Apache-2.0
import CacheFormat

/// An entity tag, byte for byte as the server wrote it (RFC 9110, section 8.8.3).
package struct EntityTag: Hashable, Sendable {
    /// The tag as received, and as sent back.
    package let text: String

    /// Parses a field value; `nil` if it is not a usable tag.
    ///
    /// Some servers omit the quotes, and compare the returned tag with what they sent. So an unquoted tag is accepted
    /// unchanged unless it is ambiguous (`*`, a list, a second tag). Invalid UTF-8 cannot be sent back unchanged, and
    /// more than 1 KiB is not worth storing: both are rejected.
    package init?(_ value: String) {
        let bytes = Array(value.utf8)
        guard bytes.count <= 1024, !value.unicodeScalars.contains("\u{FFFD}") else { return nil }
        let opaque = bytes.dropFirst(value.starts(withBytes: "W/") ? 2 : 0)
        let quote = UInt8(ascii: "\"")
        let isTag =
            if opaque.count >= 2, opaque.first == quote, opaque.last == quote {
                opaque.dropFirst().dropLast().allSatisfy { $0.isOfFieldValue && $0 != quote }
            } else {
                !opaque.isEmpty && opaque.allSatisfy { $0 > 0x20 && $0 < 0x7F && !"\",*".utf8.contains($0) }
            }
        guard isTag else { return nil }
        text = value
    }

    /// Whether the same tag means the same bytes, so that a partial download may be resumed.
    package var isStrong: Bool { text.utf8.first == UInt8(ascii: "\"") }

    /// Whether there is nothing between the quotes.
    package var isEmpty: Bool { opaque.elementsEqual("\"\"".utf8) }

    /// Weak comparison: whether two tags are equal, regardless of their strength (RFC 9110, section 8.8.3.2).
    package func matches(_ other: EntityTag) -> Bool {
        opaque.elementsEqual(other.opaque)
    }

    private var opaque: Substring.UTF8View {
        text.utf8.dropFirst(text.starts(withBytes: "W/") ? 2 : 0)
    }
}
