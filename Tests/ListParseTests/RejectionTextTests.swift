// SPDX-License-Identifier: Apache-2.0
import AppLists
import CacheFormat
import ListParse
import TestSupport
import Testing

@Suite("Rejections that tell what to write instead")
struct RejectionTextTests {
    @Test(
        "a dictionary of name and URL in which two names are the same text is rejected",
        arguments: [["caf\u{E9}", "cafe\u{301}"], ["Mail", "Mail"]])
    func repeatedNames(names: [String]) {
        let pairs = names.enumerated().map { number, name in
            "<key>\(name)</key><string>https://example.com/\(number).png</string>"
        }
        let verdict = ListParser().parse("<plist><dict>\(pairs.joined())</dict></plist>")
        #expect(verdict == .failure(.repeatedKeys))
        #expect(ListRejection.repeatedKeys.message.contains("Some names are in the dictionary twice"))
    }

    @Test(
        "a dictionary in which the key of the list is there twice is rejected, in each encoding",
        arguments: [
            #"{"apps": ["http://e.org/a"], "apps": ["http://e.org/b"]}"#,
            #"{"apps": ["http://e.org/a"], "\u0061pps": ["http://e.org/b"], "v": 1}"#,
            #"{"list": [{"icon": "http://e.org/a"}], "list": [{"icon": "http://e.org/b"}]}"#,
            "<plist><dict>\(xml("apps"))\(xml("apps"))</dict></plist>",
            "<plist><dict>\(xml("apps"))\(xml("&#97;pps"))</dict></plist>",
            "<plist><dict>\(xml("caf\u{E9}"))\(xml("cafe\u{301}"))</dict></plist>",
            "{apps = (http://e.org/a); apps = (http://e.org/b);}",
            "{\"apps\" = (http://e.org/a); v = 1; apps /* more */ = (http://e.org/b);}",
            "apps = (http://e.org/a); \"\\U0061pps\" = (http://e.org/b);",
        ])
    func repeatedList(text: String) {
        #expect(ListParser().parse(text) == .failure(.repeatedKeys))
    }

    @Test(
        "a list in which the end of an app is missing is rejected with the line, in each encoding",
        arguments: [
            ("[{\"icon\": \"http://e.org/a\",\n\"name\": \"Maps\", \"icon\": \"http://e.org/b\"}]", "icon", 2),
            ("{\"apps\": [{\"artwork\": \"http://e.org/a\", \"artwork\":\n\"http://e.org/b\"}]}", "artwork", 1),
            ("<plist><array><dict>\(icon("a"))\n\n\(icon("b"))</dict></array></plist>", "icon", 3),
            ("(http://e.org/a,\n{icon = http://e.org/b; name = Maps;\nicon = http://e.org/c;})", "icon", 3),
            ("{apps = ({icon = http://e.org/b; \"icon\" = http://e.org/c;});}", "icon", 1),
        ])
    func repeatedIcon(text: String, key: String, line: Int) {
        #expect(ListParser().parse(text) == .failure(.repeatedKey(key, line: line)))
        #expect(ListRejection.repeatedKey(key, line: line).message.contains("“\(key)” twice, again in line \(line)"))
    }

    @Test(
        "the key of an icon may be there once for each app, for each key, and in what an app contains",
        arguments: [
            #"[{"icon": "http://e.org/a", "artwork": "b"}, {"icon": "http://e.org/a", "maker": {"icon": "c"}}]"#,
            #"[{"maker": {"icon": "c", "icon": "d"}, "icon": "http://e.org/a", "name": "icon", "id": "icon"}]"#,
            #"[{"icon": "http://e.org/a", "screenshots": [{"icon": "c", "icon": "d"}]}]"#,
            #"[{"icon": "http://e.org/a"}, {"icon_name": "b", "icon_name": "c"}]"#,
            "<plist><array><dict>\(icon("a"))</dict><dict>\(icon("b"))</dict><dict/></array></plist>",
            "<plist><array><dict>\(icon("a"))<key>a</key><dict>\(icon("b"))\(icon("c"))</dict></dict></array></plist>",
            "({icon = http://e.org/b; maker = {icon = c; icon = d;};})",
            "({icon = http://e.org/b; a = icon; maker = {icon = c;};}, {icon = http://e.org/c;})",
        ])
    func icons(text: String) throws {
        #expect(try !ListParser().parse(text).get().entries.isEmpty)
    }

    @Test(
        "another key may be there twice beside the list",
        arguments: [
            #"{"v": 1, "apps": ["http://e.org/a"], "v": 2}"#,
            #"{"R&D": 1, "v": 1, "apps": ["http://e.org/a"], "v": 2}"#,
            #"{"list": [{"icon": "http://e.org/a"}], "v": 1, "v": 2}"#,
            "<plist><dict><key>v</key><true/>\(xml("apps"))<key>v</key><true/></dict></plist>",
            "{v = 1; apps = (http://e.org/a); \"v\" = 2;}",
        ])
    func repeatedOther(text: String) throws {
        #expect(try ListParser().parse(text).get().entries.count == 1)
    }

    private static func icon(_ path: String) -> String { "<key>icon</key><string>http://e.org/\(path)</string>" }

    private static func xml(_ key: String) -> String {
        "<key>\(key)</key><array><string>http://e.org/a</string></array>"
    }

    @Test(
        "a binary dictionary in which the key of the list is there twice is rejected, and not one with another key twice"
    )
    func repeatedBinaryList() throws {
        let key = [0x54] + Array("apps".utf8)
        let url = [0x5F, 0x10, 14] + Array("http://e.org/a".utf8)
        let bytes = BinaryList.bytes(of: [[0xD2, 1, 1, 2, 2], key, [0xA1, 3], url])
        #expect(ListParser().parse(bytes) == .failure(.repeatedKeys))
        let wide: [UInt8] = [0x64] + "apps".utf8.flatMap { [UInt8(0), $0] }
        let mixed = BinaryList.bytes(of: [[0xD2, 1, 4, 2, 2], key, [0xA1, 3], url, wide])
        #expect(ListParser().parse(mixed) == .failure(.repeatedKeys))
        let other = BinaryList.bytes(of: [[0xD3, 4, 1, 4, 4, 2, 4], key, [0xA1, 3], url, [0x51, 0x76]])
        #expect(try ListParser().parse(other).get().entries.count == 1)
    }
}
