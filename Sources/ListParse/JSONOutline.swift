// SPDX-License-Identifier: Apache-2.0
import AppLists
import CacheFormat

/// What is known of a JSON text (RFC 8259) before it is decoded.
///
/// Foundation's decoder can end the process where there are too many levels, takes one of several values of the same key,
/// and does not say on Linux what is wrong.
package enum JSONOutline: Equatable {
    /// A text of the grammar, with the number of keys of the outermost object, duplicates included.
    case wellFormed(topKeys: Int)
    case tooDeep
    /// The first fault, with its line, as a clause.
    case fault(String)

    package init(of bytes: [UInt8], maxDepth: Int = ListLimits.maxDepth) {
        var scan = JSONScan(bytes: bytes, maxDepth: maxDepth)
        self = scan.outline()
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
}

private struct JSONScan {
    /// What the grammar allows next.
    private enum Expected { case value, valueOrEnd, key, keyOrEnd, colon, commaOrEnd, nothing }

    let bytes: [UInt8]
    let maxDepth: Int
    private var offset = 0
    /// The offsets of the brackets that are open, outermost first.
    private var open: [Int] = []
    private var topKeys = 0

    init(bytes: [UInt8], maxDepth: Int) {
        (self.bytes, self.maxDepth) = (bytes, maxDepth)
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { offset = 3 }
    }

    mutating func outline() -> JSONOutline {
        var expected = Expected.value
        while true {
            while offset < bytes.count, " \t\r\n".utf8.contains(bytes[offset]) { offset += 1 }
            guard offset < bytes.count else { break }
            switch (expected, bytes[offset]) {
            case (.value, UInt8(ascii: "[")), (.valueOrEnd, UInt8(ascii: "[")):
                open.append(offset)
                expected = .valueOrEnd
            case (.value, UInt8(ascii: "{")), (.valueOrEnd, UInt8(ascii: "{")):
                open.append(offset)
                expected = .keyOrEnd
            case (.valueOrEnd, UInt8(ascii: "]")),
                (.commaOrEnd, UInt8(ascii: "]")) where isOpen("["),
                (.keyOrEnd, UInt8(ascii: "}")),
                (.commaOrEnd, UInt8(ascii: "}")) where isOpen("{"):
                open.removeLast()
                expected = open.isEmpty ? .nothing : .commaOrEnd
            case (.commaOrEnd, UInt8(ascii: ",")): expected = isOpen("{") ? .key : .value
            case (.colon, UInt8(ascii: ":")): expected = .value
            case (.value, _), (.valueOrEnd, _):
                if let fault = scalar() { return self.fault(fault) }
                expected = open.isEmpty ? .nothing : .commaOrEnd
                continue
            case (.key, UInt8(ascii: "\"")), (.keyOrEnd, UInt8(ascii: "\"")):
                if let fault = string() { return self.fault(fault) }
                if open.count == 1 { topKeys += 1 }
                expected = .colon
                continue
            case (.key, UInt8(ascii: "}")): return fault("a comma before “}”")
            case (.key, _), (.keyOrEnd, _): return fault("a key must be a string in double quotes")
            case (.colon, _): return fault("“:” is missing after a key")
            case (.commaOrEnd, _): return fault("“,” or “\(isOpen("{") ? "}" : "]")” is missing before \(found)")
            case (.nothing, _): return fault("\(found) after the end of the list")
            }
            offset += 1
            if open.count > maxDepth { return .tooDeep }
        }
        guard let last = open.last else { return .wellFormed(topKeys: topKeys) }
        let bracket = Unicode.Scalar(bytes[last])
        return fault("end of file, but “\(bracket)” of line \(line(at: last)) is not closed")
    }

    /// Whether the innermost open bracket is this one.
    private func isOpen(_ bracket: Unicode.Scalar) -> Bool { open.last.map { bytes[$0] } == UInt8(ascii: bracket) }

    // MARK: Values

    private mutating func scalar() -> String? {
        switch bytes[offset] {
        case UInt8(ascii: "\""): return string()
        case UInt8(ascii: "'"): return "a string must be in double quotes"
        case UInt8(ascii: "/"): return "JSON has no comments"
        case UInt8(ascii: "]") where isOpen("["): return "a comma before “]”"
        case UInt8(ascii: "]"), UInt8(ascii: "}"), UInt8(ascii: ","): return "a value is missing before \(found)"
        default: break
        }
        let word = bytes[offset...].prefix { $0.isOfName || $0 == UInt8(ascii: "+") }
        guard ["true", "false", "null"].contains(where: { word.elementsEqual($0.utf8) }) || Self.isNumber(word) else {
            return "\(found) is no value: write strings in double quotes"
        }
        offset = word.endIndex
        return nil
    }

    /// Without a regular expression, which takes a tenth of a millisecond for each number.
    private static func isNumber(_ word: ArraySlice<UInt8>) -> Bool {
        var rest = word
        func takeByte(of bytes: String) -> Bool {
            guard let first = rest.first, bytes.utf8.contains(first) else { return false }
            rest = rest.dropFirst()
            return true
        }
        func takeDigits() -> Bool {
            let count = rest.count
            rest = rest.drop(while: \.isDigit)
            return rest.count < count
        }
        _ = takeByte(of: "-")
        guard takeByte(of: "0") || takeDigits() else { return false }
        if takeByte(of: "."), !takeDigits() { return false }
        if takeByte(of: "eE") {
            _ = takeByte(of: "+-")
            guard takeDigits() else { return false }
        }
        return rest.isEmpty
    }

    /// Skips a string; its escapes are left to the decoder, except that a wrong one is a fault.
    private mutating func string() -> String? {
        let start = offset
        offset += 1
        while offset < bytes.count {
            switch bytes[offset] {
            case UInt8(ascii: "\""):
                offset += 1
                return String(utf8: bytes[start..<offset]) == nil ? "the text is not UTF-8" : nil
            case UInt8(ascii: "\\"):
                let next = offset + 1 < bytes.count ? bytes[offset + 1] : 0
                guard "\"\\/bfnrtu".utf8.contains(next) else { return "“\\” begins no known escape: write “\\\\”" }
                if next == UInt8(ascii: "u") {
                    let digits = bytes[(offset + 2)...].prefix(4)
                    guard digits.count == 4, digits.allSatisfy({ $0.isDigit || (0x61...0x66).contains($0 | 0x20) })
                    else {
                        return "“\\u” needs four hexadecimal digits"
                    }
                }
                offset += 2
            case UInt8(ascii: "\n"), UInt8(ascii: "\r"):
                return "a string has no closing quote"
            case ..<0x20: return "a control character in a string"
            default: offset += 1
            }
        }
        offset = start
        return "a string has no closing quote"
    }

    // MARK: Messages

    /// What is at the offset, for a message.
    private var found: String {
        let word = bytes[offset...].prefix(64).prefix { $0.isOfName || $0 >= 0x80 }
        return "“\(ListPath.shown(String(decoding: word.isEmpty ? bytes[offset...offset] : word, as: UTF8.self)))”"
    }

    private func fault(_ text: String) -> JSONOutline { .fault("line \(line(at: offset)): \(text)") }

    private func line(at offset: Int) -> Int { 1 + bytes[..<offset].count { $0 == UInt8(ascii: "\n") } }
}
