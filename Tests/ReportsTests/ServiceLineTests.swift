// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import Reports
import Testing

@Suite("The status in one line")
struct ServiceLineTests {
    private static func line(_ change: (inout StatusReport) -> Void) -> String {
        var report = StatusReport(state: .running)
        change(&report)
        return report.serviceLine
    }

    @Test(
        "the service line separates thousands",
        arguments: [
            (0, "0 icons ready"), (1, "1 icon ready"), (999, "999 icons ready"), (1_204, "1,204 icons ready"),
            (12_345, "12,345 icons ready"), (1_000_000, "1,000,000 icons ready"),
        ])
    func numbers(count: Int, expected: String) {
        #expect(Self.line { $0.icons.ready = count } == expected)
    }

    @Test("the service line counts ready, failed and pending icons")
    func counts() {
        let line = Self.line {
            ($0.icons.ready, $0.icons.failed) = (1_204, 3)
            ($0.downloads.active, $0.downloads.queued, $0.downloads.blocked) = (4, 7, 1)
            $0.downloads.waiting = 2
        }
        #expect(line == "1,204 icons ready, 3 failed, 12 queued, 2 to retry")
    }

    @Test("the service line ends with the first problem")
    func trouble() {
        #expect(Self.line { $0.state = .paused } == "0 icons ready; downloads paused")
        let paused = Self.line { ($0.state, $0.downloads.queued, $0.downloads.blocked) = (.paused, 1, 11) }
        #expect(paused == "0 icons ready, 12 queued; downloads paused")
        var list = StatusReport.List(name: "a.plist", state: .lastGood)
        list.error = "no"
        #expect(Self.line { $0.lists = [list] } == "0 icons ready; 1 list not accepted")
        #expect(
            Self.line {
                $0.lists = [list]
                $0.eviction = .suspended("the lists folder is missing")
            } == "0 icons ready; eviction suspended: the lists folder is missing")
        #expect(Self.line { $0.downloads.reason = "disk full" } == "0 icons ready; downloads wait: disk full")
        #expect(
            Self.line { $0.publication.error = "a\nREADY=1" }
                == "0 icons ready; publication failed: a\\u000aREADY=1")
    }
}
