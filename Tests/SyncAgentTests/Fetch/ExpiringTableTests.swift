// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import SyncAgent

@Suite("A table of values that expire")
struct ExpiringTableTests {
    @Test("an insertion into the table takes constant time, also where many values are valid")
    func manyAtOnce() {
        var table = ExpiringTable<Int, Int>()
        let now = ContinuousClock.now
        for number in 0..<10_000 { table.insert(number, for: number, until: now + .seconds(30), at: now) }
        #expect(table.count == 10_000 && table.looks < 30_000, "\(table.looks)")
    }

    @Test("values are gone when their time is over, and do not gather")
    func over() {
        var table = ExpiringTable<Int, Int>()
        let start = ContinuousClock.now
        for number in 0..<5000 {
            let now = start + .seconds(number)
            table.insert(number, for: number, until: now + .seconds(30), at: now)
            #expect(table.count <= 1000)
            #expect(table.value(of: number, at: now)?.value == number)
            #expect(table.value(of: number, at: now + .seconds(30)) == nil)
        }
        table.remove(4999)
        #expect(table.value(of: 4999, at: start) == nil)
    }
}
