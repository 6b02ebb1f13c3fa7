// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import Reports
import Testing

@testable import SyncAgentCLI

@Suite("Styled text")
struct StyledTextTests {
    @Test("styled text acts on a terminal by its style only, and only with colours")
    func styles() {
        let text = StyledText("a\u{1B}[2Jb\n", .red)
        #expect(text.rendered(inColor: false) == "a\\u001b[2Jb\\u000a")
        #expect(text.rendered(inColor: true) == "\u{1B}[31ma\\u001b[2Jb\\u000a\u{1B}[0m")
    }

    @Test(
        "colours are for terminals, unless somebody says otherwise",
        arguments: [
            (ColorMode.auto, true, false, true), (.auto, true, true, false), (.auto, false, false, false),
            (.always, false, true, true), (.never, true, false, false),
        ])
    func colors(mode: ColorMode, isTerminal: Bool, hasNoColor: Bool, expected: Bool) {
        #expect(Screen.usesColor(mode, isTerminal: isTerminal, hasNoColor: hasNoColor) == expected)
    }

    @Test(
        "styled text is cut at the end or in the middle, by columns and not by characters",
        arguments: [
            ("abcdef", 6, "abcdef", "abcdef"), ("abcdef", 5, "abcd…", "ab…ef"), ("日本語", 5, "日本…", "日…語"),
            ("abc", 1, "…", "…"),
        ])
    func cut(text: String, width: Int, atEnd: String, inMiddle: String) {
        #expect(StyledText(text).truncated(to: width).plain == atEnd)
        #expect(StyledText(text).shortened(to: width).plain == inMiddle)
    }

    @Test("styled text is broken at blanks, and a word that is too long is kept whole")
    func wrapped() {
        let text = StyledText("see ", .bold) + StyledText("https://example.com/a.png for more of it")
        #expect(text.wrapped(to: 12).map(\.plain) == ["see", "https://example.com/a.png", "for more of", "it"])
    }

    private static let now = Timestamp("2026-11-21T12:00:00Z") ?? .distantPast

    @Test(
        "times in a sentence are shown relative to now",
        arguments: [
            ("refresh at 2026-11-21T14:00:00Z", "refresh in 2 h"),
            ("held until 2026-11-22T11:00:00Z, or until you act", "held for another 23 h, or until you act"),
            ("Stale since 2026-11-21T11:57:00Z, but still used", "Stale for 3 min, but still used"),
            ("Stale since 2026-11-21T12:01:00Z: why", "Stale for 0 s: why"),
            (
                "another URL since 2027-11-21T12:00:00Z",
                "another URL since a time in the future (the clock was ahead)"
            ),
            ("2026-11-21T12:00:00Z", "now"), ("2026-11-21T11:59:59Z", "1 s ago"),
            ("2026-11-11T12:00:00Z", "10 days ago"),
            ("until 2026-11-21T11:00:00Z", "until 60 min ago"), ("at noon", "at noon"),
            (
                "the grace period of generation 7 ends at 2026-11-21T12:10:00Z",
                "the grace period of generation 7 ends in 10 min"
            ),
        ])
    func times(sentence: String, expected: String) {
        #expect(RelativeTime.text(in: sentence, now: Self.now) == expected)
    }

    @Test(
        "a time that must have passed is never one to come",
        arguments: [
            ("2026-11-21T11:57:00Z", "3 min ago"), ("2026-11-21T12:01:00Z", "now"),
            ("2026-11-21T12:01:01Z", "in the future: the clock was ahead"), ("never", "never"),
        ])
    func past(time: String, expected: String) {
        #expect(RelativeTime.past(time, now: Self.now) == expected)
    }

    @Test(
        "lines that are drawn again go over those before them, however many rows these take now",
        arguments: [
            ([], 80, ""), (["a"], 80, "\r\u{1B}[J"), (["a", "b"], nil, "\r\u{1B}[1A\u{1B}[J"),
            (["12345678901", ""], 5, "\r\u{1B}[3A\u{1B}[J"),
        ])
    func redrawing(lines: [String], columns: Int?, expected: String) {
        #expect(LiveDisplay.erasing(lines.map { StyledText($0) }, columns: columns) == expected)
        #expect(LiveDisplay.drawing(["a", "b"], inColor: false) == "a\r\nb")
    }

    @Test(
        "a terminal shows the beginning of what does not fit, and how many lines are left out",
        arguments: [
            (4, ["abc", "b", "c"]), (3, ["abc", "… 2…"]), (1, ["… 3…"]),
        ])
    func fullScreen(rows: Int, shown: [String]) {
        let text = FullScreen.drawing(["abc", "b", "c"], columns: 4, rows: rows, inColor: false)
        #expect(text == "\u{1B}[H" + shown.map { "\u{1B}[2K\($0)\r\n" }.joined() + "\u{1B}[J")
    }

    @Test("a command is not broken, to be pasted; an item goes on below its beginning")
    func commands() {
        let text = StyledText("To wait for the result: syncagent sync --wait. Then go on.")
        let lines = ["To wait for the result:", "syncagent sync --wait. Then go", "on."]
        #expect(text.wrapped(to: 30).map(\.plain) == lines)
        #expect(StyledText("ignored: it is empty").item(fitting: 16).map(\.plain) == ["  ignored: it", "    is empty"])
        #expect(StyledText("ignored: it is empty").item(fitting: nil).map(\.plain) == ["  ignored: it is empty"])
    }

    @Test("progress tells per cent, lists, icons, failures, bytes, the rate and the time left, and what it waits for")
    func progress() {
        var progress = SyncProgress()
        var report = SyncReport()
        (report.lists, report.publishedLists, report.ready, report.pending) = (5, 3, 200, 1000)
        report.downloadedBytes = 1 << 20
        let start = ContinuousClock.now
        progress.record(SyncReport(), at: start)
        #expect(progress.lines.map(\.plain) == ["Reading the lists folder"] && progress.bar == nil)
        progress.record(report, at: start)
        #expect(progress.lines.map(\.plain) == ["16 %: 3 of 5 lists, 200 of 1,200 icons ready"])
        (report.ready, report.pending, report.failed, report.downloadedBytes) = (690, 500, 10, 5 << 20)
        progress.record(report, at: start + .seconds(2))
        #expect(
            progress.lines.map(\.plain) == [
                "58 %: 3 of 5 lists, 690 of 1,200 icons ready, 10 failed, 4 MiB, 2 MiB/s, 2 s left"
            ])
        #expect(progress.bar?.plain == "[\(String(repeating: "#", count: 22))x\(String(repeating: "-", count: 17))]")
        report.hold = "downloads are paused"
        progress.record(report, at: start + .seconds(2))
        #expect(progress.lines.last?.plain == "Waiting: downloads are paused")
    }
}
