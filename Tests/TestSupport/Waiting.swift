// SPDX-License-Identifier: Apache-2.0

/// Waits for what nobody tells of, such as a file that another process writes, by looking again and again.
///
/// - Parameters:
///   - limit: How long. The default is a minute.
///   - isTrue: Whether it has happened.
/// - Throws: ``WaitTimeout`` when the time is over, or what the condition throws.
package func waitUntil(atMost limit: Duration = .seconds(60), _ isTrue: () async throws -> Bool) async throws {
    let end = ContinuousClock.now + limit
    while try await !isTrue() {
        guard ContinuousClock.now < end else { throw WaitTimeout(limit: limit) }
        // This is the one place where tests sleep to wait.
        try await Task.sleep(for: .milliseconds(2))
    }
}

/// What a test waited for did not happen.
package struct WaitTimeout: Error, CustomStringConvertible {
    let limit: Duration
    package var description: String { "it did not happen within \(limit)" }
}
