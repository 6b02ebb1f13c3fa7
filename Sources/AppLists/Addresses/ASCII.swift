// SPDX-License-Identifier: Apache-2.0

/// Kinds of ASCII characters, by their bytes.
extension UInt8 {
    @inlinable package var isDigit: Bool { (0x30...0x39).contains(self) }
    @inlinable package var isHexDigit: Bool { isDigit || (0x61...0x66).contains(self | 0x20) }
    @inlinable package var isLetter: Bool { (0x61...0x7A).contains(self | 0x20) }
    /// Whether it is a letter, a digit, `-`, `.` or `_`.
    @inlinable package var isOfName: Bool {
        isLetter || isDigit || self == UInt8(ascii: "-") || self == UInt8(ascii: ".") || self == UInt8(ascii: "_")
    }

    /// Whether it is a space, a tab or a line end.
    @inlinable package var isWhiteSpace: Bool { self == 0x20 || (0x09...0x0D).contains(self) }

    /// Whether it is unreserved in URLs (RFC 3986, section 2.3).
    var isUnreserved: Bool { isOfName || self == UInt8(ascii: "~") }
}
