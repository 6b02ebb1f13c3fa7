// SPDX-License-Identifier: Apache-2.0
package import CacheFormat
import Glibc

/// The time as the agent counts it: the wall clock at its start, and from there on a clock that nobody sets.
///
/// A jump of the wall clock while the agent runs cuts no grace short and makes no icon stale.
package struct AgentClock: Sendable {
    private let start: ContinuousClock.Instant
    private let wall: Timestamp

    package init() {
        start = ContinuousClock.now
        wall = Self.wallTime
    }

    /// The time by the wall clock, which may be set at any moment.
    package static var wallTime: Timestamp {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Timestamp(sinceEpoch: Duration(time))
    }

    package var now: Timestamp { wall + (ContinuousClock.now - start) }

    /// The time since the system booted, suspended or not (`CLOCK_BOOTTIME`).
    package static var timeSinceBoot: Duration { time(by: CLOCK_BOOTTIME) }

    /// How long the system has been awake since it booted (`CLOCK_MONOTONIC`).
    package static var timeAwake: Duration { time(by: CLOCK_MONOTONIC) }

    /// How long this process has run on processors, its own code and the system's for it (`CLOCK_PROCESS_CPUTIME_ID`); `nil`
    /// if the system does not tell.
    package static var processTime: Duration? {
        var time = timespec()
        return clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time) == 0 ? Duration(time) : nil
    }

    private static func time(by clock: clockid_t) -> Duration {
        var time = timespec()
        clock_gettime(clock, &time)
        return Duration(time)
    }

    /// Returns at the given time, or at once if it has passed; throws when the task is cancelled.
    package func sleep(until time: Timestamp) async throws {
        try await Task.sleep(until: start + (time - wall), clock: ContinuousClock())
    }
}
