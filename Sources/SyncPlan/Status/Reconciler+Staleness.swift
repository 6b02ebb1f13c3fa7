// SPDX-License-Identifier: Apache-2.0
package import CacheFormat

extension Reconciler {
    /// Since when the icon is not fresh any more whose refresh fails for longest; `nil` if no refresh fails.
    ///
    /// - Complexity: O(*n*) in the number of icons while a refresh fails, and else O(1).
    package func oldestStaleTime(now: Timestamp) -> Timestamp? {
        guard catalog.tally.stale > 0 else { return nil }
        var oldest: Timestamp?
        for element in catalog.icons {
            guard element.icon.hasFailed, element.icon.isReferenced, element.icon.standing == .ready,
                case let end = element.icon.freshUntil, end > .distantPast, end <= oldest ?? now
            else { continue }
            oldest = end
        }
        return oldest
    }
}
