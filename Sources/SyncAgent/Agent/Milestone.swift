// SPDX-License-Identifier: Apache-2.0

/// Something that happens once, and that others wait for.
package final class Milestone: Sendable {
    private let feed = ChangeFeed()

    /// Notes that it has happened.
    package func reach() { feed.end() }

    /// Whether it has happened.
    package var isReached: Bool { feed.newest == nil }

    /// Returns when it has happened, or when the task is cancelled.
    package func wait() async { for await _ in feed.changes {} }
}
