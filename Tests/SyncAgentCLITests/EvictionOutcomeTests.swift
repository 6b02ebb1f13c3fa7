// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import Reports
import Testing

@testable import SyncAgentCLI

@Suite("The outcome of an eviction")
struct EvictionOutcomeTests {
    private static func report(_ names: [String]) -> EvictionReport {
        let icons = names.map {
            EvictionReport.Icon(url: IconURL("https://a/\($0)"), path: "p", bytes: 1, goes: false, reason: "leased")
        }
        return EvictionReport(state: Word(.active), icons: icons, isSettled: true)
    }

    @Test(
        "the outcome of an eviction separates icons that were retired while it waited",
        arguments: [
            (["a", "b"], [], ["2 icons evicted."]),
            (["a", "b"], ["b"], ["EVICT  WHY     URL", "no     leased  https://a/b", "1 icon evicted, 1 kept."]),
            (["a"], ["c"], ["1 icon evicted. 1 icon was retired meanwhile."]),
            ([], ["c", "d"], ["0 icons evicted. 2 icons were retired meanwhile."]),
        ])
    func lines(before: [String], after: [String], expected: [String]) {
        let outcome = EvictCommand.Outcome(Self.report(before), Self.report(after))
        #expect(outcome.lines(fitting: 80, more: nil).map(\.plain) == expected)
    }

    @Test(
        "images that icons had before are told apart from renditions",
        arguments: [
            (0, 0, "No image is retired.", "No image is retired."),
            (1, 0, "No icon is retired; 1 replaced image is.", "0 icons and 1 replaced image evicted."),
            (0, 2, "No icon is retired; 2 renditions are.", "0 icons and 2 renditions evicted."),
            (
                1, 1, "No icon is retired; 1 replaced image and 1 rendition are.",
                "0 icons, 1 replaced image and 1 rendition evicted."
            ),
        ])
    func others(replaced: Int, renditions: Int, told: String, evicted: String) {
        var report = Self.report([])
        (report.replaced, report.renditions) = (replaced, renditions)
        #expect(EvictCommand.table(of: report, width: 80).map(\.plain) == [told])
        let outcome = EvictCommand.Outcome(report, Self.report([]))
        #expect(outcome.lines(fitting: 80, more: nil).map(\.plain) == [evicted])
    }

    @Test("without --all, an eviction shows how many icons have the same cause, and the command for their URLs")
    func causes() {
        var report = Self.report(["a", "b", "c", "d"])
        for index in 0..<2 { report.icons[index].goes = true }
        report.icons[1].path = "q"
        let more = "syncagent evict --all"
        #expect(
            EvictCommand.table(of: report, more: more, width: 80).map(\.plain)
                == ["EVICT  ICONS  WHY", "no         2  leased", "yes        2  leased"])
        #expect(EvictCommand.verdict(on: report.icons) == "2 icons would be evicted (2 B), 2 would stay.")
        let outcome = EvictCommand.Outcome(Self.report(["a", "b", "c"]), Self.report(["b", "c"]))
        #expect(
            outcome.lines(fitting: 80, more: more).map(\.plain)
                == ["All 2 icons stay: leased.", "1 icon evicted, 2 kept. To see all URLs: syncagent evict --all"])
    }
}
