// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import SyncAgent
import TestSupport
import Testing

@Suite("An alarm")
struct AlarmTests {
    @Test("an alarm that rang and was set anew before this was noticed rings once for each time")
    func late() async throws {
        try await withGrowingTime(from: .milliseconds(20)) { time in
            let clock = AgentClock()
            let (rings, ring) = AsyncStream.makeStream(of: Void.self)
            var waiting = rings.makeAsyncIterator()
            var alarm = Alarm(clock: clock) { ring.yield() }
            alarm.set(clock.now)
            _ = await waiting.next()
            let second = clock.now + time
            alarm.set(second)
            alarm.set(nil)
            alarm.set(second)
            // It may have rung between these calls.
            guard clock.now < second else { return false }
            _ = await waiting.next()
            #expect(clock.now >= second)
            alarm.set(nil)
            let third = clock.now + time
            alarm.set(third)
            _ = await waiting.next()
            // Else it rang a second time for the one before.
            #expect(clock.now >= third)
            return true
        }
    }

    @Test("an alarm moved to an earlier time rings then; moved to a later one, it may ring early, and is set again")
    func moved() async throws {
        try await withGrowingTime(from: .milliseconds(20)) { time in
            let clock = AgentClock()
            let (rings, ring) = AsyncStream.makeStream(of: Void.self)
            var waiting = rings.makeAsyncIterator()
            var alarm = Alarm(clock: clock) { ring.yield() }
            alarm.set(clock.now + .seconds(3600))
            let early = clock.now + time
            alarm.set(early)
            let late = early + time
            alarm.set(late)
            _ = await waiting.next()
            #expect(clock.now >= early)
            alarm.set(nil)
            alarm.set(late)
            _ = await waiting.next()
            #expect(clock.now >= late)
            alarm.set(nil)
            let off = clock.now + time
            alarm.set(off)
            alarm.set(nil)
            // It may have rung between these calls.
            guard clock.now < off else { return false }
            let last = off + time
            alarm.set(last)
            _ = await waiting.next()
            // Else it rang although it was off.
            #expect(clock.now >= last)
            return true
        }
    }
}
