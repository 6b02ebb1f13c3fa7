// SPDX-License-Identifier: Apache-2.0

/// RFC 3986, section 2.1.
package enum PercentEncoding {
    /// Encodes all bytes as `%XX`, except unreserved ones (RFC 3986, section 2.3) and the ASCII characters of `kept`.
    package static func encode(_ text: String, keeping kept: String = "") -> String {
        var encoded = ""
        for byte in text.utf8 {
            if isUnreserved(byte) || kept.utf8.contains(byte) {
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
            if isEscape || isUnreserved(byte) || "!$&'()*+,;=:@/?#".utf8.contains(byte) {
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

    private static func isUnreserved(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
            UInt8(ascii: "~"):
            true
        default: false
        }
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

    private static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        default: nil
        }
    }
}
