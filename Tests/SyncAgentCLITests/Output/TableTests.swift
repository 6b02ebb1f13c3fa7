// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import SyncAgentCLI

@Suite("Tables")
struct TableTests {
    private static func lines(_ rows: [(String, String, String)]) -> [String] {
        var table = Table("A", "LONG TITLE", "")
        for row in rows { table.add(row.0, row.1, row.2) }
        return table.lines
    }

    @Test("without rows there are the titles alone")
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

    @Test(
        "a character counts once, however many code points or bytes it has",
        arguments: ["é", "e\u{301}", "日", "🦊"])
    func characters(text: String) {
        let lines = Self.lines([(text, "x", "y")])
        #expect(lines[0] == "A  LONG TITLE  ")
        #expect(lines[1].count == lines[0].count + 1)
    }

    @Test("a cell that would act on a terminal is escaped before it is measured")
    func escapes() {
        let lines = Self.lines([("\u{1B}[31m", "x", "\u{202E}y\n")])
        #expect(lines == ["A           LONG TITLE  ", "\\u001b[31m  x           \\u202ey\\u000a"])
    }
}
