// SPDX-License-Identifier: Apache-2.0
package import CacheFormat

extension IconRecord {
    /// Why the image is shown although it is not fresh any more, and whether its server allows that, as a sentence.
    ///
    /// - Returns: `nil` if the image is fresh, or fresh by the agent's own bounds, or if there is none.
    package func staleness(at now: Timestamp) -> String? {
        guard isReferenced, !isInline, image != nil, failure != nil || freshUntil <= now else { return nil }
        guard let response else {
            return failure.map { "Its last refresh failed (\($0.code)), and its freshness is unknown." }
        }
        let freshness = Freshness(of: response)
        guard !freshness.isFresh(at: now) else { return nil }
        let since = "Stale since \(freshness.end), but still used"
        guard let failure else {
            return "\(since) until it is revalidated\(verdict(freshness, .whileRevalidating, at: now))."
        }
        let remark = failure.code.isServerTrouble ? verdict(freshness, .onError, at: now) : ""
        return "\(since) because its last refresh failed (\(failure.code))\(remark)."
    }

    private func verdict(_ freshness: Freshness, _ occasion: StaleUse.Occasion, at now: Timestamp) -> String {
        freshness.permitsStaleUse(occasion, at: now) ? ", as its server allows" : ", which its server does not allow"
    }
}
