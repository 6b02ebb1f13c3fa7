// SPDX-License-Identifier: Apache-2.0
import CacheFormat

/// Reads TOML 1.0 (<https://toml.io/en/v1.0.0>): the values in a text, each with its key and its line.
///
/// A statement with an error is skipped, so that all errors of a text are found. Types that no setting takes are only
/// recognized: a float or a date by its shape, and a table in an array by its syntax.
package struct TOMLReader {
    package enum Value: Equatable, Sendable {
        case string(String), integer(Int), boolean(Bool), float, date, array([Value]), inlineTable
        /// A line `[table]`.
        case table
    }

    enum Failure: Error {
        case syntax(String)
        /// A failure of the whole statement, reported at its first line.
        case statement(String)
    }

    /// What a key stands for: a value, a table with its own header, a table that is only part of another header or of a
    /// dotted key, or an array of tables.
    private enum Use { case value, table, outerTable, dottedTable, elements }

    /// The most parts of a key, including those of its tables.
    private static let mostParts = 16
    private static let mostOpenArrays = 64
    /// Replaces a part that cannot be defined, and occurs in no text: keys with it are read only to find their errors.
    private static let hidden = "\0"

    /// The values in the order of the text.
    package private(set) var items: [(key: [String], value: Value, line: Int)] = []
    /// The first error of each wrong line, as a sentence; with the key if the form of its setting may help.
    package private(set) var flaws: [Int: (message: String, key: [String])] = [:]
    var bytes: [UInt8] = []
    var index = 0
    private(set) var line = 1
    private var table: [String] = []
    /// The statement that is being read: its last key, the number of its open arrays, and whether it has an error.
    private var (key, openArrays, isWrong) = ([String](), 0, false)
    private var uses: [[String]: (use: Use, line: Int)] = [:]
    /// The number of elements of each array of tables.
    private var counts: [[String]: Int] = [:]

    package init(_ text: String) {
        // Some editors begin a file with a byte order mark.
        copy(Array(text.utf8.dropFirst(text.starts(withBytes: "\u{FEFF}") ? 3 : 0)))
        while true {
            skipLines()
            guard next != nil else { return }
            let (start, count) = (line, items.count)
            (key, openArrays, isWrong) = ([], 0, false)
            do throws(Failure) {
                if skip("[") { try readHeader() } else { try readPair(in: table) }
                skipSpace()
                guard isAtLineEnd || "#" ~= next else { throw .syntax("unexpected text at the end of the line") }
            } catch {
                record(error, ofStatementAt: start)
                recover(from: start)
            }
            if isWrong { items.removeLast(items.count - count) }
        }
    }

    /// Copies the text without the carriage returns at line ends, and records bytes that are wrong in any place.
    private mutating func copy(_ text: [UInt8]) {
        var line = 1
        for (byte, following) in zip(text, text.dropFirst() + [0]) {
            switch byte {
            case "\r" where "\n" ~= following: continue
            case "\n": line += 1
            case "\r": record("A carriage return is allowed only at the end of a line, before a line feed.", at: line)
            case 0: record(Self.nul, at: line)
            case 0x01...0x08, 0x0B...0x1F, 0x7F: record("A control character is not allowed.", at: line)
            default: break
            }
            bytes.append(byte)
        }
    }

    // MARK: Statements

    /// Reads the rest of a header after its first bracket: `[table]` or `[[table]]`.
    private mutating func readHeader() throws(Failure) {
        let isElement = skip("[")
        table = [Self.hidden]
        guard let name = try? readKey() else {
            throw .statement("The table has no name that can be read: write it as [fetch].")
        }
        guard skip("]"), !isElement || skip("]") else { throw .syntax("a “]” is missing after the name of the table") }
        var path: [String] = []
        for part in name.dropLast() { enter(part, of: &path) }
        path += name.suffix(1)
        if isElement {
            let array = path
            try define(&path, as: .elements)
            append(path, .array([.table]), at: line)
            table = path + [Self.element(counts[array, default: 0])]
            counts[array, default: 0] += 1
        } else {
            table = path
            try define(&path, as: .table)
            append(path, .table, at: line)
        }
    }

    /// Appends a part of a header to a path; if the part is an array of tables, also the index of its last element.
    private func enter(_ part: String, of path: inout [String]) {
        path.append(part)
        if let count = counts[path] { path.append(Self.element(count - 1)) }
    }

    /// The path component for an element of an array of tables.
    private static func element(_ index: Int) -> String { "[\(index)]" }

    /// The elements of an array of tables, each with its line and its items.
    package func elements(of name: String) -> [(line: Int, items: [(key: [String], value: Value, line: Int)])] {
        items.filter { $0.key == [name] && $0.value == .array([.table]) }.enumerated().map { index, header in
            let path = [name, Self.element(index)]
            let own = items.filter { $0.key.count > 2 && $0.key.starts(with: path) }
            return (header.line, own.map { (Array($0.key.dropFirst(2)), $0.value, $0.line) })
        }
    }

    /// Whether an item is in an element of an array of tables.
    package func isInElement(_ key: [String]) -> Bool {
        counts.keys.contains { key.count > $0.count && key.starts(with: $0) }
    }

    private mutating func readPair(in table: [String]) throws(Failure) {
        let line = line
        key = try table + readKey()
        var path = key
        try define(&path, as: .value, below: table.count)
        guard skip("=") else { throw .syntax("a “=” is missing after the key") }
        append(path, try readValue(of: path), at: line)
    }

    /// Reads a key and the space around it: `a."b c".d`.
    private mutating func readKey() throws(Failure) -> [String] {
        var parts: [String] = []
        repeat {
            skipSpace()
            let isQuoted = isAtQuotes
            let part = isQuoted ? try readString(isKey: true) : readWord(while: Self.isBare)
            guard isQuoted || !part.isEmpty else { throw .syntax("a key is missing, or needs quotes") }
            parts.append(part)
            skipSpace()
        } while skip(".")
        return parts
    }

    /// Registers a key and its tables; hides a key that contradicts earlier ones.
    private mutating func define(_ key: inout [String], as use: Use, below count: Int = 0) throws(Failure) {
        guard key.count <= Self.mostParts else { throw .statement("The key has more than \(Self.mostParts) parts.") }
        for length in count + 1...key.count where !key.contains(Self.hidden) {
            let part = Array(key.prefix(length))
            let use = length == key.count ? use : use == .value ? .dottedTable : .outerTable
            switch (use, uses[part]?.use) {
            case (_, nil), (.table, .outerTable), (.dottedTable, .outerTable): uses[part] = (use, line)
            case (.outerTable, .table), (.outerTable, .outerTable), (.outerTable, .dottedTable),
                (.outerTable, .elements), (.elements, .elements), (.dottedTable, .dottedTable):
                break
            case (_, let other):
                let names = part.filter { !$0.starts(withBytes: "[") }
                let (name, first) = (names.joined(separator: "."), uses[part]?.line ?? line)
                let message =
                    use == .value || other == .value
                    ? "\(name) is set twice: remove this line, or line \(first)."
                    : "The table [\(name)] is there twice: put its keys together at line \(first)."
                record(message, at: line)
                key.append(Self.hidden)
            }
        }
    }

    private mutating func append(_ key: [String], _ value: Value, at line: Int) {
        if !key.contains(Self.hidden) { items.append((key, value, line)) }
    }

    // MARK: Values

    private mutating func readValue(of key: [String]) throws(Failure) -> Value {
        skipSpace()
        if isAtQuotes { return .string(try readString()) }
        if skip("[") { return .array(try readArray(of: key)) }
        if skip("{") { return try readInlineTable(of: openArrays > 0 ? key + [Self.hidden] : key) }
        return try scalar(readWord { !",]}#\n".utf8.contains($0) })
    }

    private mutating func readArray(of key: [String]) throws(Failure) -> [Value] {
        var values: [Value] = []
        openArrays += 1
        guard openArrays <= Self.mostOpenArrays else {
            throw .syntax("more than \(Self.mostOpenArrays) brackets are open")
        }
        repeat {
            try skipLinesOfArray()
            if "]" ~= next { break }
            values.append(try readValue(of: key))
            try skipLinesOfArray()
        } while skip(",")
        guard skip("]") else { throw .syntax("a comma or a “]” is missing in the array") }
        openArrays -= 1
        return values
    }

    private mutating func skipLinesOfArray() throws(Failure) {
        let first = line
        skipLines()
        if next == nil || line > first && isAtStatement { throw Self.endless }
    }

    private mutating func readInlineTable(of key: [String]) throws(Failure) -> Value {
        skipSpace()
        if skip("}") { return .inlineTable }
        repeat {
            try readPair(in: key)
            skipSpace()
        } while skip(",")
        guard skip("}") else { throw .syntax("a comma is missing in the inline table, or a “}” on the same line") }
        return .inlineTable
    }

    // MARK: Errors

    static let nul = "A NUL character is not allowed."
    static let endless = Failure.statement("The value has no end: a bracket or quotes are missing.")

    mutating func record(_ message: String, at line: Int, key: [String] = []) {
        if flaws[line] == nil { flaws[line] = (message, key) }
        isWrong = true
    }

    mutating func record(_ failure: Failure, ofStatementAt start: Int) {
        switch failure {
        case .syntax(let message): record("This is not TOML: \(message).", at: line, key: key)
        case .statement(let message): record(message, at: start)
        }
    }

    /// Skips the rest of a statement with an error: to the next line, or in an open array to the next statement.
    private mutating func recover(from start: Int) {
        var isFound = openArrays > 0 && line > start && isAtStatement
        while !isFound, next != nil {
            skipLine()
            skipLines()
            isFound = openArrays == 0 || isAtStatement
        }
    }

    /// Whether the line begins like a statement.
    ///
    /// In an open array, that means that its closing bracket is missing.
    private var isAtStatement: Bool {
        let isTable = "[" ~= next
        let key = bytes[(index + (isTable ? 1 : 0))...].prefix { Self.isBare($0) || ". \t".utf8.contains($0) }
        guard let first = key.first, Self.isBare(first), key.endIndex < bytes.count else { return false }
        guard isTable else { return "=" ~= bytes[key.endIndex] }
        return "]" ~= bytes[key.endIndex] && (try? scalar(String(decoding: key, as: UTF8.self))) == nil
    }

    // MARK: Bytes

    var next: UInt8? { index < bytes.count ? bytes[index] : nil }
    var isAtLineEnd: Bool { next == nil || "\n" ~= next }
    private var isAtQuotes: Bool { "\"" ~= next || "'" ~= next }

    static func isBare(_ byte: UInt8) -> Bool {
        switch byte {
        case "a"..."z", "A"..."Z", "0"..."9", "_", "-": true
        default: false
        }
    }

    /// Reads a word; `isPart` must be false for line ends, because they are not counted here.
    private mutating func readWord(while isPart: (UInt8) -> Bool) -> String {
        let word = bytes[index...].prefix(while: isPart)
        index = word.endIndex
        return String(decoding: word, as: UTF8.self)
    }

    mutating func readByte() -> UInt8? {
        guard let byte = next else { return nil }
        index += 1
        if "\n" ~= byte { line += 1 }
        return byte
    }

    mutating func skip(_ sign: Unicode.Scalar) -> Bool { sign ~= next && readByte() != nil }

    mutating func skipSpace() { while skip(" ") || skip("\t") {} }

    private mutating func skipLine() { while !isAtLineEnd { index += 1 } }

    /// Skips blanks, comments and line ends.
    private mutating func skipLines() {
        repeat {
            skipSpace()
            if "#" ~= next { skipLine() }
        } while skip("\n")
    }
}

/// Whether a byte is an ASCII character.
func ~= (sign: Unicode.Scalar, byte: UInt8?) -> Bool { byte == UInt8(ascii: sign) }

func ~= (signs: ClosedRange<Unicode.Scalar>, byte: UInt8) -> Bool { signs.contains(Unicode.Scalar(byte)) }
