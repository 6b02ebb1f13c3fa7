// SPDX-License-Identifier: Apache-2.0
import AgentSettings
import AppLists
import CacheFormat
import HTTPRules
import ImageChecks
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
                "a.plist: acceptable, 8 apps; 7 of 8 icons will fail", "  ignored: 2 entries: empty", "    [0].icon",
                "    [2].icon",
                "  ignored: [1].icon: not a string", "  will fail: 5 icons: \(ftp)", "    ftp://e.org/1",
                "    ftp://e.org/2", "    ftp://e.org/3", "    … and 2 more: see --all",
                "  will fail: 2 icons: \(local)\(Self.advice) \(refused)", "    http://10.0.0.1/a",
                "    http://10.0.0.1/b",
            ])
        #expect(
            Self.lines(icons, problems, all: true) == [
                "a.plist: acceptable, 8 apps; 7 of 8 icons will fail", "  ignored: [0].icon: empty",
                "  ignored: [1].icon: not a string",
                "  ignored: [2].icon: empty", "  will fail: ftp://e.org/1: \(ftp)",
                "  will fail: http://10.0.0.1/a: \(local)\(Self.advice) \(refused)",
                "  will fail: ftp://e.org/2: \(ftp)", "  will fail: ftp://e.org/3: \(ftp)",
                "  will fail: ftp://e.org/4: \(ftp)",
                "  will fail: http://10.0.0.1/b: \(local) \(refused)", "  will fail: ftp://e.org/5: \(ftp)",
            ])
    }

    @Test("findings name the apps that they are about")
    func names() {
        var list = AppList(
            entries: [
                AppEntry(name: "Mail", icon: "http://10.0.0.1/a"), AppEntry(name: "Maps", icon: "http://10.0.0.1/b"),
                AppEntry(name: "", icon: "ftp://e.org/1"), AppEntry(name: "Twice", icon: "ftp://e.org/1"),
            ],
            problems: [
                EntryProblem(keyPath: "[1].icon", reason: "empty"),
                EntryProblem(keyPath: "[3]", reason: "not a string"),
            ])
        list.unusable = [UnusableEntry(index: 1, name: "Music", id: nil, keyPath: "[1].icon")]
        let finding = CheckFinding(
            file: "a.plist", verdict: .success(list), settings: Settings(), CommandContext(file: "/f"))
        let lines = finding.lines(fitting: nil).map(\.plain)
        // Icons are counted once, however many apps have them.
        #expect(lines[0] == "a.plist: acceptable, 4 apps; 3 of 3 icons will fail")
        #expect(lines.contains("  ignored: Music ([1].icon): empty") && lines.contains("  ignored: [3]: not a string"))
        #expect(lines.contains("    Mail (http://10.0.0.1/a)") && lines.contains("    Maps (http://10.0.0.1/b)"))
        #expect(lines.contains("    ftp://e.org/1"), "\(lines)")
    }

    @Test("icons of --fetch that failed are one item for each code and host, and so are those that are fine")
    func trials() {
        let hosts = ["a.example", "b.example"]
        let icons = (0..<10).map { IconURL("https://\(hosts[$0 % 2])/\($0).png") }
        let list = AppList(entries: icons.map { AppEntry(icon: $0) })
        var finding = CheckFinding(file: "a.plist", verdict: .success(list), settings: Settings(), CommandContext())
        finding.trials = icons.enumerated().map { number, icon in
            (icon, .failed(number == 9 ? FetchFailure(.fetch(.tls), "no") : .status(number < 2 ? 404 : 403)))
        }
        let lines = finding.lines(fitting: nil).map(\.plain)
        #expect(lines[0] == "a.plist: acceptable, 10 apps; 10 of 10 icons failed")
        let items = lines.filter { $0.hasPrefix("  failed: ") }
        #expect(
            items == [
                "  failed: https://a.example/0.png: the server answered 404 [http-404]",
                "  failed: https://b.example/1.png: the server answered 404 [http-404]",
                "  failed: 4 icons of a.example: the server answered 403 [http-403]",
                "  failed: 3 icons of b.example: the server answered 403 [http-403]",
                "  failed: https://b.example/9.png: no [tls]",
            ])
        finding.showsAll = true
        #expect(finding.lines(fitting: nil).count == 11)
    }

    @Test("icons of one code and host with different messages keep them, and one of each is shown")
    func messages() {
        let icons = (1...6).map { IconURL("https://a.example/\($0)") }
        let list = AppList(entries: icons.map { AppEntry(icon: $0) })
        var finding = CheckFinding(file: "a.plist", verdict: .success(list), settings: Settings(), CommandContext())
        finding.trials = icons.enumerated().map { number, icon in
            (icon, .failed(FetchFailure(.image(.notAnImage), number < 5 ? "HTML" : "SVG")))
        }
        #expect(
            finding.lines(fitting: nil).dropFirst().map(\.plain) == [
                "  failed: 6 icons of a.example [not-an-image]", "    https://a.example/1: HTML",
                "    https://a.example/6: SVG", "    https://a.example/2: HTML", "    … and 3 more: see --all",
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
