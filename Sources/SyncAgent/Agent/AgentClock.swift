// SPDX-License-Identifier: Apache-2.0
package import CacheFormat
import Glibc

/// The agent's clock: it starts with the time of the wall clock, and then follows a clock that cannot be set.
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
    package static var wallTime: Timestamp { Timestamp(sinceEpoch: time(by: CLOCK_REALTIME) ?? .zero) }

    package var now: Timestamp { wall + (ContinuousClock.now - start) }

    /// The time since boot, including suspension (`CLOCK_BOOTTIME`).
    package static var timeSinceBoot: Duration { time(by: CLOCK_BOOTTIME) ?? .zero }

    /// The time since boot, excluding suspension (`CLOCK_MONOTONIC`).
    package static var timeAwake: Duration { time(by: CLOCK_MONOTONIC) ?? .zero }

    /// How long the system slept since boot.
    package static var timeAsleep: Duration {
        // In this order: a pause or sleep between the two calls makes the difference too small, until the next reading.
        let sinceBoot = timeSinceBoot
        return sinceBoot - timeAwake
    }

    /// The user and system CPU time of this process (`CLOCK_PROCESS_CPUTIME_ID`); `nil` if the system does not give it.
    package static var processTime: Duration? { time(by: CLOCK_PROCESS_CPUTIME_ID) }

    private static func time(by clock: clockid_t) -> Duration? {
        var time = timespec()
        return clock_gettime(clock, &time) == 0 ? Duration(time) : nil
    }

    /// Returns at the given time, or at once if it has passed; throws if the task is cancelled.
    package func sleep(until time: Timestamp) async throws {
        try await Task.sleep(until: start + (time - wall), clock: ContinuousClock())
    }
}
