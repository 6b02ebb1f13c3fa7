// SPDX-License-Identifier: Apache-2.0
import AppLists
import CacheFormat
import TestSupport
import Testing

@Suite("Files that go on changing")
struct UnsettledListsTests {
    @Test("files that change for too long get a verdict, and begin anew after they settled")
    func patience() {
        var unsettled = UnsettledLists(patience: .seconds(30))
        func overdue(_ names: Set<ListName>, after seconds: Int) -> [ListName] {
            unsettled.record(names, at: Sample.time + .seconds(seconds)).keys.sorted()
        }
        #expect(overdue(["a"], after: 0) == [])
        #expect(overdue(["a", "b"], after: 29) == [])
        #expect(overdue(["a", "b"], after: 30) == ["a"])
        #expect(overdue(["b"], after: 31) == [])
        #expect(overdue(["a", "b"], after: 60) == ["b"])
        #expect(unsettled.record(["b"], at: Sample.time + .seconds(61))["b"]?.verdict == .failure(.stillBeingWritten))
    }
}
