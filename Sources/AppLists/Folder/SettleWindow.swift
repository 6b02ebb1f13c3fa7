// SPDX-License-Identifier: Apache-2.0
package import CacheFormat

/// Waits until the lists folder has been quiet for a while, because tools save in several steps.
package struct SettleWindow: Sendable {
    private let quiet: Duration
    private let ceiling: Duration
    private var first: Timestamp?
    private var last: Timestamp?

    package init(quiet: Duration, ceiling: Duration) {
        self.quiet = quiet
        self.ceiling = ceiling
    }

    package mutating func recordChange(at now: Timestamp) {
        if first == nil { first = now }
        last = now
    }

    /// When to scan the folder for the recorded changes; `nil` if there are none.
    package var due: Timestamp? {
        guard let first, let last else { return nil }
        return min(last + quiet, first + ceiling)
    }

    package mutating func reset() {
        first = nil
        last = nil
    }
}
