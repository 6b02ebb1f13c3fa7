// SPDX-License-Identifier: Apache-2.0
import HTTPRules

/// Finds the settings in the text of a configuration file, and all problems of the text.
struct ConfigurationReader {
    /// The most problems of one file that are reported; the others are counted.
    private static let mostProblems = 50

    private let path: String
    private(set) var entries: [ConfigurationFile.Entry] = []
    /// The rules of `[[keys]]`.
    private(set) var keys: [CacheKeys.Rule] = []
    private var reported: [(line: Int, message: String)] = []
    private var problemCount = 0
    /// The keys and tables with a problem: each is reported once.
    private var wrongKeys: Set<[String]> = []

    init(path: String, text: String) {
        self.path = path
        let toml = TOMLReader(text)
        for (line, flaw) in toml.flaws.sorted(by: { $0.key < $1.key }) {
            // The usual mistake is a string without quotes, so the message says which type the setting takes.
            let key = SettingKey.named(flaw.key.joined(separator: "."))
            report(flaw.message + (key.map { " \($0.name) takes \(Self.form(of: $0))." } ?? ""), at: line)
        }
        // The values of a file with so many problems are not checked: their problems would be reported after the limit.
        guard problemCount <= Self.mostProblems else { return }
        for item in toml.items where toml.flaws[item.line] == nil && !toml.isInElement(item.key) {
            if item.key == [Self.keyTable], item.value == .array([.table]) { continue }
            read(item.key, item.value, at: item.line)
        }
        for (line, items) in toml.elements(of: Self.keyTable) { readRule(at: line, items) }
    }

    private static let keyTable = "keys"

    /// Reads an element of `[[keys]]`.
    private mutating func readRule(at line: Int, _ items: [(key: [String], value: TOMLReader.Value, line: Int)]) {
        var element = TableElement(Self.keyTable, in: path, at: line, items, keys: ["host", "ignore"])
        let (host, ignored) = (element.text("host"), element.texts("ignore"))
        let pattern = host.flatMap { HostPattern($0) }
        if !element.has("host") || host != nil && pattern == nil {
            element.report("“host” of [[keys]] must be a host such as icons.example.com or *.example.com.", at: "host")
        }
        if !element.has("ignore") || ignored?.contains(where: { !Self.isParameter($0) }) == true {
            element.report(
                "“ignore” of [[keys]] must be an array of query parameter names such as [\"Expires\", \"X-Amz-*\"].",
                at: "ignore")
        }
        for (line, message) in element.flaws { report(message, at: line) }
        if element.flaws.isEmpty, let pattern, let ignored {
            keys.append(CacheKeys.Rule(host: pattern, ignored: ignored))
        }
    }

    /// Whether a text can name query parameters: a name, or the beginning of names with a star at its end.
    private static func isParameter(_ text: String) -> Bool {
        text.utf8.allSatisfy { (0x21...0x7E).contains($0) && !"&=#?".utf8.contains($0) }
            && !text.utf8.dropLast().contains(UInt8(ascii: "*")) && text != "*"
    }

    /// The problems, in the order of the lines.
    var problems: [ConfigurationProblem] {
        let problems = reported.sorted { $0.line < $1.line }.map {
            ConfigurationProblem("\(path):\($0.line)", $0.message)
        }
        let rest = problemCount - problems.count
        return problems
            + (rest > 0 ? [ConfigurationProblem(path, "There are \(rest) more errors: correct these first.")] : [])
    }

    private mutating func report(_ message: @autoclosure () -> String, at line: Int) {
        problemCount += 1
        if problemCount <= Self.mostProblems { reported.append((line, message())) }
    }

    private mutating func read(_ key: [String], _ value: TOMLReader.Value, at line: Int) {
        let isInTable = SettingKey.tables.contains(key[0])
        let path = Array(key.prefix(isInTable ? 2 : 1))
        let value = key.count > path.count && value != .table ? .inlineTable : value
        if isInTable, path.count == 1, value.isTable { return }
        let setting = SettingKey.named(path.joined(separator: "."))
        if isInTable, let setting, let elements = value.elements(as: setting.kind) {
            var scratch = Settings()
            do throws(SettingError) {
                try setting.set(elements: elements, in: &scratch)
                entries.append(ConfigurationFile.Entry(key: setting, elements: elements, line: line))
            } catch {
                report("\(error)", at: line)
            }
        } else if wrongKeys.insert(path).inserted {
            report(Self.problem(with: value, at: path, for: setting), at: line)
        }
    }

    /// The message about a value of the wrong type, or about an unknown key or table.
    private static func problem(with value: TOMLReader.Value, at path: [String], for setting: SettingKey?) -> String {
        let name = path.joined(separator: ".")
        if path[0] == "credentials" { return "Credentials are in \(Credentials.file), beside this file." }
        if name == "keys", value == .table { return "There is no table [keys]: write [[keys]], in double brackets." }
        if let setting, path.count == 2 { return "\(name) is \(value.word): it takes \(form(of: setting))." }
        if setting != nil { return "“\(name)” is one key, because it is in quotes: write \(name) without them." }
        if path.count == 1, SettingKey.tables.contains(name) {
            return "\(name) is a table, not \(value.word): begin it with a line [\(name)]."
        }
        if value == .table || value.isTable && path.count == 1 {
            let nearest = SettingKey.nearestTable(to: path[path.count - 1]).map { "did you mean [\($0)]?" }
            let all = SettingKey.tables.map { "[\($0)]" }.joined(separator: ", ")
            return "There is no table [\(name)]: " + (nearest ?? "the tables are \(all).")
        }
        return "There is no setting \(name)"
            + (SettingKey.nearest(to: name).map { ": did you mean \($0.name)?" } ?? ".")
    }

    /// The form that a setting takes, with its TOML type.
    private static func form(of key: SettingKey) -> String {
        switch key.kind {
        case .text: "a string, \(key.form)"
        case .number, .flag: key.form
        case .list: "an array of strings, \(key.form)"
        }
    }
}

extension TOMLReader.Value {
    fileprivate var isTable: Bool { self == .table || self == .inlineTable }

    /// The value as the strings that a setting is read from; `nil` if the setting takes another type.
    fileprivate func elements(as kind: SettingKey.Kind) -> [String]? {
        switch (kind, self) {
        case (.text, .string(let text)): [text]
        case (.number, .integer(let number)): [String(number)]
        case (.flag, .boolean(let flag)): [String(flag)]
        case (.list, .array(let values)) where values.allSatisfy(\.isString):
            values.flatMap { $0.elements(as: .text) ?? [] }
        default: nil
        }
    }

    private var isString: Bool { elements(as: .text) != nil }

    fileprivate var word: String {
        switch self {
        case .table, .inlineTable: "a table"
        case .array(let values):
            values.allSatisfy(\.isString) ? "an array" : "an array with other values than strings"
        case .string: "a string"
        case .integer: "an integer"
        case .float: "a floating-point number"
        case .boolean: "a boolean"
        case .date: "a date or time"
        }
    }
}
