// SPDX-License-Identifier: Apache-2.0

/// Measures how long the system slept: the time that `CLOCK_BOOTTIME` counts and `CLOCK_MONOTONIC` does not.
package struct SleepMeter {
    /// The shortest sleep that is reported; shorter ones are added to the next.
    private static let shortest: Duration = .seconds(1)

    /// The total sleep since boot at the last report.
    private var asleep: Duration

    package init() {
        self.init(sinceBoot: AgentClock.timeSinceBoot, awake: AgentClock.timeAwake)
    }

    init(sinceBoot: Duration, awake: Duration) {
        asleep = sinceBoot - awake
    }

    /// How long the system slept since the last report; `nil` if for less than a second.
    package mutating func read() -> Duration? {
        // In this order: a pause or sleep between the two calls makes the difference too small, until the next reading.
        let sinceBoot = AgentClock.timeSinceBoot
        return read(sinceBoot: sinceBoot, awake: AgentClock.timeAwake)
    }

    mutating func read(sinceBoot: Duration, awake: Duration) -> Duration? {
        let time = sinceBoot - awake - asleep
        guard time >= Self.shortest else { return nil }
        asleep += time
        return time
    }
}
