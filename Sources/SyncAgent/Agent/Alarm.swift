// SPDX-License-Identifier: Apache-2.0
package import CacheFormat

/// One time to wait for, which can be moved.
///
/// It may ring before its time, as where it was moved to a later one: who is rung for nothing sets it again.
package struct Alarm: ~Copyable {
    /// The longest that it sleeps at once: what sleeps keeps its memory until its time, also once it was cancelled.
    private static let longest: Duration = .seconds(60)

    private let clock: AgentClock
    private let ring: @Sendable () -> Void
    private var task: Task<Void, Never>?
    /// When it rings.
    private var time: Timestamp?

    /// An alarm that is not set.
    ///
    /// - Parameters:
    ///   - clock: What tells the time.
    ///   - ring: Called when the time has come.
    package init(clock: AgentClock, ring: @escaping @Sendable () -> Void) {
        self.clock = clock
        self.ring = ring
    }

    deinit {
        task?.cancel()
    }

    /// Sets the alarm, in place of the time that it was set to; `nil` turns it off.
    package mutating func set(_ wanted: Timestamp?) {
        guard let wanted else {
            task?.cancel()
            (task, time) = (nil, nil)
            return
        }
        let time = min(wanted, clock.now + Self.longest)
        // Times are moved far more often than they come.
        if let earlier = self.time, earlier <= time { return }
        task?.cancel()
        self.time = time
        task = Task { [clock, ring] in
            guard (try? await clock.sleep(until: time)) != nil else { return }
            ring()
        }
    }

    /// Notes that the alarm rang: it is not set any more.
    ///
    /// It may have been set to another time before this was noticed.
    package mutating func rang() {
        set(nil)
    }
}
