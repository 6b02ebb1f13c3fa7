// SPDX-License-Identifier: Apache-2.0
import AppLists
import CacheFormat
import Testing

@testable import SyncPlan

@Suite("Differences between versions of a list")
struct IconDiffTests {
    @Test(
        "a diff names the URLs that come and go",
        arguments: [
            ([], [], [], []), ([], ["a", "b"], ["a", "b"], []), (["a", "b"], [], [], ["a", "b"]),
            (["a", "b"], ["b", "a"], [], []), (["a", "b"], ["b", "c"], ["c"], ["a"]), (["a"], ["a", "a"], [], []),
            (["a", "a"], ["b", "b"], ["b"], ["a"]), (["a"], ["A"], ["A"], ["a"]),
        ] as [([IconURL], [IconURL], Set<IconURL>, Set<IconURL>)])
    func diff(old: [IconURL], new: [IconURL], added: Set<IconURL>, removed: Set<IconURL>) {
        let diff = IconDiff(from: AppEntries(Sample.entries(old)), to: AppEntries(Sample.entries(new)))
        #expect(diff.added == added && diff.removed == removed)
    }

    @Test(
        "a diff names changed digests; all that a list gives for a URL count",
        arguments: [
            ([("a", nil)], [("a", "x")], ["a": ["x"]]), ([("a", "x")], [("a", nil)], ["a": []]),
            ([("a", "x")], [("a", "y")], ["a": ["y"]]), ([("a", "x")], [], ["a": []]),
            ([], [("a", "x")], ["a": ["x"]]), ([], [("a", "x"), ("a", nil), ("a", "y")], ["a": ["x", "y"]]),
            ([("a", "x"), ("a", "y")], [("a", nil), ("a", "x")], ["a": ["x"]]),
            ([("a", "x"), ("a", "y")], [("a", "y"), ("a", "x")], [:]),
            ([("a", "x"), ("b", "y")], [("b", "y"), ("a", "x")], [:]),
        ] as [([(IconURL, String?)], [(IconURL, String?)], [IconURL: [String]])])
    func digests(old: [(IconURL, String?)], new: [(IconURL, String?)], expected: [IconURL: [String]]) {
        func entries(_ entries: [(IconURL, String?)]) -> AppEntries {
            AppEntries(entries.map { AppEntry(icon: $0.0, expected: $0.1.map(Digest.of)) })
        }
        let diff = IconDiff(from: entries(old), to: entries(new))
        #expect(diff.expected == expected.mapValues { Set($0.map(Digest.of)) })
    }

    @Test("a diff of any change equals the difference of all URLs and digests", arguments: 0..<200)
    func anyLists(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        func entry() -> AppEntry {
            let digest = ["x", "y", nil, nil].randomElement(using: &generator) ?? nil
            return AppEntry(
                icon: IconURL(String(Int.random(in: 0..<6, using: &generator))), expected: digest.map(Digest.of))
        }
        func digests(_ entries: [AppEntry]) -> [IconURL: Set<Digest>] {
            Dictionary(entries.compactMap { entry in entry.expected.map { (entry.icon, [$0]) } }) { $0.union($1) }
        }
        let old = (0..<Int.random(in: 0..<8, using: &generator)).map { _ in entry() }
        var new = old
        for _ in 0..<Int.random(in: 0..<4, using: &generator) {
            let place = Int.random(in: 0...new.count, using: &generator)
            if place < new.count, Bool.random(using: &generator) {
                new.remove(at: place)
            } else {
                new.insert(entry(), at: place)
            }
        }
        let diff = IconDiff(from: AppEntries(old), to: AppEntries(new))
        #expect(diff.added == Set(new.map(\.icon)).subtracting(old.map(\.icon)))
        #expect(diff.removed == Set(old.map(\.icon)).subtracting(new.map(\.icon)))
        let changed = Set((old + new).map(\.icon)).filter { digests(old)[$0] != digests(new)[$0] }
        #expect(Set(diff.expected.keys) == changed)
        for url in changed { #expect(diff.expected[url] == digests(new)[url, default: []]) }
    }

    @Test("another name or download text of the same URL changes nothing")
    func sameURL() {
        let diff = IconDiff(
            from: [AppEntry(name: "A", icon: "u")], to: [AppEntry(name: "B", icon: "u", download: "1M")])
        #expect(diff.added.isEmpty && diff.removed.isEmpty)
    }
}
