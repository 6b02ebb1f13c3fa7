// SPDX-License-Identifier: Apache-2.0
package import CacheFormat

/// The quiet time that a change in the lists folder waits for: tools save in several steps.
package struct SettleWindow: Sendable {
    /// How long it must have been quiet.
    private let quiet: Duration
    /// How long the first change waits at most.
    private let ceiling: Duration
    private var first: Timestamp?
    private var last: Timestamp?

    package init(quiet: Duration, ceiling: Duration) {
        self.quiet = quiet
        self.ceiling = ceiling
    }

    package mutating func noteChange(at now: Timestamp) {
        if first == nil { first = now }
        last = now
    }

    /// When the folder is looked at for the changes noted so far; `nil` if there are none.
    package var due: Timestamp? {
        guard let first, let last else { return nil }
        return min(last + quiet, first + ceiling)
    }

    /// Begins anew: the folder is being looked at.
    package mutating func reset() {
        first = nil
        last = nil
    }
}
