// SPDX-License-Identifier: Apache-2.0
package import CacheFormat

/// A timer for a single time, which can be moved.
///
/// It may ring early, for example after a move to a later time; the owner then sets it again.
package struct Alarm: ~Copyable {
    /// The longest single sleep: a sleeping task keeps its memory until its time, even when cancelled.
    private static let longest: Duration = .seconds(60)

    private let clock: AgentClock
    private let ring: @Sendable () -> Void
    private var task: Task<Void, Never>?
    private var time: Timestamp?

    package init(clock: AgentClock, ring: @escaping @Sendable () -> Void) {
        self.clock = clock
        self.ring = ring
    }

    deinit {
        task?.cancel()
    }

    /// Moves the alarm; with `nil`, turns it off.
    ///
    /// Its owner turns it off after it rang, too: it may have been set to another time before the ring was noticed.
    package mutating func set(_ wanted: Timestamp?) {
        guard let wanted else {
            task?.cancel()
            (task, time) = (nil, nil)
            return
        }
        let time = min(wanted, clock.now + Self.longest)
        // Times are moved far more often than they are reached, so a move to a later time starts no new task.
        if let earlier = self.time, earlier <= time { return }
        task?.cancel()
        self.time = time
        task = Task { [clock, ring] in
            guard (try? await clock.sleep(until: time)) != nil else { return }
            ring()
        }
    }
}
