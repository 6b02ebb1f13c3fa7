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

    private static func lines(_ icons: [IconURL], _ problems: [EntryProblem] = [], all: Bool = false) -> [String] {
        let list = AppList(entries: icons.map { AppEntry(icon: $0) }, problems: problems)
        var finding = CheckFinding(
            file: "a.plist", verdict: .success(list), settings: Settings(), CommandContext(file: "/f"))
        finding.showsAll = all
        return finding.lines(fitting: nil).map(\.plain)
    }

    private static let advice =
        "; to allow it, add 10.0.0.0/8 to allow, or 10.0.0.1 to allowHosts, in [network] of /f, and reload"

    @Test("entries and icons with the same cause are one item with three of them, and one by one with --all")
    func causes() {
        let icons: [IconURL] = [
            "ftp://e.org/1", "http://10.0.0.1/a", "ftp://e.org/2", "https://e.org/a", "ftp://e.org/3", "ftp://e.org/4",
            "http://10.0.0.1/b", "ftp://e.org/5",
        ]
        let problems = [("[0].icon", "empty"), ("[1].icon", "not a string"), ("[2].icon", "empty")].map {
            EntryProblem(keyPath: $0.0, reason: $0.1)
        }
        let ftp = "only http and https are supported, not “ftp” [scheme-refused]"
        let local = "10.0.0.1 is not a public address (private)"
        let refused = "[address-refused]"
        #expect(
            Self.lines(icons, problems) == [
                "a.plist: acceptable, 8 apps", "  ignored: 2 entries: empty", "    [0].icon", "    [2].icon",
                "  ignored: [1].icon: not a string", "  will fail: 5 icons: \(ftp)", "    ftp://e.org/1",
                "    ftp://e.org/2", "    ftp://e.org/3", "    … and 2 more: see --all",
                "  will fail: 2 icons: \(local)\(Self.advice) \(refused)", "    http://10.0.0.1/a",
                "    http://10.0.0.1/b",
            ])
        #expect(
            Self.lines(icons, problems, all: true) == [
                "a.plist: acceptable, 8 apps", "  ignored: [0].icon: empty", "  ignored: [1].icon: not a string",
                "  ignored: [2].icon: empty", "  will fail: ftp://e.org/1: \(ftp)",
                "  will fail: http://10.0.0.1/a: \(local)\(Self.advice) \(refused)",
                "  will fail: ftp://e.org/2: \(ftp)", "  will fail: ftp://e.org/3: \(ftp)",
                "  will fail: ftp://e.org/4: \(ftp)",
                "  will fail: http://10.0.0.1/b: \(local) \(refused)", "  will fail: ftp://e.org/5: \(ftp)",
            ])
    }

    @Test(
        "an icon whose URL ends in a separator or a quote is doubtful",
        arguments: [
            ("https://e.org/a.png,", "a comma"), ("https://e.org/a.png;", "a semicolon"),
            ("https://e.org/a.png>", "an angle bracket"), ("https://e.org/a.png”", "a quote"),
            ("https://e.org/a_(b)", nil), ("https://e.org/a.png", nil), ("data:image/svg+xml,<svg/>", nil),
        ] as [(IconURL, String?)])
    func end(icon: IconURL, end: String?) {
        let line = Self.lines([icon]).first { $0.hasPrefix("  doubtful: ") }
        #expect(line == end.map { "  doubtful: \(icon): ends in \($0), which is a part of the URL" })
    }
}
