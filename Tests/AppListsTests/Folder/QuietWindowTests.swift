// SPDX-License-Identifier: Apache-2.0
import AppLists
import CacheFormat
import TestSupport
import Testing

@Suite("The quiet time after a change")
struct QuietWindowTests {
    @Test(
        "the wait ends when it has been quiet, and at the ceiling at the latest",
        arguments: [
            ([], nil), ([0], 100), ([0, 50], 150), ([0, 50, 50], 150), ([0, 90, 180, 270], 300), ([250, 400], 500),
            ([0, 1000], 300), ([50, 0], 150),
        ] as [([Int], Int?)])
    func end(changes: [Int], end: Int?) {
        let window = QuietWindow(quiet: .milliseconds(100), ceiling: .milliseconds(300))
        #expect(
            window.end(of: changes.map { Sample.time + .milliseconds($0) })
                == end.map { Sample.time + .milliseconds($0) })
    }
}
