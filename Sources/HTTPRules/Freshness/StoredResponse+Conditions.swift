// SPDX-License-Identifier: Apache-2.0
package import CacheFormat

extension StoredResponse {
    /// How long a date alone is trusted: after 30 days the whole image is requested.
    private static let trustedSeconds: Int64 = 30 * 86_400

    /// The condition of the next request for the same URL; `nil` if that request should have none.
    ///
    /// It has none without a validator or a known URL. Without a tag it also has none if the date is weak, unless a cache
    /// gave the response, and once in 30 days: a server that compares dates answers `304` for a file that was replaced by
    /// an older one.
    package func condition(at now: Timestamp) -> Condition? {
        let validators = validators
        guard let url, !validators.isEmpty else { return nil }
        if validators.etag == nil, hasWeakDate && !isFromCache || isTrustOver(at: now, for: url) { return nil }
        return Condition(url: url, validators: validators)
    }

    /// Whether the image may have changed again within the second of its `Last-Modified`, unnoticed.
    ///
    /// The date must be a minute away from `Date`, as for ``strongValidator`` (RFC 9110, section 8.8.2.2).
    var hasWeakDate: Bool {
        guard let lastModified else { return false }
        let gap = date - lastModified
        return gap < .seconds(60) && gap > .seconds(-60)
    }

    /// Whether a cache on the way gave the response, as `Age` tells, with the `Date` of its server (RFC 9111, section
    /// 5.1).
    ///
    /// As long as the cache keeps it, a request without conditions brings the same image, and a `304` has the same
    /// `Date`; one with another `Date` contradicts a weak date.
    var isFromCache: Bool { fields.first("age") != nil && time("date") != nil }

    /// Whether a boundary between two periods of 30 days lies between the last response and now.
    ///
    /// Each URL has its own boundaries, so that images which came together are not requested together. Nothing but the
    /// time of the last response is needed: if a request fails, the next one has no condition either.
    private func isTrustOver(at now: Timestamp, for url: String) -> Bool {
        // FNV-1a: equal in all processes.
        let hash = url.utf8.reduce(0xcbf2_9ce4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
        let shift = Int64(hash % UInt64(Self.trustedSeconds))
        func period(of time: Timestamp) -> Int64 { (time.sinceEpoch.components.seconds + shift) / Self.trustedSeconds }
        return period(of: now) != period(of: responseTime)
    }
}
