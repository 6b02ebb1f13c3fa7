// SPDX-License-Identifier: Apache-2.0
import AppLists
import CacheFormat
import Testing

@Suite("Icon URLs as lists spell them")
struct SpelledIconTests {
    @Test(
        "white space around a URL, and in the data of a data: URL, is removed; a space inside stays",
        arguments: [
            ("https://e.org/a.png", "https://e.org/a.png"), ("\n    https://e.org/a.png\n  ", "https://e.org/a.png"),
            ("\thttps://e.org/a.png\r\n", "https://e.org/a.png"), ("https://e.org/a b.png ", "https://e.org/a b.png"),
            ("\u{0B}\u{0C}x", "x"), ("", ""), (" \n\t", ""), ("\u{A0}x", "x"),
            ("\u{FEFF}https://e.org/a.png\u{200B}\u{A0}\n", "https://e.org/a.png"), ("\u{A0} \u{FEFF}", ""),
            ("\u{85}\u{1680}\u{2003}\u{2028}x\u{202F}\u{205F}\u{2060}\u{3000}", "x"), ("x\u{A0}y", "x\u{A0}y"),
            ("\u{301}x \u{301}", "\u{301}x \u{301}"), ("\u{A0}data:;base64,aGVs\nbG8=\u{A0}", "data:;base64,aGVsbG8="),
            ("data:image/png;base64,aGVs\n    bG8=\n", "data:image/png;base64,aGVsbG8="),
            ("data:image/png;base64, aGVs bG8", "data:image/png;base64,aGVsbG8"),
            ("DATA:IMAGE/PNG;BASE64,\r\naGVsbG8=", "DATA:IMAGE/PNG;BASE64,aGVsbG8="),
            ("data:text/plain, a b\n c", "data:text/plain,a b c"), ("data:;base64\n,aGVs", "data:;base64,aGVs"),
            ("data:image/png;base64", "data:image/png;base64"),
        ])
    func spelling(text: String, spelled: String) {
        #expect(Array(AppEntry.spelledIcon(text).utf8) == Array(spelled.utf8))
        #expect(AppEntry.spelledIcon(spelled) == spelled)
    }

    @Test("a URL with a space is requested with %20, and one with a tab or a line end inside is refused")
    func requests() throws {
        let limits = ListLimits()
        #expect(limits.icon(" https://e.org/new icon.png?a b ") == .success("https://e.org/new icon.png?a b"))
        #expect(try FetchTarget("https://e.org/new icon.png?a b").url == "https://e.org/new%20icon.png?a%20b")
        for mark in ["\t", "\n", "\r", "\0", "\u{7F}"] {
            #expect(limits.icon("https://e.org/a\(mark)b.png") == .failure(.notOneWord))
        }
        // A sentence with a colon in it is no URL, and no text with a space tells what a list is.
        for text in ["Error: no connection", "TODO: draw one", "mailto:a b", "a b.png", "http: //e.org/a"] {
            #expect(limits.icon(text) == .failure(.notOneWord))
        }
        #expect(AppEntry.isPlainURL(" https://e.org/a.png\n") && !AppEntry.isPlainURL("https://e.org/ is down"))
    }
}
