// SPDX-License-Identifier: Apache-2.0

/// Reads an element of an array of tables, such as `[[credentials]]`, and collects its problems.
///
/// No problem contains a value: it may be a secret.
struct TableElement {
    let name: String
    let line: Int
    private let path: String
    private var values: [String: (value: TOMLReader.Value, line: Int)] = [:]
    /// The element's problems, each with its line.
    private(set) var flaws: [(line: Int, message: String)] = []

    var problems: [ConfigurationProblem] { flaws.map { ConfigurationProblem("\(path):\($0.line)", $0.message) } }

    /// Reads the items of an element; `keys` are the keys that it may have.
    init(
        _ name: String, in path: String, at line: Int, _ items: [(key: [String], value: TOMLReader.Value, line: Int)],
        keys: [String]
    ) {
        (self.name, self.path, self.line) = (name, path, line)
        for item in items {
            let key = item.key[0]
            if keys.contains(key) {
                values[key] = (item.key.count == 1 ? item.value : .table, item.line)
            } else if values[key] == nil {
                values[key] = (.table, item.line)
                let advice =
                    EditDistance.nearest(to: key, in: keys, by: \.self).map { "did you mean \($0)?" }
                    ?? "its keys are \(keys.joined(separator: ", "))."
                report("[[\(name)]] has no key “\(key)”: \(advice)", at: item.line)
            }
        }
    }

    mutating func report(_ message: String, at key: String) { report(message, at: values[key]?.line ?? line) }

    private mutating func report(_ message: String, at line: Int) {
        flaws.append((line, message))
    }

    func has(_ key: String) -> Bool { values[key] != nil }

    /// The value of a key that must be a string, and not empty.
    mutating func text(_ key: String) -> String? {
        value(key, "a string that is not empty") {
            if case .string(let text) = $0, !text.isEmpty { text } else { nil }
        }
    }

    mutating func texts(_ key: String) -> [String]? {
        value(key, "an array of strings that is not empty") {
            guard case .array(let values) = $0, !values.isEmpty else { return nil }
            let texts = values.compactMap { if case .string(let text) = $0, !text.isEmpty { text } else { nil } }
            return texts.count == values.count ? texts : nil
        }
    }

    mutating func number(_ key: String, in range: ClosedRange<Int>) -> Int? {
        value(key, "a whole number from \(range.lowerBound) to \(range.upperBound)") {
            if case .integer(let number) = $0, range.contains(number) { number } else { nil }
        }
    }

    mutating func flag(_ key: String) -> Bool? {
        value(key, "true or false") { if case .boolean(let flag) = $0 { flag } else { nil } }
    }

    private mutating func value<Value>(
        _ key: String, _ form: String, _ read: (TOMLReader.Value) -> Value?
    ) -> Value? {
        guard let found = values[key] else { return nil }
        if let value = read(found.value) { return value }
        report("“\(key)” takes \(form).", at: found.line)
        return nil
    }
}
