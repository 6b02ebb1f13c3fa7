// SPDX-License-Identifier: Apache-2.0

extension SettingKey {
    /// A configuration file with all defaults, commented out.
    package static var defaultFile: String {
        var lines = [
            "# Settings of syncagent. Every line shows a default: remove its # to change it.",
            "# syncagent config check FILE checks this file; systemctl reload syncagent (SIGHUP) reloads it.",
        ]
        for table in tables {
            lines += ["", "[\(table)]"]
            for key in all where key.table == table {
                let effect = key.effect == .restart ? " Needs a restart." : ""
                lines += wrapped("\(key.plainSummary) (\(key.plainLabel))\(effect)").map { "# " + $0 }
                lines.append("#\(key.key) = \(key.literal(in: Settings()))")
            }
        }
        return lines.joined(separator: "\n") + "\n"
    }

    private var plainSummary: String { summary.replacing("`", with: "") }
    private var plainLabel: String { label.replacing("`", with: "") }

    private static func wrapped(_ text: String) -> [String] {
        var lines = [""]
        for word in text.split(separator: " ") {
            if let last = lines.last, !last.isEmpty, last.count + word.count > 90 { lines.append("") }
            lines[lines.count - 1] += (lines[lines.count - 1].isEmpty ? "" : " ") + word
        }
        return lines
    }
}
