// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import HTTPRules

extension IconRecord {
    /// Why the last refresh of the image failed, and how fresh the image is, as a sentence.
    ///
    /// `nil` if the refresh did not fail, or if there is no image. `shown` converts the time in it.
    func staleness(
        by response: @autoclosure () -> StoredResponse?, at now: Timestamp, shown: (Timestamp) -> Timestamp = { $0 }
    ) -> String? {
        guard isReferenced, isStale, let failure else { return nil }
        guard let freshness = response().map({ Freshness(of: $0) }) else {
            return "Its last refresh failed (\(failure.code)), and its freshness is unknown."
        }
        if freshness.basis == .unsaid, !freshness.hasValidator, freshness.redirectLifetime == nil {
            return "Its last refresh failed (\(failure.code)), and its server says nothing of its freshness."
        }
        let end = shown(freshness.end)
        guard !freshness.isFresh(at: now) else {
            return "Its last refresh failed (\(failure.code)); it is fresh until \(end)."
        }
        return "Stale since \(end): its last refresh failed (\(failure.code)). The image is still used."
    }
}
