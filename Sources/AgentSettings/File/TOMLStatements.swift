// SPDX-License-Identifier: Apache-2.0

/// Maps the tables and keys of a TOML text to lines; the parser gives positions only for syntax errors.
///
/// It splits the text into statements and reads the keys before values, and validates nothing else. It works on invalid
/// TOML too, so that all errors of a file can be reported at once.
struct TOMLStatements {
    struct Statement {
        /// Counted from 1.
        var lines: ClosedRange<Int>
        /// The table, or the key with its table, as far as it is readable.
        var path: [String]
        var isTable: Bool
        /// Whether this is an element of an array of tables (`[[table]]`).
        var isElement = false
        /// Whether the value is not closed.
        var isOpen = false
        /// Whether a date in the value has a “T” without a time after it.
        var lacksTime = false
    }

    /// The limit on the parts of a key: the parser recurses into each.
    static let mostParts = 16

    private(set) var statements: [Statement] = []
    private let lines: [Substring.UTF8View]

    init(_ text: String) {
        lines = text.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).map { $0 }
        var table: [String] = []
        var index = 0
        while index < lines.count {
            var scan = Scan(lines[index])
            scan.skipSpace()
            guard let first = scan.next, first != UInt8(ascii: "#") else {
                index += 1
                continue
            }
            let start = index
            if first == UInt8(ascii: "[") {
                scan.advance()
                let isElement = scan.next == UInt8(ascii: "[")
                if isElement { scan.advance() }
                table = scan.key()
                statements.append(
                    Statement(lines: start + 1...start + 1, path: table, isTable: true, isElement: isElement))
                index += 1
                continue
            }
            let path = table + scan.key()
            var value = Value()
            value.read(scan.rest)
            while value.isOpen, index + 1 < lines.count, value.isText || !Self.looksLikeStatement(lines[index + 1]) {
                index += 1
                value.read(lines[index])
            }
            statements.append(
                Statement(
                    lines: start + 1...index + 1, path: path, isTable: false, isOpen: value.isOpen,
                    lacksTime: value.lacksTime))
            index += 1
        }
    }

    /// The line of a key; else of the first key below it, or of the table around it; `nil` if none of these exists.
    func line(of path: [String]) -> Int? {
        if let found = statements.first(where: { $0.path.starts(with: path) }) { return found.lines.lowerBound }
        for length in stride(from: path.count - 1, to: 0, by: -1) {
            let outer = Array(path.prefix(length))
            if let found = statements.first(where: { $0.path == outer }) { return found.lines.lowerBound }
        }
        return nil
    }

    /// Whether a table header names a path or a part below it; dotted keys do not count.
    func hasTable(_ path: [String]) -> Bool { statements.contains { $0.isTable && $0.path.starts(with: path) } }

    func statement(at line: Int) -> Statement? { statements.first { $0.lines.contains(line) } }

    /// Whether a line inside an open array starts another statement, which means that the array was never closed.
    private static func looksLikeStatement(_ line: Substring.UTF8View) -> Bool {
        var scan = Scan(line)
        scan.skipSpace()
        let isTable = scan.next == UInt8(ascii: "[")
        if isTable { scan.advance() }
        guard let first = scan.next, Scan.isBare(first), !scan.key().isEmpty else { return false }
        return scan.next == UInt8(ascii: isTable ? "]" : "=")
    }

    /// Tracks whether a value continues on the next line.
    private struct Value {
        private var depth = 0
        /// The quote whose triple ends a multi-line string.
        private var mark: UInt8?
        /// Bytes matched of the end of a date: “-” and two digits.
        private var endOfDate = 0
        private(set) var lacksTime = false

        var isText: Bool { mark != nil }
        var isOpen: Bool { depth > 0 || isText }

        mutating func read(_ line: Substring.UTF8View) {
            var rest = line[...]
            while let byte = rest.popFirst() {
                if let mark {
                    if byte == UInt8(ascii: "\\"), mark == UInt8(ascii: "\"") {
                        rest = rest.dropFirst()
                    } else if byte == mark, rest.starts(with: [mark, mark]) {
                        rest = rest.dropFirst(2)
                        self.mark = nil
                    }
                    continue
                }
                switch byte {
                case UInt8(ascii: "#"): return
                case UInt8(ascii: "["), UInt8(ascii: "{"): depth += 1
                case UInt8(ascii: "]"), UInt8(ascii: "}"): depth -= 1
                case UInt8(ascii: "\""), UInt8(ascii: "'"):
                    if rest.starts(with: [byte, byte]) {
                        rest = rest.dropFirst(2)
                        mark = byte
                        continue
                    }
                    while let inner = rest.popFirst(), inner != byte {
                        if inner == UInt8(ascii: "\\"), byte == UInt8(ascii: "\"") { rest = rest.dropFirst() }
                    }
                default: checkDate(byte, before: rest.first)
                }
            }
        }

        /// Detects a “T” after a date without a digit after it.
        private mutating func checkDate(_ byte: UInt8, before next: UInt8?) {
            func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }
            if byte | 0x20 == UInt8(ascii: "t"), endOfDate == 3, next.map(isDigit) != true { lacksTime = true }
            endOfDate = byte == UInt8(ascii: "-") ? 1 : (1...2).contains(endOfDate) && isDigit(byte) ? endOfDate + 1 : 0
        }
    }

    /// Reads the keys of a line.
    private struct Scan {
        private(set) var rest: Substring.UTF8View

        init(_ line: Substring.UTF8View) { rest = line }

        var next: UInt8? { rest.first }

        mutating func advance() { rest = rest.dropFirst() }

        mutating func skipSpace() { rest = rest.drop { $0 == 0x20 || $0 == 0x09 || $0 == 0x0D } }

        static func isBare(_ byte: UInt8) -> Bool {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"):
                true
            default: false
            }
        }

        /// Reads the parts of a key; `rest` then starts behind it.
        mutating func key() -> [String] {
            var parts: [String] = []
            while true {
                skipSpace()
                if let quote = next, quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") {
                    advance()
                    parts.append(String(Substring(rest.prefix { $0 != quote })))
                    rest = rest.drop { $0 != quote }.dropFirst()
                } else {
                    let part = rest.prefix(while: Self.isBare)
                    guard !part.isEmpty else { return parts }
                    parts.append(String(Substring(part)))
                    rest = rest.dropFirst(part.count)
                }
                skipSpace()
                guard next == UInt8(ascii: ".") else { return parts }
                advance()
            }
        }
    }
}
