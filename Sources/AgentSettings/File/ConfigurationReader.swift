// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import HTTPRules
import TOMLKit

/// Reads the text of a configuration file and collects all its problems.
struct ConfigurationReader {
    /// The limit on syntax errors; then parsing stops.
    private static let mostErrors = 20
    private static let mostProblems = 50

    private let path: String
    private var lines: [Substring]
    private let statements: TOMLStatements
    private(set) var entries: [ConfigurationFile.Entry] = []
    private(set) var problems: [(line: Int, problem: ConfigurationProblem)] = []
    /// Problems beyond the limit.
    private(set) var untold = 0

    init(path: String, text: String) {
        self.path = path
        // Some editors begin a file with a byte order mark. A CRLF is one Character: splitting at “\n” misses it.
        let text = text.starts(withBytes: "\u{FEFF}") ? String(text.unicodeScalars.dropFirst()) : text
        lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        if text.utf8.contains(UInt8(ascii: "\r")) {
            lines = text.replacing("\r\n", with: "\n").split(separator: "\n", omittingEmptySubsequences: false)
        }
        statements = TOMLStatements(lines.joined(separator: "\n"))
    }

    mutating func read() {
        for (index, line) in lines.enumerated()
        where line.utf8.contains(0) || line.contains("\\u0000") || line.contains("\\U00000000") {
            note("A NUL character is not allowed.", at: index + 1)
        }
        // toml++ aborts the process at a carriage return in a table name.
        for (index, line) in lines.enumerated() where line.utf8.contains(UInt8(ascii: "\r")) {
            note("A carriage return is allowed only at the end of a line, before a line feed.", at: index + 1)
        }
        findTwins()
        for statement in statements.statements where statement.path.count > TOMLStatements.mostParts {
            note("The key has more than \(TOMLStatements.mostParts) parts.", at: statement.lines.lowerBound)
        }
        // toml++ aborts the process at a table name that it cannot start to read.
        for statement in statements.statements where statement.isTable && statement.path.isEmpty {
            note("The table has no name that can be read: write it as [fetch].", at: statement.lines.lowerBound)
        }
        for statement in statements.statements where statement.isOpen {
            note("The value has no end: a bracket or quotes are missing.", at: statement.lines.lowerBound)
        }
        for statement in statements.statements where statement.lacksTime {
            note("There is no time after the “T” of a date.", at: statement.lines.lowerBound)
        }
        // The parser must not see any of these problems; too many were found to blank them all.
        guard untold == 0 else { return }
        readTwins()
        for (line, _) in problems { blank(line) }
        guard let table = parse() else { return }
        read(table, at: [])
    }

    /// Reports tables and keys that are there twice.
    private mutating func findTwins() {
        var seen: [[String]: Int] = [:]
        for statement in statements.statements where !statement.path.isEmpty && !statement.isElement {
            let line = statement.lines.lowerBound
            let path = statement.path
            guard let first = seen[path] else {
                seen[path] = line
                continue
            }
            let name = path.joined(separator: ".")
            if statement.isTable {
                note("The table [\(name)] is there twice: put its keys together at line \(first).", at: line)
            } else {
                note("\(name) is set twice: remove this line, or line \(first).", at: line)
            }
        }
    }

    /// Reports problems inside repeated tables, which are blanked before the rest is parsed.
    private mutating func readTwins() {
        var seen: Set<[String]> = []
        let twins = statements.statements.filter {
            $0.isTable && !$0.isElement && !$0.path.isEmpty && !seen.insert($0.path).inserted
        }
        for twin in twins.prefix(Self.mostErrors) {
            let part = self.lines(of: twin)
            let text = lines.indices.map { part.contains($0) ? lines[$0] : "" }.joined(separator: "\n")
            var reader = ConfigurationReader(path: path, text: text)
            reader.read()
            for problem in reader.problems where !problems.contains(where: { $0.line == problem.line }) && hasRoom() {
                problems.append(problem)
            }
        }
    }

    /// The lines of a statement, counted from 0; of a table, with its contents.
    private func lines(of statement: TOMLStatements.Statement) -> Range<Int> {
        let start = statement.lines.lowerBound
        guard statement.isTable else { return start - 1..<statement.lines.upperBound }
        let next = statements.statements.first { $0.isTable && $0.lines.lowerBound > start }
        return start - 1..<(next.map { $0.lines.lowerBound - 1 } ?? lines.count)
    }

    /// Parses the text, blanking each statement that the parser rejects until it accepts the rest.
    ///
    /// - Returns: `nil` if there are too many errors, or one without a place.
    private mutating func parse() -> TOMLTable? {
        for _ in 0..<Self.mostErrors {
            do {
                return try TOMLTable(string: lines.joined(separator: "\n"))
            } catch let error as TOMLParseError {
                let statement = statements.statement(at: error.source.begin.line)
                // The most common mistake is missing quotes.
                let key = statement.flatMap { SettingKey.named($0.path.joined(separator: ".")) }
                let advice = key.map { " \($0.name) takes \(Self.form(of: $0))." } ?? ""
                note("This is not TOML: \(Self.reason(error)).\(advice)", at: error.source.begin.line)
                let found = statement?.lines.lowerBound
                // An error at the end of the text belongs to the last statement left.
                guard blank(found ?? error.source.begin.line) || blankLast() else { return nil }
            } catch {
                note("This is not TOML: \(error).", at: 1)
                return nil
            }
        }
        return nil
    }

    /// The parser's message without its position.
    private static func reason(_ error: TOMLParseError) -> String {
        let text = error.description
        guard text.starts(withBytes: "Error while parsing "), let colon = text.firstRange(of: ": ") else { return text }
        return String(text[colon.upperBound...])
    }

    /// Blanks the statement at a line; a table with its contents.
    ///
    /// - Returns: Whether there was any text to blank.
    @discardableResult
    private mutating func blank(_ line: Int) -> Bool {
        guard let statement = statements.statement(at: line) else {
            guard lines.indices.contains(line - 1), !lines[line - 1].isEmpty else { return false }
            lines[line - 1] = ""
            return true
        }
        let part = lines(of: statement)
        let hadText = lines[part].contains { !$0.isEmpty }
        for index in part { lines[index] = "" }
        return hadText
    }

    private mutating func blankLast() -> Bool {
        guard let last = lines.lastIndex(where: { !$0.isEmpty }) else { return false }
        return blank(last + 1)
    }

    // MARK: Values

    private mutating func read(_ table: TOMLTable, at path: [String]) {
        for name in table.keys.sorted() {
            guard let value = table[name]?.tomlValue else { continue }
            let full = path + [name]
            let text = full.joined(separator: ".")
            if let key = SettingKey.named(text), full.count == 2 {
                read(value, for: key)
            } else if path.isEmpty, SettingKey.tables.contains(name) {
                guard let inner = value.table else {
                    note("\(name) is a table, not \(Self.word(for: value)): begin it with a line [\(name)].", at: full)
                    continue
                }
                read(inner, at: full)
            } else if path.isEmpty, let key = SettingKey.named(text) {
                note("“\(text)” is one key, because it is in quotes: write \(key.name) without them.", at: full)
            } else if value.type == .table, path.isEmpty || statements.hasTable(full) {
                guard hasRoom() else { continue }
                let advice = SettingKey.nearestTable(to: name).map { ": did you mean [\($0)]?" }
                let all = SettingKey.tables.map { "[\($0)]" }.joined(separator: ", ")
                note("There is no table [\(text)]\(advice ?? ": the tables are \(all).")", at: full)
            } else {
                guard hasRoom() else { continue }
                let advice = SettingKey.nearest(to: text).map { ": did you mean \($0.name)?" } ?? "."
                note("There is no setting \(text)\(advice)", at: full)
            }
        }
    }

    private mutating func read(_ value: TOMLValue, for key: SettingKey) {
        let path = [key.table, key.key]
        let line = statements.line(of: path) ?? 1
        guard let elements = Self.elements(of: value, as: key.kind) else {
            let form = Self.form(of: key)
            note("\(key.name) is \(Self.word(for: value)): it takes \(form).", at: path)
            return
        }
        var scratch = Settings()
        do throws(SettingError) {
            if key.kind == .list {
                try key.set(elements: elements, in: &scratch)
            } else {
                try key.set(elements[0], in: &scratch)
            }
            entries.append(ConfigurationFile.Entry(key: key, elements: elements, line: line))
        } catch {
            note("\(error)", at: path)
        }
    }

    private static func form(of key: SettingKey) -> String {
        switch key.kind {
        case .text: "a string, \(key.form)"
        case .number, .flag: key.form
        case .list: "an array of strings, \(key.form)"
        }
    }

    /// The elements of a value; `nil` if it has another type.
    private static func elements(of value: TOMLValue, as kind: SettingKey.Kind) -> [String]? {
        switch kind {
        case .text: return value.string.map { [$0] }
        case .number: return value.int.map { [String($0)] }
        case .flag: return value.bool.map { [String($0)] }
        case .list:
            guard let array = value.array else { return nil }
            var elements: [String] = []
            for index in 0..<array.count {
                guard let text = array[index].string else { return nil }
                elements.append(text)
            }
            return elements
        }
    }

    private static func word(for value: TOMLValue) -> String {
        switch value.type {
        case .table: return "a table"
        case .array:
            guard let array = value.array, (0..<array.count).allSatisfy({ array[$0].type == .string }) else {
                return "an array with other values than strings"
            }
            return "an array"
        case .string: return "a string"
        case .int: return "an integer"
        case .double: return "a floating-point number"
        case .bool: return "a boolean"
        case .date, .time, .dateTime: return "a date or time"
        }
    }

    /// Whether another problem can be reported; if not, counts it.
    private mutating func hasRoom() -> Bool {
        if problems.count < Self.mostProblems { return true }
        untold += 1
        return false
    }

    private mutating func note(_ message: String, at path: [String]) {
        note(message, at: statements.line(of: path) ?? 1)
    }

    private mutating func note(_ message: String, at line: Int) {
        guard hasRoom() else { return }
        problems.append((line, ConfigurationProblem("\(path):\(line)", message)))
    }
}
