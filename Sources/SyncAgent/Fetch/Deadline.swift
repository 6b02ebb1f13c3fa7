// SPDX-License-Identifier: Apache-2.0
import HTTPRules
import Transfers

/// When a download or document must have ended.
///
/// The time does not count for which it waits for its turn under ``Settings/Fetch/maxRate``, or for one of the connections
/// of a host while others use them.
struct Deadline {
    /// The longest wait for connections that does not count: whatever holds them, nothing waits forever.
    private static let longestWait = Duration.seconds(3600)

    private var time: ContinuousClock.Instant
    /// How long transfers that have ended waited for their connections.
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

    mutating func recordEnd(of transfer: (any Transfer)?) { waited += transfer?.waitTime(at: .now) ?? .zero }

    mutating func beginTurnWait() { turnWait = turnWait ?? .now }

    mutating func endTurnWait() {
        guard let turnWait else { return }
        time += turnWait.duration(to: .now)
        self.turnWait = nil
    }

    /// Moves it by the time that the system slept.
    mutating func extend(by sleep: Duration) { time += sleep }
}
