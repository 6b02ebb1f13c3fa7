// SPDX-License-Identifier: Apache-2.0

/// Measures how long the system slept.
package struct SleepMeter {
    /// The shortest sleep that is reported; shorter ones are added to the next.
    private static let shortest: Duration = .seconds(1)

    /// The total sleep since boot at the last report.
    private var reported: Duration

    package init(asleep: Duration = AgentClock.timeAsleep) { reported = asleep }

    /// How long the system slept since the last report; `nil` if for less than a second.
    package mutating func read(asleep: Duration = AgentClock.timeAsleep) -> Duration? {
        let time = asleep - reported
        guard time >= Self.shortest else { return nil }
        reported = asleep
        return time
    }
}
