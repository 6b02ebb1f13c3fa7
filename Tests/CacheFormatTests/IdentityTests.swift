// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import FoundationEssentials
import TestSupport
import Testing

@Suite("Names of lists and URLs of icons")
struct IdentityTests {
    /// Texts that are canonically equivalent, and so equal as `String`.
    private static let pairs: [(String, String)] = [
        ("caf\u{E9}", "cafe\u{301}"), ("\u{212B}", "\u{C5}"), ("\u{212A}elvin", "Kelvin"),
        ("a\u{323}\u{307}", "a\u{307}\u{323}"), ("\u{AC00}", "\u{1100}\u{1161}"),
    ]

    @Test("names of lists and URLs of icons are equal only if their bytes are", arguments: pairs)
    func bytes(one: String, two: String) throws {
        #expect(one == two)
        #expect(IconURL(one) != IconURL(two) && ListName(one) != ListName(two))
        #expect(IconURL(one) == IconURL(String(decoding: Array(one.utf8), as: UTF8.self)))
        #expect(Set([one, two, one].map(IconURL.init)).count == 2)
        #expect((IconURL(one) < IconURL(two)) == one.utf8.lexicographicallyPrecedes(two.utf8))
        #expect((IconURL(two) < IconURL(one)) == two.utf8.lexicographicallyPrecedes(one.utf8))
        let decoded = try JSONDecoder().decode(
            [IconURL].self, from: JSONEncoder().encode([one, two].map(IconURL.init)))
        #expect(decoded == [one, two].map(IconURL.init))
    }

    @Test(
        "names of lists and URLs of icons are sorted as LC_ALL=C sort does it",
        arguments: [["", "a", "a.plist", "aa", "b", "z", "\u{E9}", "\u{FF5E}", "\u{1F600}"]])
    func order(names: [ListName]) {
        #expect(names.reversed().sorted() == names)
    }

    @Test("a manifest has each list under its own name, however like another's it looks", arguments: pairs)
    func manifest(one: String, two: String) throws {
        let lists = Dictionary(
            uniqueKeysWithValues: [one, two, "\(one) \"x\"", "plain"].enumerated().map { number, name in
                (ListName(name), Manifest.List(sha256: .of(name), apps: number, ready: 0, pending: number, failed: 0))
            })
        let manifest = Manifest(generation: 1, published: Timestamp(sinceEpoch: .zero), lists: lists)
        #expect(lists.count == 4)
        #expect(try Manifest(json: Array(manifest.json.utf8)) == manifest)
        // Another program may write the same JSON on one line: then what a JSON decoder makes of it has to do.
        let line = Array(manifest.json.utf8.map { $0 == UInt8(ascii: "\n") ? UInt8(ascii: " ") : $0 })
        #expect(try Manifest(json: line).lists[ListName("plain")] == lists["plain"])
    }
}
