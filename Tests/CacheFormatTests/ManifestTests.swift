// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import TestSupport
import Testing

@Suite("A manifest")
struct ManifestTests {
    private static let digest = Digest.of("abc")
    private static let list = Manifest.List(sha256: digest, apps: 16, ready: 14, pending: 1, failed: 1)

    @Test("a manifest is written with its keys in a fixed order, one list a line, sorted by name")
    func text() {
        let manifest = Manifest(
            generation: 42, published: Sample.time,
            lists: ["b.plist": Self.list, "a \"quoted\".plist": Self.list])
        let list = """
            { "document": "lists/\(Self.digest).json", "sha256": "\(Self.digest)", \
            "apps": 16, "ready": 14, "pending": 1, "failed": 1 }
            """
        #expect(
            manifest.json == """
                { "format": 1, "generation": 42, "published": "2026-11-21T02:44:52Z", "lists": {
                  "a \\"quoted\\".plist": \(list),
                  "b.plist": \(list)
                } }

                """)
    }

    @Test(
        "a manifest is read back as it was",
        arguments: [
            [:], ["apps.plist": list], ["ä \\ \" 🦊.plist": list, "\n.plist": list, "x": list],
        ] as [[ListName: Manifest.List]])
    func roundTrip(lists: [ListName: Manifest.List]) throws {
        let manifest = Manifest(generation: 7, published: Sample.time, lists: lists)
        #expect(try Manifest(json: Array(manifest.json.utf8)) == manifest)
    }

    @Test("a manifest is read with keys that a later version adds, in any order")
    func additions() throws {
        let text = """
            {"lists":{"a":{"new":[1],"failed":1,"pending":1,"ready":14,"apps":16,"sha256":"\(Self.digest)"}},
            "new":{"a":null},"published":"2026-11-21T02:44:52Z","generation":42,"format":1}
            """
        let manifest = try Manifest(json: Array(text.utf8))
        #expect(manifest == Manifest(generation: 42, published: Sample.time, lists: ["a": Self.list]))
    }

    private static let good = Manifest(generation: 1, published: Sample.time, lists: ["a.plist": list]).json

    @Test(
        "a manifest is damaged if it is anything else",
        arguments: ["", "{", "[]", "null", "{}", "{ \"format\": 1 }", good + good])
    func damaged(text: String) {
        expectDamaged { try Manifest(json: Array(text.utf8)) }
    }

    @Test(
        "a manifest is damaged if one thing in it is wrong",
        arguments: [
            ("\"format\": 1, ", ""), ("\"format\": 1", "\"format\": \"1\""),
            ("\"generation\": 1", "\"generation\": 1.5"),
            ("\"generation\": 1", "\"generation\": null"), ("2026-11-21", "2026-11-31"), ("\"apps\"", "\"app\""),
            ("\"\(digest)\"", "\"abc\""), ("\"lists\": {", "\"lists\": ["), ("} }\n", "}"),
        ])
    func damaged(part: String, replacement: String) {
        #expect(Self.good.contains(part))
        damaged(text: Self.good.replacing(part, with: replacement))
    }

    @Test("a manifest is damaged if its bytes are no UTF-8")
    func encoding() {
        let bytes = Array(Self.good.utf8).map { $0 == UInt8(ascii: "a") ? 0xFF : $0 }
        expectDamaged { try Manifest(json: bytes) }
    }

    @Test(
        "a manifest of another format is reported as such, whatever else it has",
        arguments: ["{ \"format\": 2 }", "{ \"format\": 2, \"lists\": [] }", nil])
    func unknownFormat(text: String?) {
        let text = text ?? Self.good.replacing("\"format\": 1", with: "\"format\": 2")
        #expect(throws: FormatError.unknownFormat(2)) {
            try Manifest(json: Array(text.utf8))
        }
    }
}
