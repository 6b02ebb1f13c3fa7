// SPDX-License-Identifier: Apache-2.0
import CacheFormat

struct WallClockMeter {
    /// The smallest jump that is reported; less counts as drift.
    private static let leastJump: Duration = .seconds(2)

    private let clock: AgentClock
    /// How far the wall clock was ahead of the agent's at the last report.
    private var offset: Duration = .zero

    init(clock: AgentClock) { self.clock = clock }

    /// How far the wall clock is ahead of the agent's; `nil` if unchanged since the last report.
    mutating func read() -> Duration? { read(AgentClock.wallTime - clock.now) }

    mutating func read(_ reading: Duration) -> Duration? {
        let jump = reading - offset
        guard max(jump, .zero - jump) >= Self.leastJump else { return nil }
        offset = reading
        return reading
    }
}
