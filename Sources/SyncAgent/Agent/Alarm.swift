// SPDX-License-Identifier: Apache-2.0
package import IconCache

/// One time to wait for, which can be moved.
package struct Alarm: ~Copyable {
    private let clock: AgentClock
    private let ring: @Sendable () -> Void
    private var task: Task<Void, Never>?
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
    package mutating func set(_ time: Timestamp?) {
        guard time != self.time else { return }
        task?.cancel()
        self.time = time
        task = time.map { time in
            Task { [clock, ring] in
                guard (try? await clock.sleep(until: time)) != nil else { return }
                ring()
            }
        }
    }

    /// Notes that the alarm rang: it is not set any more.
    ///
    /// It may have been set to another time before this was noticed.
    package mutating func rang() {
        task?.cancel()
        time = nil
        task = nil
    }
}
