// SPDX-License-Identifier: Apache-2.0

/// Waits for what nobody tells of, such as a file that another process writes, by looking again and again.
///
/// - Parameters:
///   - limit: How long. The default is four minutes: it is reached only by a test that fails.
///   - isTrue: Whether it has happened.
/// - Throws: ``WaitTimeout`` when the time is over, or what the condition throws.
package func waitUntil(atMost limit: Duration = .seconds(240), _ isTrue: () async throws -> Bool) async throws {
    let end = ContinuousClock.now + limit
    while try await !isTrue() {
        guard ContinuousClock.now < end else { throw WaitTimeout(limit: limit) }
        // This is the one place where tests sleep to wait.
        try await Task.sleep(for: .milliseconds(2))
    }
}

/// Runs the body with ever longer times, until the machine was fast enough for one of them.
///
/// A test needs this if the events that it arranges must come before a timer, or in the order of two timers: on a busy
/// machine they may not. The body arranges them with a timer of the given time.
///
/// - Parameters:
///   - first: The shortest time; each other one is four times as long as the one before.
///   - tries: How many times to try.
///   - body: Returns whether the events came in time.
/// - Throws: ``WaitTimeout`` if they never did, or what the body throws.
package func withGrowingTime(
    from first: Duration, tries: Int = 5, _ body: (Duration) async throws -> Bool
) async throws {
    var time = first
    for number in 1...tries {
        if try await body(time) { return }
        if number < tries { time = time * 4 }
    }
    throw WaitTimeout(limit: time)
}

/// What a test waited for did not happen.
package struct WaitTimeout: Error, CustomStringConvertible {
    let limit: Duration
    package var description: String { "it did not happen within \(limit)" }
}
