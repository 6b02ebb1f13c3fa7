// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import SyncPlan

/// How long ago something happened, stored so that a wall clock that is set makes it neither older nor younger.
///
/// What ages are stored of are graces, leases and holds, which pass only while the system is awake. In the same boot of
/// the system the time between is known exactly. After another boot only that is counted which had passed when it was
/// stored.
struct StoredAge: Equatable {
    /// The ages and times that can be stored, in milliseconds: a hundred years.
    static let range: ClosedRange<Int64> = 0...36_525 * 86_400_000

    /// How long ago it was when it was stored, in milliseconds.
    var elapsed: Int64
    /// The boot in which it was stored; `nil` if that is unknown.
    var boot: String?
    /// How long the system had been awake since that boot when it was stored, in milliseconds.
    var awake: Int64

    /// The age of what happened at this time by the clock of this run.
    init(of time: Timestamp, clock: AgentClock) {
        self.init(
            elapsed: (clock.now - time).milliseconds, boot: BootID.current, awake: AgentClock.timeAwake.milliseconds)
    }

    init(elapsed: Int64, boot: String?, awake: Int64) {
        self.elapsed = min(max(elapsed, Self.range.lowerBound), Self.range.upperBound)
        self.boot = boot
        self.awake = min(max(awake, Self.range.lowerBound), Self.range.upperBound)
    }

    /// What the columns of an age have.
    var values: [Database.Value] { [.integer(elapsed), Database.Value(boot), .integer(awake)] }

    /// When it happened, by the clock of this run, in which time asleep before this run does not count.
    func time(by clock: AgentClock) -> Timestamp {
        let isSameBoot = boot != nil && boot == BootID.current
        let since = isSameBoot ? max(AgentClock.timeAwake.milliseconds - awake, 0) : 0
        return clock.now + (.zero - .milliseconds(elapsed) - .milliseconds(since))
    }
}
