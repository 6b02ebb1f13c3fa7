// SPDX-License-Identifier: Apache-2.0
import CacheFormat

struct WallClockMeter {
    /// The smallest jump that is reported; less counts as drift.
    private static let leastJump: Duration = .seconds(2)

    let clock: AgentClock
    /// How far the wall clock was ahead of the agent's at the last report.
    private(set) var offset: Duration = .zero

    /// How far the wall clock is ahead of the agent's; `nil` if unchanged since the last report.
    mutating func read() -> Duration? {
        let reading = AgentClock.wallTime - clock.now
        guard max(reading - offset, offset - reading) >= Self.leastJump else { return nil }
        offset = reading
        return reading
    }
}
