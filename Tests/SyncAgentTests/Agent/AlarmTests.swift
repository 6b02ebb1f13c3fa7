// SPDX-License-Identifier: Apache-2.0
import CacheFormat
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

    @Test("that is moved to an earlier time rings then; to a later one, once it rang for nothing and was set again")
    func moved() async {
        let clock = AgentClock()
        let (rings, ring) = AsyncStream.makeStream(of: Void.self)
        var waiting = rings.makeAsyncIterator()
        var alarm = Alarm(clock: clock) { ring.yield() }
        alarm.set(clock.now + .seconds(3600))
        let early = clock.now + .milliseconds(20)
        alarm.set(early)
        let late = clock.now + .milliseconds(60)
        alarm.set(late)
        _ = await waiting.next()
        #expect(clock.now >= early)
        alarm.rang()
        alarm.set(late)
        _ = await waiting.next()
        #expect(clock.now >= late)
        alarm.rang()
        alarm.set(clock.now + .milliseconds(20))
        alarm.set(nil)
        let last = clock.now + .milliseconds(60)
        alarm.set(last)
        _ = await waiting.next()
        // Else it rang although it was off.
        #expect(clock.now >= last)
    }
}
