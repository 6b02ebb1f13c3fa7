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

/// The single values, with the age of a hold beside its time by the clock of another run.
struct StoredValues: StoredMemo {
    var values: RememberedValues
    var holdAge: StoredAge?

    var isPossible: Bool {
        values.isPossible && (values.hold == nil) == (holdAge == nil) && holdAge?.isPossible ?? true
    }

    init(_ values: RememberedValues, clock: AgentClock) {
        self.values = values
        holdAge = values.hold.map { StoredAge(of: $0.since, clock: clock) }
    }

    /// The values, with times by the clock of this run.
    func values(by clock: AgentClock) -> RememberedValues {
        var values = values
        if let holdAge { values.hold?.since = holdAge.time(by: clock) }
        return values
    }
}
