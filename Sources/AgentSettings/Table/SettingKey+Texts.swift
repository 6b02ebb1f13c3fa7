// SPDX-License-Identifier: Apache-2.0
import SyncPlan

/// Texts that follow from the table of settings.
extension SettingKey {
    /// The default, as documents have it: in backticks, or in words.
    package var defaultText: String {
        let value = value(in: Settings()).replacing(Version.current, with: "VERSION")
        return value.isEmpty ? absence : "`\(value)`"
    }

    /// The rows of the article Settings.
    package static var documentationRows: [String] {
        all.map { "| `\($0.name)` | \($0.label) | \($0.defaultText) | \($0.effect.rawValue) | \($0.summary) |" }
    }

    /// A configuration file with every setting at its default, in comments.
    package static var defaultFile: String {
        var lines = [
            "# Settings of syncagent. Every line shows a default: remove its # to change it.",
            "# syncagent config check FILE checks this file; systemctl reload syncagent (SIGHUP) reloads it.",
        ]
        for table in tables {
            lines += ["", "[\(table)]"]
            for key in all where key.table == table {
                let effect = key.effect == .restart ? " Takes a restart." : ""
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

    // MARK: The manual page

    /// The manual page `syncagent.toml(5)`, in the language of man(7).
    package static var manualPage: String {
        var page = """
            .TH SYNCAGENT.TOML 5 "" "syncagent \(Version.current)" "File formats"
            .SH NAME
            syncagent.toml \\- settings of syncagent
            .SH SYNOPSIS
            .I /etc/syncagent/syncagent.toml
            .br
            .I $XDG_CONFIG_HOME/syncagent/syncagent.toml
            .SH DESCRIPTION
            The file is TOML 1.0. Each setting is a key in one of the tables below. Durations and sizes are strings with a \
            unit (ms, s, m, h, d; B, KiB, MiB, GiB), numbers and flags are those of TOML, and lists are arrays of strings.
            .PP
            A key that does not exist, a value of another form and an error of syntax are errors: the agent does not start, \
            or keeps the settings that it has. Options of a command win over the environment, which wins over the file.
            .PP
            .B syncagent config
            prints the settings in force and where each one came from,
            .B syncagent config check
            checks files, and
            .B syncagent config default
            prints a file with all defaults.
            .PP
            SIGHUP has the agent read the file again. Settings that take a restart are marked.

            """
        for table in tables {
            page += ".SH \"[\(table)]\"\n"
            for key in all where key.table == table {
                let value = key.value(in: Settings())
                let text = value.isEmpty ? key.absence : key.literal(in: Settings())
                let effect = key.effect == .restart ? " Takes a restart." : ""
                page += """
                    .TP
                    .B \(escaped(key.key))
                    \(escaped(key.plainSummary))\(effect)
                    .br
                    Form: \(escaped(key.plainLabel)). Default: \(escaped(text)). Variable:
                    .BR \\%\(key.variable) .

                    """
            }
        }
        return page + ".SH SEE ALSO\n.BR syncagent (1)\n"
    }

    /// Text that means nothing else to roff.
    private static func escaped(_ text: String) -> String {
        let text = text.replacing("\\", with: "\\e").replacing("-", with: "\\-").replacing("±", with: "\\(+-")
            .replacing("'", with: "\\(aq")
        return text.hasPrefix(".") ? "\\&" + text : text
    }
}
