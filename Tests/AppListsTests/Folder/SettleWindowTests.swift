// SPDX-License-Identifier: Apache-2.0
import AppLists
import CacheFormat
import TestSupport
import Testing

@Suite("The quiet time after a change")
struct SettleWindowTests {
    @Test(
        "the folder is looked at when it has been quiet, and at the ceiling at the latest",
        arguments: [
            ([], nil), ([0], 100), ([0, 50], 150), ([0, 50, 50], 150), ([0, 90, 180, 270], 300), ([250, 400], 500),
            ([0, 1000], 300),
        ] as [([Int], Int?)])
    func due(changes: [Int], due: Int?) {
        var window = SettleWindow(quiet: .milliseconds(100), ceiling: .milliseconds(300))
        for change in changes { window.recordChange(at: Sample.time + .milliseconds(change)) }
        #expect(window.due == due.map { Sample.time + .milliseconds($0) })
        window.reset()
        #expect(window.due == nil)
    }
}
