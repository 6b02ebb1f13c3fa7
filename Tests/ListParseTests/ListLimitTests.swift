// SPDX-License-Identifier: Apache-2.0
import AppLists
import CacheFormat
import ListParse
import TestSupport
import Testing

@Suite("Limits on app lists")
struct ListLimitTests {
    @Test("a file is as large as the limit, and no larger")
    func size() {
        let bytes = Array("(http://e.org/a)".utf8)
        #expect(ListParser(limits: ListLimits(maxBytes: ByteCount(bytes.count))).parse(bytes).code == nil)
        #expect(ListParser(limits: ListLimits(maxBytes: ByteCount(bytes.count - 1))).parse(bytes).code == "too-large")
    }

    @Test(
        "entries are counted whether they are good or not",
        arguments: [
            ("(http://e.org/a, x, {})", nil), ("(http://e.org/a, x, {}, y)", "too-many-entries"),
            ("{a = http://e.org/a; b = \"\"; c = \"\";}", nil),
            ("{a = http://e.org/a; b = x; c = y; d = z;}", "too-many-entries"),
            ("{z = (http://e.org/a, x, {}, y);}", "too-many-entries"),
        ] as [(String, String?)])
    func entries(text: String, code: String?) {
        #expect(ListParser(limits: ListLimits(maxEntries: 3)).parse(text).code == code)
    }

    @Test("icons are looked for under the keys that are set, and under “icon” before all")
    func iconKeys() throws {
        let parser = ListParser(limits: ListLimits(iconKeys: ["logo", "pic"]))
        let list = try parser.parse(
            "({pic = http://a/1; logo = http://a/2;}, {icon = http://a/3; logo = http://a/4;}, {pic = http://a/5;}, {artwork = http://a/6;})"
        ).get()
        #expect(list.entries.map(\.icon) == ["http://a/2", "http://a/3", "http://a/5"])
        #expect(list.problems.map(\.description) == ["[3]: no icon key (icon, logo, pic)"])
        #expect(parser.parse("({icon = http://a/1; icon = http://a/2;})") == .failure(.repeatedKey("icon", line: 1)))
        let many = ListParser(limits: ListLimits(iconKeys: (0..<150).map { "the-icon-that-is-wanted-number-\($0)" }))
        let reason = try many.parse("(http://a/1, {name = A;})").get().problems[0].reason
        #expect(reason.utf8.count < 200 && reason.hasPrefix("no icon key (icon, the-icon-that-is-wanted-number-0, "))
    }

    @Test(
        "the identity of an app is the text or integer under the first identity key that it has"
    )
    func identityKeys() throws {
        let parser = ListParser(limits: ListLimits(identityKeys: ["uuid", "n"]))
        let list = try parser.parse(
            "({icon = http://a/1; id = a;}, {icon = http://a/2; n = 7; uuid = b;}, {icon = http://a/3; uuid = (x); n = c;}, {icon = http://a/4; uuid = \"\";})"
        ).get()
        #expect(list.entries.map(\.id) == [nil, "b", "c", nil])
        #expect(list.problems.isEmpty)
        let integer = try ListParser().parse(
            "<plist><array><dict><key>icon</key><string>http://a/1</string><key>appid</key><integer>42</integer></dict></array></plist>"
        ).get()
        #expect(integer.entries.map(\.id) == ["42"])
    }

    @Test(
        "an identity is found however XML spells its key",
        arguments: [
            "<key>id</key>", "<key >id</key\n>", "<key a='&gt;'>id</key>", "<key>&#105;d</key>", "<key>&#x69;d</key>",
            "<key><![CDATA[id]]></key>", "<key>i<![CDATA[d]]></key>", "<key></key><true/><key>id</key>",
        ])
    func identityInXML(key: String) throws {
        let list = try ListParser().parse(
            "<plist><array><dict><key>icon</key><string>http://a/1</string>\(key)<string>a</string></dict></array></plist>"
        ).get()
        #expect(list.entries.map(\.id) == ["a"])
    }

    @Test(
        "the identity keys that an XML property list may have follow from its bytes",
        arguments: [
            ("<key>icon</key><string>id</string>", []), ("<key>id</key><true/><key>ids</key><true/>", ["id"]),
            ("<key>&#105;d</key><true/>", ["id", "appid"]), ("<key>ü</key><true/>", ["id", "appid"]),
        ])
    func outline(body: String, keys: [String]) throws {
        let bytes = Array("<plist><dict>\(body)</dict></plist>".utf8)
        let outline = try PropertyListEncoding.xml.outline(of: bytes, ListLimits(identityKeys: ["id", "appid"]))
        #expect(outline.limits.identityKeys == keys)
    }

    @Test(
        "thirty-two levels are accepted and no more",
        arguments: [
            { "<plist>" + wrap("<string>http://e.org</string>", in: ("<array>", "</array>"), $0) + "</plist>" },
            { wrap("http://e.org", in: ("(", ")"), $0) },
            { wrap("http://e.org", in: ("{ a = ", "; }"), $0) },
        ] as [@Sendable (Int) -> String])
    func depth(nested: @Sendable (Int) -> String) {
        #expect(ListParser().parse(nested(32)).code != "too-deep")
        #expect(ListParser().parse(nested(33)).code == "too-deep")
    }

    @Test(
        "levels are counted in every spelling that the parser accepts",
        arguments: [
            "<?><array>", "<!-- > --><array>", "<array a=\"/\">", "<arrays>", "<array\n>", "<array/><array>",
        ])
    func oddDepth(level: String) {
        let levels = String(repeating: level, count: 33)
        #expect(ListParser().parse("<plist>\(levels)<string>http://e.org</string>").code == "too-deep")
    }

    @Test("binary levels are counted, those of a shared array too")
    func binaryDepth() {
        #expect(ListParser().parse(BinaryList.nested(32)).code == "no-known-shape")
        #expect(ListParser().parse(BinaryList.nested(33)).code == "too-deep")
        #expect(ListParser().parse(BinaryList.doubling(levels: 8)).code == "no-known-shape")
        // An array of 31 levels is in the outermost one, and a level deeper.
        let inner: [[UInt8]] = (3...32).map { [0xA1, $0] } + [[0xA0]]
        #expect(ListParser().parse(BinaryList.bytes(of: [[0xA2, 2, 2], [0xA1, 2]] + inner)).code == "no-known-shape")
        #expect(ListParser().parse(BinaryList.bytes(of: [[0xA2, 2, 1], [0xA1, 2]] + inner)).code == "too-deep")
    }

    @Test(
        "a value counts each time that a file refers to it",
        arguments: [(7, "no-known-shape"), (8, "too-many-values")])
    func values(levels: Int, code: String) {
        // A list has at most as many values as bytes: here 255 and 511.
        let parser = ListParser(limits: ListLimits(maxBytes: ByteCount(500)))
        #expect(parser.parse(BinaryList.doubling(levels: levels)).code == code)
    }

    @Test("values are counted no further than the limit")
    func countedValues() {
        // 511 values, before an array that is too deep.
        let many: [[UInt8]] = (2...9).map { [0xA2, $0, $0] } + [[0x51, 0x61]]
        let deep: [[UInt8]] = (11...42).map { [0xA1, $0] } + [[0xA0]]
        let bytes = BinaryList.bytes(of: [[0xA2, 1, 10]] + many + deep)
        #expect(ListParser(limits: ListLimits(maxBytes: ByteCount(500))).parse(bytes).code == "too-many-values")
        #expect(ListParser(limits: ListLimits(maxBytes: ByteCount(600))).parse(bytes).code == "too-deep")
    }

    @Test(
        "closing brackets that close nothing make no room for others",
        arguments: [
            "<plist>" + String(repeating: "<array><?</array>?>", count: 40) + String(repeating: "</array>", count: 40),
            "<!DOCTYPE plist [</array></array></array></array></array></array></array></array>]><plist>"
                + wrap("", in: ("<array>", "</array>"), 40),
            "))))))))" + wrap("", in: ("(", ")"), 40),
        ])
    func closers(text: String) {
        #expect(ListParser().parse(text).code == "too-deep")
    }

    @Test(
        "brackets that nest nothing are not counted",
        arguments: [
            "(" + String(repeating: "{icon = http://e.org/a; }, ", count: 40) + "http://e.org)",
            "(\"http://e.org/\(String(repeating: "(", count: 40))\")",
            "(/* \(String(repeating: "{", count: 40)) */ http://e.org // \(String(repeating: "{", count: 40))\n)",
            "<plist><!-- \(String(repeating: "<array>", count: 40)) --><array>"
                + "<string><![CDATA[http://e.org/\(String(repeating: "<dict>", count: 40))]]></string></array></plist>",
            "<plist><array>\(String(repeating: "<array/><dict />", count: 40))<string>http://e.org</string></array></plist>",
        ])
    func noDepth(text: String) throws {
        #expect(try !ListParser().parse(text).get().entries.isEmpty)
    }

    @Test("a repeated text is rejected when all of it is too much")
    func repeatedText() {
        // A small list may have 1 MiB of text.
        let parser = ListParser(limits: ListLimits(maxBytes: ByteCount(1 << 16)))
        let url = Array("http://e.org/".utf8) + [UInt8](repeating: 0x61, count: 8000)
        let text: [UInt8] = [0x5F, 0x11] + BinaryList.bigEndian(url.count, 2) + url
        for (count, code) in [(120, nil), (140, "too-much-text")] as [(Int, String?)] {
            let list = BinaryList.bytes(of: [BinaryList.array(repeating: count), text], referenceSize: 2)
            #expect(parser.parse(list).code == code)
        }
    }
}

private func wrap(_ text: String, in brackets: (String, String), _ count: Int) -> String {
    String(repeating: brackets.0, count: count) + text + String(repeating: brackets.1, count: count)
}
