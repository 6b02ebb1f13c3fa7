// SPDX-License-Identifier: Apache-2.0
import AppLists
import CacheFormat

/// The text of a list in UTF-8, which is all that the scanners read.
enum ListText {
    /// - Throws: A rejection if the text is not in an encoding that property lists have here.
    static func utf8(_ bytes: [UInt8]) throws(ListRejection) -> (bytes: [UInt8], isTranscoded: Bool) {
        guard let (size, isBigEndian) = wideUnits(of: bytes) else { return (try declaredText(bytes), false) }
        let units = stride(from: 0, to: bytes.count - bytes.count % size, by: size).map { start in
            let unit = bytes[start..<start + size]
            return isBigEndian
                ? unit.reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
                : unit.reversed().reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        }
        let text = units.first == 0xFEFF ? units[1...] : units[...]
        let decoded =
            size == 2
            ? String(validating: text.map(UInt16.init), as: UTF16.self) : String(validating: text, as: UTF32.self)
        guard let decoded, bytes.count % size == 0 else {
            throw .notAPropertyList("it is not valid UTF-\(8 * size): write it in UTF-8")
        }
        var transcoded = Array(decoded.utf8)
        if let encoding = declaredEncoding(in: transcoded) { transcoded.blank(encoding.attribute) }
        return (transcoded, true)
    }

    /// The size of the units of a text in UTF-16 or UTF-32; `nil` for other bytes.
    private static func wideUnits(of bytes: [UInt8]) -> (size: Int, isBigEndian: Bool)? {
        let start = Array(bytes.prefix(4))
        if start == [0xFF, 0xFE, 0, 0] || start == [0, 0, 0xFE, 0xFF] { return (4, start[0] == 0) }
        if start.starts(with: [0xFF, 0xFE]) || start.starts(with: [0xFE, 0xFF]) { return (2, start[0] == 0xFE) }
        // Without a mark, the first character is one of ASCII.
        switch start.map({ $0 == 0 }) {
        case [true, true, true, false]: return (4, true)
        case [false, true, true, true]: return (4, false)
        case [true, false, true, false], [true, false, false, true], [true, false, false, false]: return (2, true)
        case [false, true, false, true], [false, true, false, false], [false, true, true, false]: return (2, false)
        default: return nil
        }
    }

    /// The text of an XML property list in the encoding that it declares, if the parser does not know that one.
    private static func declaredText(_ bytes: [UInt8]) throws(ListRejection) -> [UInt8] {
        // A byte order mark says that it is UTF-8, whatever is declared.
        guard bytes.textStart == 0, let (name, attribute) = declaredEncoding(in: bytes), name != "utf-8" else {
            return bytes
        }
        // Programs write names of their own for encodings, such as “utf8” and “latin_1”.
        let encoding = String(decoding: name.utf8.filter { !"-_".utf8.contains($0) }, as: UTF8.self)
        let isUTF8 = encoding == "utf8" || ["usascii", "ascii"].contains(encoding) && bytes.allSatisfy { $0 < 0x80 }
        guard isUTF8 || ["iso88591", "latin1"].contains(encoding) else {
            if name.starts(withBytes: "utf") { return bytes }
            throw .notAPropertyList("it is in \(name), or says so: write it in UTF-8")
        }
        var text = bytes
        text.blank(attribute)
        return isUTF8 ? text : Array(String(String.UnicodeScalarView(text.map(Unicode.Scalar.init))).utf8)
    }

    /// The encoding that an XML declaration names, in lower case, and the place where it does.
    private static func declaredEncoding(in bytes: [UInt8]) -> (name: String, attribute: Range<Int>)? {
        let start = bytes.textStart
        guard bytes[start...].starts(with: "<?xml".utf8) else { return nil }
        let head = bytes[start...].prefix(256).prefix { $0 != UInt8(ascii: ">") }
        let attribute = " encoding".utf8
        guard let first = head.indices.first(where: { head[$0...].starts(with: attribute, by: isSameOrSpace) })
        else { return nil }
        var rest = head[(first + attribute.count)...].drop { $0.isWhiteSpace }
        guard rest.popFirst() == UInt8(ascii: "=") else { return nil }
        rest = rest.drop { $0.isWhiteSpace }
        guard let quote = rest.popFirst(), "\"'".utf8.contains(quote) else { return nil }
        let name = rest.prefix { $0.isOfName || $0 == UInt8(ascii: ":") }
        guard !name.isEmpty, rest.dropFirst(name.count).first == quote else { return nil }
        return (String(decoding: name, as: UTF8.self).asciiLowercased, first..<name.endIndex + 1)
    }

    private static func isSameOrSpace(_ byte: UInt8, _ wanted: UInt8) -> Bool {
        byte == wanted || byte.isWhiteSpace && wanted.isWhiteSpace
    }
}

extension [UInt8] {
    fileprivate mutating func blank(_ range: Range<Int>) {
        replaceSubrange(range, with: repeatElement(UInt8(ascii: " "), count: range.count))
    }
}
