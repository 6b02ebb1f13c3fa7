// SPDX-License-Identifier: Apache-2.0

/// How long the system slept, from one look to the next: what `CLOCK_BOOTTIME` counts and `CLOCK_MONOTONIC` does not.
package struct SleepMeter {
    /// What is not worth to be told; it is told together with what comes later.
    private static let shortest: Duration = .seconds(1)

    /// How long the system had slept since its boot at the last look.
    private var asleep: Duration

    package init() {
        self.init(sinceBoot: AgentClock.timeSinceBoot, awake: AgentClock.timeAwake)
    }

    init(sinceBoot: Duration, awake: Duration) {
        asleep = sinceBoot - awake
    }

    /// How long the system slept since the last time that this told something; `nil` if it did not sleep for a second.
    package mutating func read() -> Duration? {
        // In this order: what passes between the two calls, even a sleep, makes the difference smaller until the next look.
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
