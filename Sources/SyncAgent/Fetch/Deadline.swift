// SPDX-License-Identifier: Apache-2.0
import HTTPRules
import Transfers

/// When a download or document must have ended.
///
/// The time does not count for which it waits for its turn under ``Settings/Fetch/maxRate``, or for one of the connections
/// of a host while others use them, or for which the system sleeps.
struct Deadline {
    /// The longest wait for connections that does not count: whatever holds them, nothing waits forever.
    private static let longestWait = Duration.seconds(3600)

    private var time: ContinuousClock.Instant
    /// How long transfers that have ended waited for their connections, without the sleep during the current wait.
    private var waited = Duration.zero
    /// Since when it waits for its turn; `nil` if it does not.
    private var turnWait: ContinuousClock.Instant?

    init(_ limits: RequestLimits, from begin: ContinuousClock.Instant = .now) {
        time = begin + limits.totalTimeout
    }

    /// The time, if nothing changes until then but `now`.
    func time(at now: ContinuousClock.Instant, of transfer: (any Transfer)?) -> ContinuousClock.Instant {
        let waited = waited + (transfer?.waitTime(at: now) ?? .zero)
        return time + min(waited, Self.longestWait) + (turnWait?.duration(to: now) ?? .zero)
    }

    mutating func recordEnd(of transfer: (any Transfer)?, at now: ContinuousClock.Instant = .now) {
        waited += transfer?.waitTime(at: now) ?? .zero
        endTurnWait(at: now)
    }

    mutating func beginTurnWait(at now: ContinuousClock.Instant = .now) { turnWait = turnWait ?? now }

    mutating func endTurnWait(at now: ContinuousClock.Instant = .now) {
        guard let turnWait else { return }
        time += turnWait.duration(to: now)
        self.turnWait = nil
    }

    /// Moves it by the time that the system slept; a wait during the sleep was as much shorter.
    mutating func extend(by sleep: Duration, at now: ContinuousClock.Instant, of transfer: (any Transfer)?) {
        time += sleep
        turnWait = turnWait.map { min($0 + sleep, now) }
        if let transfer { waited -= transfer.waitTime(at: now) - transfer.waitTime(at: now - sleep) }
    }
}
