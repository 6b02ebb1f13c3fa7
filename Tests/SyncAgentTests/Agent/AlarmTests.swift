// SPDX-License-Identifier: Apache-2.0
import IconCache
import SyncAgent
import Testing

@Suite("An alarm")
struct AlarmTests {
    @Test("that rang and was set anew before this was noticed rings once for each time")
    func late() async {
        let clock = AgentClock()
        let (rings, ring) = AsyncStream.makeStream(of: Void.self)
        var waiting = rings.makeAsyncIterator()
        var alarm = Alarm(clock: clock) { ring.yield() }
        alarm.set(clock.now)
        _ = await waiting.next()
        let second = clock.now + .milliseconds(20)
        alarm.set(second)
        alarm.rang()
        alarm.set(second)
        _ = await waiting.next()
        #expect(clock.now >= second)
        alarm.rang()
        let third = clock.now + .milliseconds(50)
        alarm.set(third)
        _ = await waiting.next()
        // Else it rang a second time for the one before.
        #expect(clock.now >= third)
    }
}
