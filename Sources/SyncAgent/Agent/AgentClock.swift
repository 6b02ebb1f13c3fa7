// SPDX-License-Identifier: Apache-2.0
package import CacheFormat
import Glibc

/// The agent's clock: the wall clock at the start, then a clock that nobody can set.
///
/// A jump of the wall clock thus neither shortens a grace period nor makes an icon stale.
package struct AgentClock: Sendable {
    private let start: ContinuousClock.Instant
    private let wall: Timestamp

    package init() {
        start = ContinuousClock.now
        wall = Self.wallTime
    }

    /// The wall-clock time, which can jump at any moment.
    package static var wallTime: Timestamp {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Timestamp(sinceEpoch: Duration(time))
    }

    package var now: Timestamp { wall + (ContinuousClock.now - start) }

    /// The time since boot, including suspension (`CLOCK_BOOTTIME`).
    package static var timeSinceBoot: Duration { time(by: CLOCK_BOOTTIME) }

    /// The time since boot, excluding suspension (`CLOCK_MONOTONIC`).
    package static var timeAwake: Duration { time(by: CLOCK_MONOTONIC) }

    /// The user and system CPU time of this process (`CLOCK_PROCESS_CPUTIME_ID`); `nil` if the system does not give it.
    package static var processTime: Duration? {
        var time = timespec()
        return clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time) == 0 ? Duration(time) : nil
    }

    private static func time(by clock: clockid_t) -> Duration {
        var time = timespec()
        clock_gettime(clock, &time)
        return Duration(time)
    }

    /// Returns at the given time, or at once if it has passed; throws if the task is cancelled.
    package func sleep(until time: Timestamp) async throws {
        try await Task.sleep(until: start + (time - wall), clock: ContinuousClock())
    }
}
