// SPDX-License-Identifier: Apache-2.0
package import CacheFormat

extension IconRecord {
    /// Since when the image is stale, and why it is still used, as a sentence.
    ///
    /// - Returns: `nil` if the image is fresh, or fresh by the agent's own bounds, or if there is none.
    package func staleness(at now: Timestamp) -> String? {
        guard isReferenced, !isInline, image != nil, failure != nil || freshUntil <= now else { return nil }
        guard let response else {
            return failure.map { "Its last refresh failed (\($0.code)), and its freshness is unknown." }
        }
        let freshness = Freshness(of: response)
        guard !freshness.isFresh(at: now) else { return nil }
        let reason = failure.map { "because its last refresh failed (\($0.code))" } ?? "until it is revalidated"
        return "Stale since \(freshness.end), but still used \(reason)."
    }
}
