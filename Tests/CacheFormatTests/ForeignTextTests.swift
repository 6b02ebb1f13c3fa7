// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import Testing

@Suite("Text from outside, by its bytes")
struct ForeignTextTests {
    @Test("text from outside is searched by bytes: a combining mark hides nothing")
    func marks() {
        let text = "-\u{301}a\u{D4E}/b;\u{FE0F}c."
        #expect(!text.hasPrefix("-") && text.starts(withBytes: "-"))
        #expect(text.contains(bytes: ";") && text.contains(bytes: "/b;") && !text.contains(bytes: "/c"))
        #expect("x\u{D4E}.".ends(withBytes: ".") && !"x".ends(withBytes: "xx"))
        #expect(text.split(atByte: ";") == ["-\u{301}a\u{D4E}/b", "\u{FE0F}c."])
        #expect("a,,b".split(atByte: ",", omittingEmpty: false) == ["a", "", "b"])
        #expect("a,b,c".split(atByte: ",", maxSplits: 1) == ["a", "b,c"])
        #expect("'\u{301}''".replacing(bytes: "'", with: "\\'") == "\\'\u{301}\\'\\'")
        #expect("aaa".replacing(bytes: "aa", with: "b") == "ba" && "".replacing(bytes: "a", with: "b") == "")
        #expect("\u{301}a".dropping(bytes: 2) == "a" && "a\u{D4E}.".droppingLast(bytes: 1) == "a\u{D4E}")
        #expect("\u{212A}K".asciiLowercased.unicodeScalars.elementsEqual("\u{212A}k".unicodeScalars))
        #expect(!haveSameBytes("é", "e\u{301}") && haveSameBytes("a", "xa".dropFirst()))
        #expect(" \t a b\r\n".trimmed == "a b" && " ".trimmed == "")
    }

    @Test(
        "text from outside is valid UTF-8, or nil",
        arguments: [
            ([], ""), ([0x61, 0x00, 0x7F], "a\u{0}\u{7F}"), ([0xC3, 0xA9, 0x61], "éa"), ([0x61, 0x80], nil),
            ([0xC3], nil), ([0xED, 0xA0, 0x80], nil), ([0xF0, 0x9F, 0x93, 0xA6], "📦"),
        ] as [([UInt8], String?)])
    func utf8(bytes: [UInt8], text: String?) {
        #expect(String(utf8: bytes[...]) == text)
        #expect(String(utf8: ([0xFF] + bytes + [0xFF])[1..<bytes.count + 1]) == text)
    }

    @Test(
        "a prefix of text from outside has whole scalars, and no more bytes than asked for",
        arguments: [
            ("abc", 3, "abc"), ("abcd", 3, "abc"), ("aé", 2, "a"), ("aéb", 3, "aé"), ("日本", 5, "日"), ("日", 0, ""),
        ])
    func prefix(text: String, limit: Int, beginning: String) {
        #expect(text.prefix(bytes: limit) == beginning)
    }

    @Test("text from outside with megabytes of marks on one letter is cut")
    func marksWithoutEnd() {
        let text = "a" + String(repeating: "\u{301}", count: 1 << 20)
        #expect(text.prefix(bytes: 300).utf8.count == 299)
    }
}
