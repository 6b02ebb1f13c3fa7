// SPDX-License-Identifier: Apache-2.0
import AppLists
import CacheFormat
import ListParse
import Testing

@Suite("Lists in JSON")
struct JSONListTests {
    @Test(
        "JSON is the same list as a property list of the same shape",
        arguments: [
            (
                #"[{"name": "Mail", "icon": "https://example.com/a.png", "download": "1.2M", "id": 7}]"#,
                #"({name = Mail; icon = "https://example.com/a.png"; download = "1.2M"; id = 7; })"#
            ),
            (
                #"["https://example.com/a.png", "https://example.com/b.png"]"#,
                #"("https://example.com/a.png", "https://example.com/b.png")"#
            ),
            (
                #"{"apps": ["https://example.com/a.png"], "other": [1, 2.5e3, true, {"x": []}]}"#,
                #"{apps = ("https://example.com/a.png"); other = ("1"); }"#
            ),
            (
                #"{"Mail": "https://example.com/a.png", "Caf\u00e9": "https:\/\/example.com\/b.png"}"#,
                #"{Mail = "https://example.com/a.png"; "Café" = "https://example.com/b.png"; }"#
            ),
            (
                #"{"items": [{"assets": [{"kind": "display-image", "url": "https://example.com/a.png"}], "metadata": {"title": "Mail", "bundle-identifier": "com.example"}}]}"#,
                #"{items = ({assets = ({kind = "display-image"; url = "https://example.com/a.png"; }); metadata = {title = Mail; "bundle-identifier" = "com.example"; }; }); }"#
            ),
            // White space and a byte order mark before it.
            ("\u{FEFF}\r\n [ ]", "()"),
            (#"{"apps": []}"#, "{apps = (); }"),
        ])
    func shapes(json: String, propertyList: String) throws {
        let verdict = ListParser().parse(json)
        _ = try verdict.get()
        #expect(verdict == ListParser().parse(propertyList))
    }

    @Test("null is as a key that is not there, and no URL")
    func null() throws {
        let list = try ListParser().parse(
            #"[{"name": null, "id": null, "icon": "https://example.com/a.png", "download": null}, null, {"icon": null}]"#
        ).get()
        #expect(list.entries == [AppEntry(icon: IconURL("https://example.com/a.png"))])
        #expect(
            list.problems.map { "\($0.keyPath): \($0.reason)" } == [
                "[1]: not a dictionary or a string", "[2].icon: not a string",
            ])
    }

    @Test(
        "the fault of a text in JSON is reported with its line",
        arguments: [
            ("[\"https://example.com/a.png\",\n]", "line 2: a comma before “]”"),
            ("{\"a\": 1,\n}", "line 2: a comma before “}”"),
            ("[1\n\"x\"]", "line 2: “,” or “]” is missing before “\"”"),
            ("{\"a\": 1 \"b\": 2}", "line 1: “,” or “}” is missing before “\"”"),
            ("{\"a\": 1, b: 2}", "line 1: a key must be a string in double quotes"),
            ("{\"a\":\n\n", "line 3: end of file, but “{” of line 1 is not closed"),
            ("[\n[\"a\"]", "line 2: end of file, but “[” of line 1 is not closed"),
            ("[\"a\nb\"]", "line 1: a string has no closing quote"),
            ("[\"a]", "line 1: a string has no closing quote"),
            ("['a']", "line 1: a string must be in double quotes"),
            ("[\n// a\n]", "line 2: JSON has no comments"),
            ("[None]", "line 1: “None” is no value: write strings in double quotes"),
            ("[01]", "line 1: “01” is no value: write strings in double quotes"),
            ("{\"a\": , \"b\": 1}", "line 1: a value is missing before “,”"),
            ("[1}", "line 1: “,” or “]” is missing before “}”"),
            ("[] []", "line 1: “[” after the end of the list"),
            ("[\"C:\\icons\"]", "line 1: “\\” begins no known escape: write “\\\\”"),
            ("[\"\\u12\"]", "line 1: “\\u” needs four hexadecimal digits"),
            ("// a\n[]", "line 1: JSON has no comments"),
            ("{'a': 1}", "line 1: a key must be a string in double quotes"),
            ("[1.]", "line 1: “1.” is no value: write strings in double quotes"),
            ("[\"a\tb\"]", "line 1: a control character in a string"),
            ("[Desktop Entry]", "line 1: “Desktop” is no value: write strings in double quotes"),
        ])
    func fault(text: String, detail: String) {
        let rejection = ListRejection.notJSON(detail)
        #expect(ListParser().parse(text) == .failure(rejection))
        #expect(rejection.message == "The file is not valid JSON (\(detail)): correct it, or write it again.")
    }

    @Test("JSON in another encoding than UTF-8 is rejected as such")
    func encoding() {
        let text = #"[{"icon": "https://example.com/a.png"}]"#
        let wide: [UInt8] = [0xFF, 0xFE] + text.utf8.flatMap { [$0, 0] as [UInt8] }
        #expect(ListParser().parse(wide) == .failure(.notJSON("it is not in UTF-8")))
        #expect(
            ListParser().parse(Array("[\"".utf8) + [0xE9] + "\"]".utf8)
                == .failure(.notJSON("line 1: the text is not UTF-8")))
    }

    @Test("JSON has the limits of property lists")
    func limits() {
        let depth = ListLimits.maxDepth
        let url = "\"https://example.com/a.png\""
        func nested(_ levels: Int) -> String {
            "[\(url), " + String(repeating: "[", count: levels) + String(repeating: "]", count: levels) + "]"
        }
        #expect((try? ListParser().parse(nested(depth - 1)).get())?.entries.count == 1)
        #expect(ListParser().parse(nested(depth)) == .failure(.tooDeep(limit: depth)))
        let short = ListParser(limits: ListLimits(maxEntries: 2))
        #expect(short.parse("[\(url), \(url)]") == ListParser().parse("[\(url), \(url)]"))
        #expect(short.parse("[\(url), \(url), \(url)]") == .failure(.tooManyEntries(limit: 2)))
        #expect(
            ListParser().parse(#"{"A": "https://a.example/1", "A": "https://a.example/2"}"#) == .failure(.repeatedKeys))
    }

    @Test(
        "an OpenStep property list that begins like JSON stays one",
        arguments: [
            #"{"apps" = ("https://example.com/a.png"); }"#, #"{ "a\":" = "https://example.com/a.png"; }"#,
            #"{apps = ("https://example.com/a.png"); }"#,
        ])
    func openStep(text: String) throws {
        #expect(try ListParser().parse(text).get().entries.count == 1)
    }
}
