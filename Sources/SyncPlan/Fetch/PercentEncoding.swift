// SPDX-License-Identifier: Apache-2.0

/// How URLs write bytes that they cannot have in them (RFC 3986, section 2.1).
enum PercentEncoding {
    /// The bytes that a text stands for; `nil` if a “%” in it is not followed by two hexadecimal digits.
    static func decode(_ text: Substring) -> [UInt8]? {
        var bytes: [UInt8] = []
        var rest = text.utf8[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            let digits = Substring(rest.prefix(2))
            guard digits.utf8.count == 2, digits.allSatisfy(\.isHexDigit), let value = UInt8(digits, radix: 16) else {
                return nil
            }
            bytes.append(value)
            rest = rest.dropFirst(2)
        }
        return bytes
    }
}
