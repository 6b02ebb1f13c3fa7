// SPDX-License-Identifier: Apache-2.0
import IconCache
import SyncPlan

/// How long ago something happened, stored so that a wall clock that is set makes it neither older nor younger.
///
/// In the same boot of the system the time between is known exactly. After another boot only that is counted which had
/// passed when it was stored.
struct StoredAge: Equatable {
    /// How long ago it was when it was stored, in milliseconds.
    var elapsed: Int64
    /// The boot in which it was stored; `nil` if that is unknown.
    var boot: String?
    /// How long after that boot it was stored, in milliseconds.
    var sinceBoot: Int64

    /// The age of what happened at this time by the clock of this run.
    init(of time: Timestamp, clock: AgentClock) {
        elapsed = max((clock.now - time).milliseconds, 0)
        boot = BootID.current
        sinceBoot = AgentClock.timeSinceBoot.milliseconds
    }

    init(elapsed: Int64, boot: String?, sinceBoot: Int64) {
        self.elapsed = max(elapsed, 0)
        self.boot = boot
        self.sinceBoot = max(sinceBoot, 0)
    }

    /// When it happened, by the clock of this run.
    func time(by clock: AgentClock) -> Timestamp {
        let isSameBoot = boot != nil && boot == BootID.current
        let since = isSameBoot ? max(AgentClock.timeSinceBoot.milliseconds - sinceBoot, 0) : 0
        return clock.now + (.zero - .milliseconds(elapsed) - .milliseconds(since))
    }
}
