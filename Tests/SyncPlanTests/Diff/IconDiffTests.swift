// SPDX-License-Identifier: Apache-2.0
import SyncPlan
import Testing

@Suite("What a new version of a list changes")
struct IconDiffTests {
    @Test(
        "URLs that come and go",
        arguments: [
            ([], [], [], []), ([], ["a", "b"], ["a", "b"], []), (["a", "b"], [], [], ["a", "b"]),
            (["a", "b"], ["b", "a"], [], []), (["a", "b"], ["b", "c"], ["c"], ["a"]), (["a"], ["a", "a"], [], []),
            (["a", "a"], ["b", "b"], ["b"], ["a"]), (["a"], ["A"], ["A"], ["a"]),
        ] as [([String], [String], Set<String>, Set<String>)])
    func diff(old: [String], new: [String], added: Set<String>, removed: Set<String>) {
        let diff = IconDiff(from: Sample.entries(old), to: Sample.entries(new))
        #expect(diff.added == added && diff.removed == removed)
    }

    @Test("another name or download text of the same URL changes nothing")
    func sameURL() {
        let diff = IconDiff(
            from: [AppEntry(name: "A", icon: "u")], to: [AppEntry(name: "B", icon: "u", download: "1M")])
        #expect(diff.added.isEmpty && diff.removed.isEmpty)
    }
}
