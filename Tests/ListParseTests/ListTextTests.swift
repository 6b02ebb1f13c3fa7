// SPDX-License-Identifier: Apache-2.0
import AppLists
import CacheFormat
import ListParse
import TestSupport
import Testing

@Suite("The encodings of lists")
struct ListTextTests {
    /// A list of one app.
    private static func xml(_ encoding: String, _ name: String = "Caf\u{E9} \u{1F388}") -> String {
        "<?xml version=\"1.0\" \(encoding)?>\n<plist><array><dict><key>name</key><string>\(name)</string>"
            + "<key>icon</key><string>http://e.org/a</string></dict></array></plist>"
    }

    private static func wide(_ text: String, size: Int, isBigEndian: Bool, hasMark: Bool) -> [UInt8] {
        let text = (hasMark ? "\u{FEFF}" : "") + text
        let units = size == 2 ? text.utf16.map(UInt32.init) : text.unicodeScalars.map(\.value)
        return units.flatMap { unit in
            let bytes = (0..<size).map { UInt8(truncatingIfNeeded: unit >> (8 * UInt32($0))) }
            return isBigEndian ? bytes.reversed() : bytes
        }
    }

    @Test("lists are read in UTF-16 and UTF-32, with and without a byte order mark", arguments: [2, 4], [true, false])
    func wide(size: Int, isBigEndian: Bool) throws {
        for (text, hasMark) in [
            (Self.xml("encoding=\"UTF-\(8 * size)\""), true), (Self.xml(""), false),
            ("({name = \"Caf\u{E9} \u{1F388}\"; icon = \"http://e.org/a\";})", true),
        ] {
            let bytes = Self.wide(text, size: size, isBigEndian: isBigEndian, hasMark: hasMark)
            #expect(try ListParser().parse(bytes).get().entries.map(\.name) == ["Caf\u{E9} \u{1F388}"])
        }
        let twice = "{apps = (http://e.org/a); apps = (http://e.org/b);}"
        let bytes = Self.wide(twice, size: size, isBigEndian: isBigEndian, hasMark: false)
        #expect(ListParser().parse(bytes) == .failure(.repeatedKeys))
        let json = Self.wide("[\"http://e.org/a\"]", size: size, isBigEndian: isBigEndian, hasMark: true)
        #expect(ListParser().parse(json) == .failure(.notJSON("it is not in UTF-8")))
        #expect(
            ListParser().parse(bytes + [0])
                == .failure(.notAPropertyList("it is not valid UTF-\(8 * size): write it in UTF-8")))
    }

    @Test(
        "XML is read in the encoding that it declares, if that is us-ascii or iso-8859-1, or in UTF-8 after its mark",
        arguments: [
            "encoding='us-ascii'", "encoding = \"ISO-8859-1\" standalone='yes'", "encoding=\"utf-8\"",
            "encoding='utf8'", "encoding='UTF_8'", "encoding='iso8859_1'",
        ])
    func declared(encoding: String) throws {
        let text = Self.xml(encoding, "Cafe")
        #expect(try ListParser().parse(text).get().entries.map(\.name) == ["Cafe"])
        let marked = "\u{FEFF}" + Self.xml(encoding)
        #expect(try ListParser().parse(marked).get().entries.map(\.name) == ["Caf\u{E9} \u{1F388}"])
        if encoding.asciiLowercased.contains(bytes: "utf") {
            #expect(try ListParser().parse(Self.xml(encoding)).get().entries.map(\.name) == ["Caf\u{E9} \u{1F388}"])
        }
        guard encoding.contains("8859") else { return }
        let bytes = Self.xml(encoding, "Caf\u{E9}").unicodeScalars.map { UInt8($0.value) }
        #expect(try ListParser().parse(bytes).get().entries.map(\.name) == ["Caf\u{E9}"])
    }

    @Test("XML in another encoding than it declares, or in one that is not known, is rejected with its name")
    func unknown() {
        for (name, text) in [("windows-1252", "Cafe"), ("us-ascii", "Caf\u{E9}")] {
            let detail = "it is in \(name), or says so: write it in UTF-8"
            let verdict = ListParser().parse(Self.xml("encoding=\"\(name)\"", text))
            #expect(verdict == .failure(.notAPropertyList(detail)))
        }
    }
}
