// SPDX-License-Identifier: Apache-2.0

/// How often a service manager wants to hear that the service works (sd_watchdog_enabled(3)).
package enum WatchdogInterval {
    /// The longest time that counts as one, beyond which nothing is gained.
    private static let longest: Int64 = 365 * 86_400 * 1_000_000

    /// Reads the variables that the service manager sets.
    ///
    /// - Parameters:
    ///   - time: `WATCHDOG_USEC`: the service is restarted after this many microseconds of silence.
    ///   - recipient: `WATCHDOG_PID`: the process that is meant; `nil` if it is the one that has the variables.
    ///   - process: This process.
    /// - Returns: The time from one message to the next: half of what is allowed; `nil` if none is wanted.
    package static func read(time: String?, recipient: String?, process: Int) -> Duration? {
        guard recipient == nil || recipient.flatMap(Int.init) == process else { return nil }
        guard let time = time.flatMap(Int64.init), time > 0 else { return nil }
        return .microseconds(max(1, min(time, longest) / 2))
    }
}
