// SPDX-License-Identifier: Apache-2.0

/// A one-time event that tasks can wait for.
package final class Milestone: Sendable {
    private let feed = ChangeFeed()

    package func reach() { feed.end() }

    package var isReached: Bool { feed.newest == nil }

    /// Returns when it is reached or the task is cancelled.
    package func wait() async { for await _ in feed.changes {} }
}
