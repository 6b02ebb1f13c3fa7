// SPDX-License-Identifier: Apache-2.0

/// The path of a drawn icon, `/icons/NAME.png`, with the name percent-encoded (RFC 3986) so that it can be any text.
enum IconPath {
    private static let prefix = "/icons/"
    private static let suffix = ".png"

    static func path(for name: String) -> String {
        prefix + encoded(name) + suffix
    }

    /// The name in the path; `nil` if the path is not that of an icon.
    static func name(in path: String) -> String? {
        guard path.hasPrefix(prefix), path.hasSuffix(suffix), path.count >= prefix.count + suffix.count else {
            return nil
        }
        let name = path.dropFirst(prefix.count).dropLast(suffix.count)
        return name.contains("/") ? nil : decoded(name)
    }

    /// The text with every byte written as `%XX`, but for letters, digits and the four signs that need it never.
    private static func encoded(_ text: String) -> String {
        var encoded = ""
        for byte in text.utf8 {
            switch Unicode.Scalar(byte) {
            case "A"..."Z", "a"..."z", "0"..."9", "-", "_", "~", ".":
                encoded.unicodeScalars.append(Unicode.Scalar(byte))
            default:
                encoded += (byte < 16 ? "%0" : "%") + String(byte, radix: 16, uppercase: true)
            }
        }
        return encoded
    }

    /// The text that was encoded; `nil` if a `%` is not followed by two hexadecimal digits.
    private static func decoded(_ text: Substring) -> String? {
        var bytes: [UInt8] = []
        var rest = text.utf8[...]
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
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        Character(Unicode.Scalar(byte)).hexDigitValue.map { UInt8($0) }
    }
}
