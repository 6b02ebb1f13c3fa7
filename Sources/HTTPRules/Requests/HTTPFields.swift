// SPDX-License-Identifier: Apache-2.0
import CacheFormat

/// The header fields of a response, in their original order.
///
/// Stored as one text with one line per field, `name: value`, the name in lower case: one allocation, and one text
/// in the database. Fields that do not fit this form (an invalid name, a value with a control character) are invalid in HTTP
/// too, and are dropped.
package struct HTTPFields: Hashable, Sendable {
    /// All fields as one text, which ``init(text:)`` parses.
    package let text: String

    /// The fields as read by a transport; names in any case.
    package init(_ lines: [(name: String, value: String)] = []) {
        var text = ""
        for line in lines {
            let value = line.value.trimmingWhitespace
            guard !line.name.isEmpty, line.name.utf8.allSatisfy(Self.isNameByte),
                value.utf8.allSatisfy(\.isOfFieldValue)
            else { continue }
            text += "\(line.name.asciiLowercased): \(value)\n"
        }
        self.text = text
    }

    /// Fields that are validated already and in the form of ``text``.
    init(checked text: String) {
        self.text = text
    }

    /// Parses a stored ``text``; malformed lines are ignored.
    package init(text: String) { self.init(HTTPFields(checked: text).lines) }

    /// The fields: names in lower case, and values without surrounding white space.
    package var lines: [(name: String, value: String)] {
        text.utf8.split(separator: UInt8(ascii: "\n")).compactMap { line in
            line.firstIndex(of: UInt8(ascii: ":")).map { colon in
                (String(Substring(line[..<colon])), Substring(line[colon...].dropFirst()).trimmingWhitespace)
            }
        }
    }

    /// The values of all lines with this lower-case name.
    package subscript(name: String) -> [String] {
        var values: [String] = []
        var start = 0
        while let value = self.value(of: name, from: &start, { $0.string }) { values.append(value) }
        return values
    }

    /// The value of the first line with this lower-case name.
    package func first(_ name: String) -> String? { first(name) { $0.string } }

    /// What `read` makes of the value of the first line with this lower-case name.
    func first<Value>(_ name: String, _ read: (Span<UInt8>) -> Value?) -> Value? {
        var start = 0
        return value(of: name, from: &start, read) ?? nil
    }

    /// Reads the value of the first such line at or after byte `start`, which advances to the byte after the line.
    @inline(__always)
    private func value<Value>(of name: String, from start: inout Int, _ read: (Span<UInt8>) -> Value) -> Value? {
        let bytes = text.utf8Span.span
        let name = name.utf8Span.span
        // Each line is `name: value`, and ends with a line feed.
        while start < bytes.count {
            var length = 0
            while length < name.count, bytes[start + length] == name[length] { length += 1 }
            let isNamed = length == name.count && bytes[start + length] == UInt8(ascii: ":")
            let end = Self.end(ofLine: start + length, in: bytes)
            defer { start = end + 1 }
            if isNamed { return read(bytes.extracting(start + length + 2..<end)) }
        }
        return nil
    }

    /// The place of the line feed at or after `start`; the end if there is none.
    static func end(ofLine start: Int, in bytes: Span<UInt8>) -> Int {
        bytes.firstIndex(of: UInt8(ascii: "\n"), from: start) ?? bytes.count
    }

    /// The lines with this name as one comma-separated list (RFC 9110, section 5.3).
    package func joined(_ name: String) -> String? {
        var start = 0
        guard var list = value(of: name, from: &start, { $0.string }) else { return nil }
        while let value = value(of: name, from: &start, { $0.string }) { list += ", " + value }
        return list
    }

    private static func isNameByte(_ byte: UInt8) -> Bool {
        byte > 0x20 && byte < 0x7F && byte != UInt8(ascii: ":")
    }
}

extension StringProtocol {
    /// The text without spaces and tabs at its ends (RFC 9110, section 5.6.3).
    var trimmingWhitespace: String {
        var rest = Substring(self).utf8.drop(while: \.isBlank)
        while rest.last?.isBlank == true { rest.removeLast() }
        return String(Substring(rest))
    }
}

extension UInt8 {
    /// Whether it is a space or a tab, the white space of header fields.
    var isBlank: Bool { self == 0x20 || self == 0x09 }

    /// Whether the value of a header field can have it (RFC 9110, section 5.5).
    var isOfFieldValue: Bool { self >= 0x20 && self != 0x7F || self == 0x09 }
}
