// SPDX-License-Identifier: Apache-2.0
import CacheFormat

extension SettingKey {
    /// The tables of settings for the manual page syncagent.toml(5), in mdoc(7); Packaging/man has its other text.
    package static var manualTables: String {
        tables.map { table in
            """
            .Ss [\(table)]
            .Bl -tag -width Ds
            \(all.filter { $0.table == table }.map(\.manualItem).joined(separator: "\n"))
            .El

            """
        }.joined()
    }

    private var manualItem: String {
        let value = value(in: Settings())
        let text = value.isEmpty ? absence : literal(in: Settings())
        return """
            .It Ic \(key)
            \(Self.mdoc(summary))
            .br
            Form:
            \(Self.mdoc(label + "."))
            Default:
            \(Self.escaped(text + "."))
            .br
            Variable:
            .Ev \(variable)\(effect == .restart ? "\n.br\nNeeds a restart." : "")
            """
    }

    /// Converts Markdown to mdoc: marks up code, and starts each sentence on a new line.
    private static func mdoc(_ text: String) -> String {
        let marks: Set<Character> = [".", ",", ";", ":", ")"]
        var lines: [String] = []
        for (index, part) in text.split(separator: "`", omittingEmptySubsequences: false).enumerated() {
            guard index % 2 == 0 else {
                lines.append(".Ql \(escaped(part).replacing("-", with: "\\-"))")
                continue
            }
            var rest = part
            // In mdoc, punctuation is an argument of the macro before it.
            while index > 0, let mark = rest.first, marks.contains(mark) {
                lines[lines.count - 1] += " \(mark)"
                rest.removeFirst()
            }
            let sentence = rest.drop { $0 == " " }.replacing(". ", with: ".\n")
            if !sentence.isEmpty { lines.append(escaped(sentence)) }
        }
        return lines.joined(separator: "\n")
    }

    /// Escapes text for roff.
    private static func escaped(_ text: some StringProtocol) -> String {
        let text = String(text).replacing("\\", with: "\\e").replacing("±", with: "\\(+-").replacing("→", with: "\\(->")
            .replacing("'", with: "\\(aq").replacing("\"", with: "\\(dq")
        return String((text.starts(withBytes: ".") ? "\\&" + text : text).reversed().drop { $0 == " " }.reversed())
    }
}
