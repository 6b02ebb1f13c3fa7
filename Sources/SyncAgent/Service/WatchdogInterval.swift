// SPDX-License-Identifier: Apache-2.0

/// How often the service manager expects a watchdog message (sd_watchdog_enabled(3)).
enum WatchdogInterval {
    /// The longest accepted timeout, in microseconds: 365 days.
    private static let longest: Int64 = 365 * 86_400 * 1_000_000

    /// Half of the watchdog timeout, as the service manager sets it; `nil` if no messages are expected.
    ///
    /// `time` is `WATCHDOG_USEC`: the service is restarted after this many microseconds of silence. `recipient` is
    /// `WATCHDOG_PID`: the process that must send; `nil` for any.
    static func read(time: String?, recipient: String?, process: Int) -> Duration? {
        guard recipient == nil || recipient.flatMap(Int.init) == process else { return nil }
        guard let time = time.flatMap(Int64.init), time > 0 else { return nil }
        return .microseconds(max(1, min(time, longest) / 2))
    }
}
