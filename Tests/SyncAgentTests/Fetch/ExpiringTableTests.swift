// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import SyncAgent

@Suite("Values that are used again for some time")
struct ExpiringTableTests {
    @Test("take constant time each, also where many are valid at once")
    func manyAtOnce() {
        var table = ExpiringTable<Int, Int>()
        let now = ContinuousClock.now
        for number in 0..<100_000 { table.insert(number, for: number, until: now + .seconds(30), at: now) }
        #expect(table.count == 100_000 && table.looks < 300_000, "\(table.looks)")
    }

    @Test("are gone when their time is over, and do not gather")
    func over() {
        var table = ExpiringTable<Int, Int>()
        let start = ContinuousClock.now
        for number in 0..<50_000 {
            let now = start + .seconds(number)
            table.insert(number, for: number, until: now + .seconds(30), at: now)
            #expect(table.count <= 1000)
            #expect(table.value(of: number, at: now)?.value == number)
            #expect(table.value(of: number, at: now + .seconds(30)) == nil)
        }
        table.remove(49_999)
        #expect(table.value(of: 49_999, at: start) == nil)
    }
}
