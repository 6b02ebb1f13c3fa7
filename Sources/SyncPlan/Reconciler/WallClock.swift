// SPDX-License-Identifier: Apache-2.0
import CacheFormat

/// How far the wall clock is ahead of the agent's clock, which begins with the wall clock's time and is never set.
struct WallClock: Sendable {
    /// When the agent started, by its own clock.
    private let start: Timestamp
    var offset: Duration = .zero

    init(start: Timestamp) { self.start = start }

    /// A time of the agent's clock as the wall clock shows it, for users and other programs.
    ///
    /// Times before the start were stored by an earlier run, by the wall clock, and stay as they are.
    func time(of time: Timestamp) -> Timestamp { time < start ? time : time + offset }
}
