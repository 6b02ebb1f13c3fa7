// SPDX-License-Identifier: Apache-2.0
import AppLists
import CacheFormat
import Testing

@Suite("Packed entries of a list")
struct AppEntriesTests {
    private static let entries = [
        AppEntry(icon: "u:1"), AppEntry(name: "Mail", id: "org.mail", icon: "u:2", download: "u:mail"),
        AppEntry(name: "", icon: ""), AppEntry(id: "é\u{301}", icon: "u:é", expected: Digest.of("x")),
        AppEntry(icon: "u:1", download: "\u{10FFFF}"), AppEntry(icon: "u:1", expected: Digest.of("y")),
        AppEntry(name: "Mail", id: "org.mail", icon: "u:3", download: "u:mail"),
    ]

    @Test("entries are as they were packed, in whatever number")
    func packed() {
        for count in 0...Self.entries.count {
            for first in 0...count {
                let entries = Array(Self.entries[first..<count])
                let packed = AppEntries(entries)
                #expect(Array(packed) == entries && packed == AppEntries(entries))
                #expect(packed.icons == entries.map(\.icon))
                #expect(packed.indices.map { packed.expected(at: $0) } == entries.map(\.expected))
            }
        }
    }

    @Test("texts of entries are compared by their bytes, and one that is missing is not an empty one")
    func texts() {
        let packed = AppEntries(Self.entries)
        #expect(packed.hasSameTexts(at: 1, as: packed, at: 6) && packed.hasSameTexts(at: 0, as: packed, at: 5))
        #expect(!packed.hasSameTexts(at: 0, as: packed, at: 2) && !packed.hasSameTexts(at: 1, as: packed, at: 4))
        let (one, other) = (AppEntry(name: "é", icon: "u"), AppEntry(name: "e\u{301}", icon: "u"))
        #expect(AppEntries([one]) != AppEntries([other]) && one == other)
        #expect(AppEntries([AppEntry(name: "A", icon: "u")]) != AppEntries([AppEntry(id: "A", icon: "u")]))
    }
}
