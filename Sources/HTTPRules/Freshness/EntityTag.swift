// SPDX-License-Identifier: Apache-2.0
import CacheFormat

/// A validator that only its server understands, byte for byte as the server wrote it (RFC 9110, section 8.8.3).
package struct EntityTag: Hashable, Sendable {
    /// The tag as it came, and as it is sent back.
    package let text: String

    /// Reads a field value; `nil` if it can be no tag.
    ///
    /// Some servers leave out the quotes, and compare what they get back with what they sent; so a tag without them is
    /// taken as it is if it cannot be mistaken for anything else (`*`, a list, a second tag). What was not valid UTF-8
    /// cannot be sent back as it was, and more than 1 KiB is not worth keeping: both are no tags.
    package init?(_ value: String) {
        let bytes = Array(value.utf8)
        guard bytes.count <= 1024, !value.unicodeScalars.contains("\u{FFFD}") else { return nil }
        let opaque = bytes.dropFirst(value.starts(withBytes: "W/") ? 2 : 0)
        let quote = UInt8(ascii: "\"")
        let isTag =
            if opaque.count >= 2, opaque.first == quote, opaque.last == quote {
                opaque.dropFirst().dropLast().allSatisfy { ($0 >= 0x20 || $0 == 0x09) && $0 != quote && $0 != 0x7F }
            } else {
                !opaque.isEmpty && opaque.allSatisfy { $0 > 0x20 && $0 < 0x7F && !"\",*".utf8.contains($0) }
            }
        guard isTag else { return nil }
        text = value
    }

    /// Whether the same tag means the same bytes, so that a broken download may be resumed.
    package var isStrong: Bool { text.utf8.first == UInt8(ascii: "\"") }

    /// Whether two tags are the same but for their strength (RFC 9110, section 8.8.3.2).
    package func matches(_ other: EntityTag) -> Bool {
        opaque.elementsEqual(other.opaque)
    }

    private var opaque: Substring.UTF8View {
        text.utf8.dropFirst(text.starts(withBytes: "W/") ? 2 : 0)
    }
}
