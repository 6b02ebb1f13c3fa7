// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import CacheFormat

@Suite("Values as JSON")
struct JSONEncodingTests {
    private enum State: String, Codable { case ready }

    private struct Part: Codable {
        var name: ListName
        var number: Int?
    }

    private struct Whole: Codable {
        var text = "a\"b"
        var state: State? = .ready
        var isSet: Bool? = true
        var parts: [Part]? = [Part(name: "x", number: 1), Part(name: "y", number: nil)]
        var optional: [Int?] = [1, nil]
        var part: Part? = Part(name: "z")
        var numbers = [[1, 2], []]
    }

    @Test("JSON members have the order of the properties; enumerations and names are strings")
    func members() {
        #expect(
            JSON(Whole()).text == #"""
                { "text": "a\"b", "state": "ready", "isSet": true, "parts": [ { "name": "x", "number": 1 }, \#
                { "name": "y", "number": null } ], "optional": [ 1, null ], "part": { "name": "z", "number": null }, \#
                "numbers": [ [ 1, 2 ], [] ] }
                """#)
    }

    @Test("an absent value is null in JSON, and an absent array is empty")
    func absence() {
        let whole = Whole(text: "", state: nil, isSet: nil, parts: nil, optional: [], part: nil, numbers: [])
        #expect(
            JSON(whole).text == """
                { "text": "", "state": null, "isSet": null, "parts": [], "optional": [], "part": null, "numbers": [] }
                """)
    }

    @Test("a JSON document names its format first, and has some arrays over several lines")
    func documents() {
        struct Document: Codable { var pins = ["a", "b"], lists: [String] = ["c"] }
        #expect(
            JSON.document(Document(), lines: ["pins"]).text == """
                { "format": 1, "pins": [
                  "a",
                  "b"
                ], "lists": [ "c" ] }
                """)
    }
}
