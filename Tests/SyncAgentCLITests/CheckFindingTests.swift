// SPDX-License-Identifier: Apache-2.0
import AgentSettings
import AppLists
import CacheFormat
import Reports
import Testing

@testable import SyncAgentCLI

@Suite("Verdicts of check")
struct CheckFindingTests {
    @Test(
        "--strict objects to a name that the lists folder ignores, and to an icon that can never be ready",
        arguments: [
            ("apps.plist", "https://h.example/a.png", false), ("Apps.PLIST", "https://h.example/a.png", true),
            (".apps.plist", "https://h.example/a.png", true), ("apps.plist", "http://10.0.0.1/a.png", true),
            ("apps.plist", "http://[::1]/a.png", true), ("apps.plist", "http://localhost/a.png", true),
            ("apps.plist", "ftp://h.example/a.png", true), ("apps.plist", "data:,x", true),
        ] as [(String, IconURL, Bool)])
    func strict(file: String, icon: IconURL, isFlawed: Bool) {
        let list = AppList(entries: [AppEntry(icon: icon)])
        let finding = CheckFinding(file: file, verdict: .success(list), settings: Settings(), CommandContext())
        #expect(finding.isFlawed == isFlawed)
    }

    @Test("--strict objects to an entry without a usable URL")
    func unusable() {
        var list = AppList(entries: [AppEntry(icon: "https://h.example/a.png")])
        list.unusable = [UnusableEntry(index: 1, name: nil, id: nil, keyPath: "[1]")]
        let finding = CheckFinding(file: "a.plist", verdict: .success(list), settings: Settings(), CommandContext())
        #expect(finding.isFlawed)
    }
}
