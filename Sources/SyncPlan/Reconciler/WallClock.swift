// SPDX-License-Identifier: Apache-2.0
import CacheFormat

/// How far the wall clock is ahead of the agent's, which begins with its time and is never set.
struct WallClock: Sendable {
    /// When the agent started, by its own clock.
    private let start: Timestamp
    var offset: Duration = .zero

    init(start: Timestamp) { self.start = start }

    /// A time of the agent's clock as the wall clock shows it, for people and other programs.
    ///
    /// What an earlier run stored before the start stays as it is: it is by the wall clock of that run.
    func time(of time: Timestamp) -> Timestamp { time < start ? time : time + offset }
}
