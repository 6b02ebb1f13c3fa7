// SPDX-License-Identifier: Apache-2.0
import AppLists
import CacheFormat

/// Checks a JSON text (RFC 8259) before it is decoded.
///
/// Foundation's decoder can end the process if there are too many levels, takes only one of several values with the
/// same key, and does not say on Linux where the fault is.
struct JSONOutline {
    private let bytes: [UInt8]
    private var offset: Int
    /// The offsets of the brackets that are open, outermost first.
    private var open: [Int] = []
    private var repeated: RepeatedKeys
    private var topKeys = 0
    /// The key to count; `nil` counts all.
    private let sought: String?

    /// Counts the keys of the outermost object, or those that may be a given one, duplicates included, and notes repeated
    /// keys; 0 if the text is not an object.
    ///
    /// - Throws: A rejection with the first fault and its line, or if nesting exceeds the limit.
    static func topKeys(
        _ bytes: [UInt8], thatMayBe key: String? = nil, _ repeated: inout RepeatedKeys
    ) throws(ListRejection) -> Int {
        var outline = JSONOutline(bytes: bytes, offset: bytes.textStart, repeated: repeated, sought: key)
        guard outline.skipWhiteSpace() else { return 0 }
        try outline.value()
        if outline.skipWhiteSpace() { throw outline.fault("\(outline.found) after the end of the list") }
        repeated = outline.repeated
        return outline.topKeys
    }

    /// Whether a text is meant as JSON: in an OpenStep property list, “=” follows a key, and arrays are in parentheses.
    static func isLikely(_ text: ArraySlice<UInt8>) -> Bool {
        var text = text.drop(while: \.isWhiteSpace)
        while text.starts(with: "//".utf8) {
            text = text.drop { $0 != UInt8(ascii: "\n") }.drop(while: \.isWhiteSpace)
        }
        guard text.first == UInt8(ascii: "{") else { return text.first == UInt8(ascii: "[") }
        let key = text.dropFirst().drop(while: \.isWhiteSpace)
        guard let quote = key.first, "\"'".utf8.contains(quote) else { return false }
        var index = key.startIndex + 1
        while index < key.endIndex, key[index] != quote {
            index += key[index] == UInt8(ascii: "\\") ? 2 : 1
        }
        return key.dropFirst(index + 1 - key.startIndex).first { !$0.isWhiteSpace } == UInt8(ascii: ":")
    }

    // MARK: Values

    private mutating func value() throws(ListRejection) {
        switch try nextByte() {
        case UInt8(ascii: "["), UInt8(ascii: "{"): try container()
        case UInt8(ascii: "\""): try string()
        case UInt8(ascii: "'"): throw fault("a string must be in double quotes")
        case UInt8(ascii: "/"): throw fault("JSON has no comments")
        case UInt8(ascii: "]"), UInt8(ascii: "}"), UInt8(ascii: ","): throw fault("a value is missing before \(found)")
        default:
            let word = bytes[offset...].prefix { $0.isOfName || $0 == UInt8(ascii: "+") }
            guard Self.isNumber(word) || ["true", "false", "null"].contains(where: { word.elementsEqual($0.utf8) })
            else {
                throw fault("\(found) is no value: write strings in double quotes")
            }
            offset = word.endIndex
        }
    }

    private mutating func container() throws(ListRejection) {
        let isObject = bytes[offset] == UInt8(ascii: "{")
        let end: Unicode.Scalar = isObject ? "}" : "]"
        var isFirst = true
        open.append(offset)
        repeated.begin(isArray: !isObject)
        guard open.count <= ListLimits.maxDepth else { throw .tooDeep(limit: ListLimits.maxDepth) }
        offset += 1
        while try nextByte() != UInt8(ascii: end) {
            if !isFirst {
                guard bytes[offset] == UInt8(ascii: ",") else {
                    throw fault("“,” or “\(end)” is missing before \(found)")
                }
                offset += 1
                if try nextByte() == UInt8(ascii: end) { throw fault("a comma before “\(end)”") }
            }
            isFirst = false
            if isObject { try key() }
            try value()
        }
        open.removeLast()
        repeated.end()
        offset += 1
    }

    private mutating func key() throws(ListRejection) {
        guard bytes[offset] == UInt8(ascii: "\"") else { throw fault("a key must be a string in double quotes") }
        let start = offset + 1
        try string()
        repeated.add(bytes[start..<offset - 1])
        if open.count == 1, bytes[start..<offset - 1].mayBe(sought, marks: "\\") { topKeys += 1 }
        guard try nextByte() == UInt8(ascii: ":") else { throw fault("“:” is missing after a key") }
        offset += 1
    }

    /// Skips a string.
    ///
    /// Its escapes are left to the decoder, except that an invalid one is a fault.
    private mutating func string() throws(ListRejection) {
        let start = offset
        offset += 1
        while offset < bytes.count {
            switch bytes[offset] {
            case UInt8(ascii: "\""):
                offset += 1
                guard String(utf8: bytes[start..<offset]) != nil else { throw fault("the text is not UTF-8") }
                return
            case UInt8(ascii: "\\"):
                let escape = bytes[(offset + 1)...].prefix(5)
                guard let kind = escape.first, "\"\\/bfnrtu".utf8.contains(kind) else {
                    throw fault("“\\” begins no known escape: write “\\\\”")
                }
                guard kind != UInt8(ascii: "u") || escape.count == 5 && escape.dropFirst().allSatisfy(\.isHexDigit)
                else {
                    throw fault("“\\u” needs four hexadecimal digits")
                }
                offset += 2
            case UInt8(ascii: "\n"), UInt8(ascii: "\r"): throw fault("a string has no closing quote")
            case ..<0x20: throw fault("a control character in a string")
            default: offset += 1
            }
        }
        throw fault("a string has no closing quote", at: start)
    }

    /// Not a regular expression, which would take a tenth of a millisecond for each number.
    private static func isNumber(_ word: ArraySlice<UInt8>) -> Bool {
        func isDigits(_ part: ArraySlice<UInt8>) -> Bool { !part.isEmpty && part.allSatisfy(\.isDigit) }
        let mantissa = word.prefix { $0 | 0x20 != UInt8(ascii: "e") }
        let exponent = word[mantissa.endIndex...].dropFirst()
        let integer = mantissa.prefix { $0 != UInt8(ascii: ".") }
        let fraction = mantissa[integer.endIndex...].dropFirst()
        let digits = integer.first == UInt8(ascii: "-") ? integer.dropFirst() : integer
        return isDigits(digits) && (digits.count == 1 || digits.first != UInt8(ascii: "0"))
            && (integer.endIndex == mantissa.endIndex || isDigits(fraction))
            && (mantissa.endIndex == word.endIndex
                || isDigits("+-".utf8.contains(exponent.first ?? 0) ? exponent.dropFirst() : exponent))
    }

    // MARK: Bytes

    /// Skips white space; returns whether anything follows.
    private mutating func skipWhiteSpace() -> Bool {
        while offset < bytes.count, bytes[offset] <= 0x20, " \t\r\n".utf8.contains(bytes[offset]) { offset += 1 }
        return offset < bytes.count
    }

    /// The next byte that is not white space; there must be one, because a bracket is open.
    private mutating func nextByte() throws(ListRejection) -> UInt8 {
        if skipWhiteSpace() { return bytes[offset] }
        let last = open[open.count - 1]
        let bracket = Unicode.Scalar(bytes[last])
        throw fault("end of file, but “\(bracket)” of line \(bytes.line(at: last)) is not closed")
    }

    // MARK: Messages

    /// The text at the offset, for a message.
    private var found: String {
        let word = bytes[offset...].prefix(64).prefix { $0.isOfName || $0 >= 0x80 }
        return "“\(ListPath.shown(String(decoding: word.isEmpty ? bytes[offset...offset] : word, as: UTF8.self)))”"
    }

    private func fault(_ text: String, at position: Int? = nil) -> ListRejection {
        .notJSON("line \(bytes.line(at: position ?? offset)): \(text)")
    }
}
