// SPDX-License-Identifier: Apache-2.0
import Glibc
package import IconCache

/// The time as the agent counts it: the wall clock at its start, and from there on a clock that nobody sets.
///
/// A jump of the wall clock while the agent runs cuts no grace short and makes no icon stale.
package struct AgentClock: Sendable {
    private let start: ContinuousClock.Instant
    private let wall: Timestamp

    package init() {
        start = ContinuousClock.now
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        wall = Timestamp(sinceEpoch: .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec))
    }

    package var now: Timestamp { wall + (ContinuousClock.now - start) }

    /// Returns at the given time, or at once if it has passed; throws when the task is cancelled.
    package func sleep(until time: Timestamp) async throws {
        try await Task.sleep(until: start + (time - wall), clock: ContinuousClock())
    }
}
