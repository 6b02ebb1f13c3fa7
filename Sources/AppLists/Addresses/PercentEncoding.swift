// SPDX-License-Identifier: Apache-2.0

/// RFC 3986, section 2.1.
package enum PercentEncoding {
    /// Encodes all bytes as `%XX`, except unreserved ones (RFC 3986, section 2.3) and the ASCII characters of `kept`.
    package static func encode(_ text: String, keeping kept: String = "") -> String {
        var encoded = ""
        for byte in text.utf8 {
            if byte.isUnreserved || kept.utf8.contains(byte) {
                encoded.unicodeScalars.append(Unicode.Scalar(byte))
            } else {
                append(byte, to: &encoded)
            }
        }
        return encoded
    }

    /// Encodes what no path, query or fragment may contain (RFC 3986, sections 3.3 to 3.5); existing escapes stay.
    static func encodeForbidden(_ text: Substring.UTF8View) -> String {
        var encoded = ""
        var rest = text
        while let byte = rest.popFirst() {
            let isEscape =
                byte == UInt8(ascii: "%") && rest.prefix(2).count == 2 && rest.prefix(2).allSatisfy { digit($0) != nil }
            if isEscape || byte.isUnreserved || "!$&'()*+,;=:@/?#".utf8.contains(byte) {
                encoded.unicodeScalars.append(Unicode.Scalar(byte))
            } else {
                append(byte, to: &encoded)
            }
        }
        return encoded
    }

    private static func append(_ byte: UInt8, to encoded: inout String) {
        encoded += (byte < 0x10 ? "%0" : "%") + String(byte, radix: 16, uppercase: true)
    }

    /// Decodes a text; `nil` if two hexadecimal digits do not follow each “%”.
    package static func decode(_ text: Substring.UTF8View) -> [UInt8]? {
        var bytes: [UInt8] = []
        var rest = text
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard let high = rest.popFirst().flatMap(digit), let low = rest.popFirst().flatMap(digit) else {
                return nil
            }
            bytes.append(high << 4 | low)
        }
        return bytes
    }

    /// The value of a hexadecimal digit; `nil` for any other byte.
    package static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case 0x30...0x39: byte - 0x30
        case 0x41...0x46, 0x61...0x66: (byte | 0x20) - 0x61 + 10
        default: nil
        }
    }
}
