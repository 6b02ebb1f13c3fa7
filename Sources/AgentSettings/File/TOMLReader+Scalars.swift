// SPDX-License-Identifier: Apache-2.0
import CacheFormat

extension TOMLReader {
    private static let escapes = Dictionary(
        uniqueKeysWithValues: zip("btnfr\"\\".utf8, "\u{8}\t\n\u{C}\r\"\\".utf8))

    /// Reads a string of any kind; a string that is a key must end on its line.
    mutating func readString(isKey: Bool = false) throws(Failure) -> String {
        guard let quote = readByte() else { return "" }
        let isLong = !isKey && bytes[index...].starts(with: [quote, quote])
        if isLong {
            index += 2
            _ = skip("\n")
        }
        var text: [UInt8] = []
        while isLong || !isAtLineEnd, let byte = readByte() {
            if "\\" ~= byte, "\"" ~= quote {
                text += readEscape(isLong: isLong)
            } else if byte == quote, !isLong || bytes[index...].starts(with: [quote, quote]) {
                // A long string ends with three quotes; up to two more before them belong to the string.
                let rest = isLong ? bytes[index...].prefix(4).prefix { $0 == quote } : []
                index += rest.count
                return String(decoding: text + rest.dropFirst(2), as: UTF8.self)
            } else {
                text.append(byte)
            }
        }
        throw isLong ? Self.endless : .syntax("the quotes at the end of a string are missing")
    }

    /// Reads an escape sequence after its backslash; an invalid sequence is a flaw of its line, and does not end the string.
    private mutating func readEscape(isLong: Bool) -> [UInt8] {
        let start = index
        skipSpace()
        if isLong, skip("\n") {
            while skip(" ") || skip("\t") || skip("\n") {}
            return []
        }
        index = start
        guard !isAtLineEnd, let sign = readByte() else { return [] }
        if let byte = Self.escapes[sign] { return [byte] }
        let count = "u" ~= sign ? 4 : "U" ~= sign ? 8 : 0
        let digits = bytes[index...].prefix(count).prefix(while: Self.isBare)
        index += digits.count
        let value = digits.count == count ? UInt32(String(decoding: digits, as: UTF8.self), radix: 16) : nil
        guard let value, let scalar = Unicode.Scalar(value) else {
            let message = "a backslash in double quotes begins no known escape sequence: write it twice"
            record(.syntax(message), ofStatementAt: line)
            return []
        }
        if value == 0 { record(Self.nul, at: line) }
        return Array(String(scalar).utf8)
    }

    /// The value of an unquoted text.
    func scalar(_ text: String) throws(Failure) -> Value {
        let word = text.trimmed
        let shape = word.utf8.map { "0"..."9" ~= $0 ? UInt8(ascii: "0") : $0 }
        if shape.starts(with: "0000-00-00".utf8) {
            if let sign = shape.dropFirst(10).first, "T" ~= sign || "t" ~= sign, !("0" ~= shape.dropFirst(11).first) {
                throw .statement("There is no time after the “T” of a date.")
            }
            return .date
        }
        if shape.starts(with: "00:00".utf8) { return .date }
        if let number = Self.integer(word) { return .integer(number) }
        switch word {
        case "": throw .syntax("the value is missing")
        case "true": return .boolean(true)
        case "false": return .boolean(false)
        default: break
        }
        // A text without any of these characters is an invalid integer or no number.
        let isFloat =
            word.utf8.contains { ".eEn".utf8.contains($0) } && Double(word.replacing(bytes: "_", with: "")) != nil
        guard isFloat else { throw .syntax("the value is not a string in quotes, a 64-bit integer, true or false") }
        return .float
    }

    private static func integer(_ word: String) -> Int? {
        let radix = ["0x": 16, "0o": 8, "0b": 2][word.prefix(bytes: 2)] ?? 10
        let isSigned = word.starts(withBytes: "+") || word.starts(withBytes: "-")
        let digits = word.dropping(bytes: radix != 10 ? 2 : isSigned ? 1 : 0)
        let groups = digits.split(atByte: "_", omittingEmpty: false)
        guard !groups.contains(""), radix != 10 || digits == "0" || !digits.starts(withBytes: "0") else { return nil }
        return Int((word.starts(withBytes: "-") ? "-" : "+") + groups.joined(), radix: radix)
    }
}
