// SPDX-License-Identifier: Apache-2.0
package import CacheFormat

/// How long to wait for further changes: until there was none for `quiet`, but at most `ceiling` after the first.
package struct QuietWindow: Sendable {
    package let quiet: Duration
    package let ceiling: Duration

    package init(quiet: Duration, ceiling: Duration) {
        (self.quiet, self.ceiling) = (quiet, ceiling)
    }

    /// When the wait after these changes ends; `nil` if there are none.
    package func end(of changes: some Sequence<Timestamp>) -> Timestamp? {
        guard let first = changes.min(), let last = changes.max() else { return nil }
        return min(last + quiet, first + ceiling)
    }
}
