// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import FoundationEssentials
import Testing

@Suite("JSON text")
struct JSONTests {
    private static let values: [(JSON, String)] = [
        (nil, "null"), (true, "true"), (false, "false"), (0, "0"), (-12, "-12"), (.number(.max), "9223372036854775807"),
        ("", "\"\""), ("a", "\"a\""), ([], "[]"), ([:], "{}"), ([1, 2], "[ 1, 2 ]"),
        (["z": 1, "a": ["b": nil]], "{ \"z\": 1, \"a\": { \"b\": null } }"),
        (.string(orNull: nil), "null"), (.string(orNull: "x"), "\"x\""),
        (.lines([]), "[]"), (.lines([:]), "{}"),
    ]

    @Test(
        "JSON text has its keys in the order that was given, and one space between all parts",
        arguments: values.indices)
    func value(index: Int) {
        let (value, text) = Self.values[index]
        #expect(value.text == text)
        #expect(value.line == text)
    }

    @Test("JSON text has each member of `lines` on a line of its own, and none of them in one-line text")
    func lines() {
        let value: JSON = [
            "a": .lines([1, .lines(["b": 2, "c": [3, 4]]), [5]]), "d": .lines([:]), "e": [.lines([6])],
        ]
        #expect(
            value.text == """
                { "a": [
                  1,
                  {
                    "b": 2,
                    "c": [ 3, 4 ]
                  },
                  [ 5 ]
                ], "d": {}, "e": [ [
                  6
                ] ] }
                """)
        #expect(
            value.line == "{ \"a\": [ 1, { \"b\": 2, \"c\": [ 3, 4 ] }, [ 5 ] ], \"d\": {}, \"e\": [ [ 6 ] ] }")
    }

    private static let strings = [
        ("plain", "\"plain\""), ("a\"b", #""a\"b""#), (#"a\b"#, #""a\\b""#), ("a/b", "\"a/b\""),
        ("\n\r\t\r\n", #""\n\r\t\r\n""#), ("\u{0}\u{1}\u{1F}", #""\u0000\u0001\u001f""#), ("\u{7F}", "\"\u{7F}\""),
        ("é\u{2028}🦊", "\"é\u{2028}🦊\""), ("\"é\u{301}", "\"\\\"é\u{301}\""),
    ]

    @Test("JSON text escapes in strings what must be, and nothing else", arguments: strings)
    func escapes(string: String, text: String) throws {
        #expect(JSON.quoted(string) == text)
        #expect(JSON.string(string).text == text)
        #expect(JSON.object([(string, 1)]).text == "{ \(text): 1 }")
        let decoded = try JSONDecoder().decode([String].self, from: Data("[\(text)]".utf8))
        #expect(decoded.map { Array($0.unicodeScalars) } == [Array(string.unicodeScalars)])
    }
}
