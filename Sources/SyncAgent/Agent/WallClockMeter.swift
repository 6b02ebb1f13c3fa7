// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import SyncPlan

/// Notices that the wall clock was set.
struct WallClockMeter {
    /// The smallest difference between the two clocks that counts as a change and not as drift.
    private static let leastJump: Duration = .seconds(2)

    private let clock: AgentClock
    /// How far the wall clock was ahead of the agent's, as it was told last.
    private var offset: Duration = .zero

    init(clock: AgentClock) { self.clock = clock }

    /// How far the wall clock is ahead of the agent's; `nil` if that is what was told last.
    mutating func read() -> Duration? { note(AgentClock.wallTime - clock.now) }

    /// The same of a reading.
    mutating func note(_ reading: Duration) -> Duration? {
        let jump = reading - offset
        guard max(jump, .zero - jump) >= Self.leastJump else { return nil }
        offset = reading
        return reading
    }
}
