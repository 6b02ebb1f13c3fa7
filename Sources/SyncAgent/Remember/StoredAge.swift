// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import SyncPlan

/// The age of an event, stored so that changes of the wall clock do not affect it.
///
/// Ages are stored for grace periods, leases and holds, whose time passes only while the system is awake. Within one
/// boot, the elapsed time is known exactly. After a reboot, only the time up to the store counts.
struct StoredAge: Equatable, StoredMemo {
    /// The ages and times that can be stored, in milliseconds: a hundred years.
    private static let range: ClosedRange<Int64> = 0...36_525 * 86_400_000

    /// The age when it was stored, in milliseconds.
    var elapsed: Int64
    /// The boot in which the age was stored; `nil` if that is unknown.
    var boot: String?
    /// How long the system had been awake since that boot when the age was stored, in milliseconds.
    var awake: Int64

    var isPossible: Bool { Self.range.contains(elapsed) && Self.range.contains(awake) }

    /// The age of an event with this time by the clock of this run.
    init(of time: Timestamp, clock: AgentClock) {
        self.init(
            elapsed: (clock.now - time).milliseconds, boot: BootID.current, awake: AgentClock.timeAwake.milliseconds)
    }

    init(elapsed: Int64, boot: String?, awake: Int64) {
        self.elapsed = min(max(elapsed, Self.range.lowerBound), Self.range.upperBound)
        self.boot = boot
        self.awake = min(max(awake, Self.range.lowerBound), Self.range.upperBound)
    }

    /// The event's time by the clock of this run, as if the system had not slept before this run.
    func time(by clock: AgentClock) -> Timestamp {
        let isSameBoot = boot != nil && boot == BootID.current
        let since = isSameBoot ? max(AgentClock.timeAwake.milliseconds - awake, 0) : 0
        return clock.now + (.zero - .milliseconds(elapsed) - .milliseconds(since))
    }
}

/// The single values, with the ages of holds beside their times by the clock of another run.
struct StoredValues: StoredMemo {
    var values: RememberedValues
    /// The age of the last hold.
    private var holdAge: StoredAge?
    /// The ages of the holds before it; `nil` for none.
    private var earlierAges: [StoredAge]?

    private var ages: [StoredAge] { (earlierAges ?? []) + (holdAge.map { [$0] } ?? []) }

    var isPossible: Bool {
        values.isPossible && values.holds.count == ages.count && ages.allSatisfy(\.isPossible)
    }

    init(_ values: RememberedValues, clock: AgentClock) {
        self.values = values
        let ages = values.holds.map { StoredAge(of: $0.since, clock: clock) }
        (holdAge, earlierAges) = (ages.last, ages.count > 1 ? ages.dropLast() : nil)
    }

    /// The values, with times by the clock of this run.
    func values(by clock: AgentClock) -> RememberedValues {
        var values = values
        values.holds = zip(values.holds, ages).map { hold, age in
            var hold = hold
            hold.since = age.time(by: clock)
            return hold
        }
        return values
    }
}
