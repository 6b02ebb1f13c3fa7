// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing

@testable import CacheFormat

@Suite("JSON as it is written")
struct WrittenJSONTests {
    private static let document = Sample.document(
        "ü.plist",
        apps: [
            .init(
                name: "é", icon: "https://example.com/a.png", download: "1", expected: .of("x"),
                state: .ready(Sample.image("abc"))),
            .init(name: "", icon: "x", download: nil, state: .failed(error: "http-404")),
            .init(name: nil, icon: "🦊", download: nil, expected: .of("y"), state: .pending),
        ])
    private static let list = Manifest.List(sha256: .of("abc"), apps: 16, ready: 0, pending: 15, failed: 1)
    private static let manifest = Manifest(
        generation: 42, published: Sample.time, lists: ["ü.plist": list, "u\u{308}.plist": list, "b": list])

    @Test("JSON as agents write it is understood")
    func written() {
        #expect(AppListDocument(written: Array(Self.document.json.utf8)) == Self.document)
        #expect(Manifest(written: Array(Self.manifest.json.utf8)) == Self.manifest)
        let empty = Sample.document("empty.plist", apps: [])
        #expect(AppListDocument(written: Array(empty.json.utf8)) == empty)
        let none = Manifest(generation: 1, published: Sample.time, lists: [:])
        #expect(Manifest(written: Array(none.json.utf8)) == none)
        let quoted = Sample.document("a", apps: [.init(name: "“\"”", icon: "x", download: nil, state: .pending)])
        #expect(AppListDocument(written: Array(quoted.json.utf8)) == quoted)
        let controls = String(String.UnicodeScalarView((0..<0x80).compactMap(UnicodeScalar.init))) + "é"
        let escaped = Sample.document(
            "\"",
            apps: [
                .init(name: controls, icon: IconURL(controls), download: controls, state: .failed(error: controls))
            ])
        #expect(AppListDocument(written: Array(escaped.json.utf8)) == escaped)
    }

    @Test(
        "JSON as agents write it has no other escapes than are written",
        arguments: ["\\/", "\\u0041", "\\u0020", "\\u001F", "\\u00e9", "\\ud83e\\udd8a", "\\x", "\\u00", "\\"])
    func otherEscapes(escape: String) throws {
        let text = Self.document.json.replacing("\"é\"", with: "\"\(escape)\"")
        try #require(text != Self.document.json)
        #expect(AppListDocument(written: Array(text.utf8)) == nil)
    }

    @Test(
        "JSON as agents write it is not understood where it is not quite that",
        arguments: [
            ("{ \"format\": 1", "{ \"format\": 2"), ("{ \"format\": 1", "{ \"format\": 01"),
            ("\"apps\": 16", "\"apps\": -16"), ("\"apps\": 16", "\"apps\": 1.6e1"),
            ("\"apps\": 16", "\"apps\": 12345678901234567890"),
            ("\"apps\": 16", "\"apps\": 9999999999999999999"),
            ("\"generation\": 42", "\"generation\": 9999999999999999999"),
            ("\"generation\": 42", "\"generation\": 9007199254740993"),
            ("\"b\"", "\"ü.plist\""), ("lists/", "lists/0"), ("} }\n", "} } "), ("} }\n", "} }\n "),
            ("02:44:52Z", "02:44:52"), ("\"b\"", "\"\u{1}\""),
        ])
    func otherwise(old: String, new: String) throws {
        let text = Self.manifest.json.replacing(old, with: new, maxReplacements: 1)
        try #require(text != Self.manifest.json)
        #expect(Manifest(written: Array(text.utf8)) == nil)
    }

    @Test(
        "JSON as agents write it may have more keys at the end of objects",
        arguments: [
            ("\"new\": \"a } \\n\"", true), ("\"new\": 12, \"é\": null", true), ("\"new\": true", true),
            ("\"new\": -1", false), ("\"new\": []", false), ("\"new\": ", false), ("\"sha256\": 1", false),
        ])
    func moreKeys(members: String, isUnderstood: Bool) {
        let document = Self.document.json.replacing(" },\n", with: ", \(members) },\n")
        #expect(AppListDocument(written: Array(document.utf8)) == (isUnderstood ? Self.document : nil))
        let manifest = Self.manifest.json.replacing(" },\n", with: ", \(members) },\n")
        #expect(Manifest(written: Array(manifest.utf8)) == (isUnderstood ? Self.manifest : nil))
    }

    @Test("changed JSON is read as any reader of JSON does, or not understood", arguments: 0..<10)
    func changed(seed: UInt64) throws {
        var generator = SeededRandom(seed: seed)
        var understood = 0
        for text in [Array(Self.document.json.utf8), Array(Self.manifest.json.utf8)] {
            for _ in 0..<300 {
                var bytes = text
                let place = Int.random(in: 0..<bytes.count, using: &generator)
                switch Int.random(in: 0..<4, using: &generator) {
                case 0: bytes[place] = .random(in: 0 ... .max, using: &generator)
                case 1: bytes[place] ^= UInt8(1) << UInt8.random(in: 0..<8, using: &generator)
                case 2: bytes.remove(at: place)
                default: bytes.insert(bytes[.random(in: 0..<bytes.count, using: &generator)], at: place)
                }
                if let document = AppListDocument(written: bytes) {
                    understood += 1
                    #expect(try AppListDocument(anyJSON: bytes) == document)
                }
                if let manifest = Manifest(written: bytes) {
                    understood += 1
                    #expect(try Manifest(anyJSON: bytes) == manifest)
                }
            }
        }
        #expect(understood > 10)
    }
}
