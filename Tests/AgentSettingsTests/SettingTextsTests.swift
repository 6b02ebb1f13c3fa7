// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing

@testable import AgentSettings

@Suite("Texts from the table of settings")
struct SettingTextsTests {
    @Test("the article Settings has the table as it is")
    func article() throws {
        let text = try Article("Settings", of: "SyncAgent").text
        let section = try #require(text.split(separator: "\n## All settings\n").last?.split(separator: "\n## ").first)
        let rows = section.split(separator: "\n").filter { $0.hasPrefix("| `") }.map(String.init)
        let expected = SettingKey.all.map { key in
            let value = key.value(in: Settings()).replacing(Version.current, with: "VERSION")
            let preset = value.isEmpty ? key.absence : "`\(value)`"
            return "| `\(key.name)` | \(key.label) | \(preset) | \(key.effect.rawValue) | \(key.summary) |"
        }
        #expect(rows == expected, "\(expected.joined(separator: "\n"))")
    }

    @Test("the default file sets nothing, and each of its lines is a default")
    func defaultFile() {
        let file = ConfigurationFile(path: "default", text: SettingKey.defaultFile)
        #expect(file.problems.isEmpty, "\(file.problems)")
        var effective = EffectiveSettings()
        effective.apply(file)
        #expect(effective.settings == Settings())
        #expect(SettingKey.all.allSatisfy { effective.origin(of: $0) == .preset })
        // Settings have no space behind the mark.
        let lines = SettingKey.defaultFile.split(separator: "\n").map {
            $0.hasPrefix("# ") ? $0 : $0.drop { $0 == "#" }
        }
        let uncommented = ConfigurationFile(path: "default", text: lines.joined(separator: "\n"))
        #expect(uncommented.problems.isEmpty, "\(uncommented.problems)")
        var all = EffectiveSettings()
        all.apply(uncommented)
        #expect(all.settings == Settings())
        #expect(SettingKey.all.allSatisfy { all.origin(of: $0) != .preset })
    }

    @Test("no line of the default file is longer than a terminal is wide, but for lists")
    func width() {
        let long = SettingKey.defaultFile.split(separator: "\n").filter { $0.count > 100 }
        #expect(long.isEmpty, "\(long)")
    }

    @Test("the manual page names every setting with its variable")
    func manualPage() {
        let page = SettingKey.manualTables
        for key in SettingKey.all {
            #expect(page.contains("\n.It Ic \(key.key)\n") && page.contains("\n.Ev \(key.variable)\n"), "\(key.name)")
        }
    }
}
