// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import SyncAgentCLI

@Suite("Tables")
struct TableTests {
    private static func lines(_ rows: [(String, String, String)]) -> [String] {
        var table = Table("A", "LONG TITLE", "")
        for row in rows { table.add(StyledText(row.0), StyledText(row.1), StyledText(row.2)) }
        return table.lines().map(\.plain)
    }

    @Test("a table without rows has its titles alone")
    func empty() {
        #expect(Self.lines([]) == ["A  LONG TITLE  "])
    }

    @Test("a column is as wide as its widest cell or title, and the last one is not padded")
    func widths() {
        #expect(
            Self.lines([("wider", "x", "a note"), ("b", "", "")]) == [
                "A      LONG TITLE  ", "wider  x           a note", "b                  ",
            ])
    }

    @Test("a long cell stays whole, and pads no other row, where nothing limits the width")
    func longCell() {
        var table = Table(.init("NAME", least: 8), "URL")
        let long = String(repeating: "n", count: 249)
        for name in ["a", long, "bcdef"] { table.add(StyledText(name), "u") }
        #expect(table.lines().map(\.plain) == ["NAME   URL", "a      u", "\(long)  u", "bcdef  u"])
    }

    @Test("a letter with a million marks is measured in full")
    func marks() {
        let text = "a" + String(repeating: "\u{301}", count: 1 << 20)
        #expect(TextWidth.prefix(of: "b" + text, atMost: 80) == "b" && TextWidth.of(text) > 1 << 20)
    }

    @Test(
        "cells are as wide as a terminal shows them",
        arguments: [("é", 1), ("e\u{301}", 1), ("日", 2), ("🦊", 2), ("❤️", 2), ("🇫🇷", 2), ("ｱ", 1), ("한", 2)])
    func characters(text: String, width: Int) {
        let lines = Self.lines([(text, "x", "y")])
        #expect(TextWidth.of(lines[1]) == TextWidth.of(lines[0]) + 1)
        #expect(TextWidth.of(text) == width)
    }

    @Test("a cell that would act on a terminal is escaped before it is measured")
    func escapes() {
        let lines = Self.lines([("\u{1B}[31m", "x", "\u{202E}y\n")])
        #expect(lines == ["A           LONG TITLE  ", "\\u001b[31m  x           \\u202ey\\u000a"])
    }

    @Test("one long cell at the end goes below its row, and the others keep their columns")
    func long() {
        var table = Self.wide
        table.add("ready", "Mail", "64", "https://example.com/a.png")
        table.add("http-404", "Maps", "", StyledText("https://example.com/" + String(repeating: "a", count: 80)))
        let lines = table.lines(fitting: 70).map(\.plain)
        #expect(lines[0] == "STATUS    NAME                SIZE  ICON")
        #expect(lines[2] == "ready     Mail                  64  https://example.com/a.png")
        #expect(lines[3].hasPrefix("http-404  Maps") && lines[4].hasPrefix("  https://example.com/aaaa"))
        #expect(lines.count == 5)
    }

    private static var wide: Table {
        var table = Table(
            "STATUS", .init("NAME", rank: 2, least: 8),
            .init("SIZE", isNumber: true, rank: 1), "ICON")
        table.add("ready", "A rather long name", "64", "https://example.com/icon.png")
        return table
    }

    @Test(
        "a table that does not fit has shortened cells, then fewer columns; URLs get lines of their own",
        arguments: [
            (
                62,
                [
                    "STATUS  NAME                SIZE  ICON",
                    "ready   A rather long name    64  https://example.com/icon.png",
                ]
            ),
            (54, ["STATUS  NAME        SIZE  ICON", "ready   A ra…name     64  https://example.com/icon.png"]),
            (48, ["STATUS  NAME      ICON", "ready   A ra…ame  https://example.com/icon.png"]),
            (36, ["STATUS  ICON", "ready   https://example.com/icon.png"]),
            (30, ["STATUS", "ready", "  https://example.com/icon.png"]),
        ])
    func fitting(width: Int, expected: [String]) {
        let lines = Self.wide.lines(fitting: width)
        #expect(lines.allSatisfy { $0.width <= width + 2 })
        #expect(lines.last?.plain.hasSuffix("https://example.com/icon.png") ?? false)
        #expect(lines.first?.plain.hasPrefix(expected[0].prefix(6)) ?? false)
        #expect(lines.count == expected.count)
    }
}
