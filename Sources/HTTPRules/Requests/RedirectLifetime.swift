// SPDX-License-Identifier: Apache-2.0
import CacheFormat

/// How long the redirects of a download hold.
///
/// A temporary redirect that says nothing is fresh for as long as a guess may be, because the image behind it is often fresh
/// for a year; if the image says nothing either, ``RefreshPolicy/default`` decides. A permanent one sets no limit then.
struct RedirectLifetime: Sendable {
    /// Until when those hold that say so; `nil` if none does.
    private var end: Timestamp?
    /// Whether there is a temporary one that says nothing.
    private var isUnsaid = false

    mutating func record(_ redirect: StoredResponse) {
        let freshness = Freshness(of: redirect)
        if freshness.basis == .unsaid {
            isUnsaid = isUnsaid || redirect.status != 301 && redirect.status != 308
        } else {
            // Not by the age that `Date` tells, which is right only if the agent's clock is.
            let age = freshness.receivedAge.field + freshness.receivedAge.delay
            let new = freshness.receivedAt + max(freshness.lifetime - age, .zero)
            end = min(end ?? new, new)
        }
    }

    /// How long they hold after the receipt of the response that they led to; `nil` if they set no limit.
    func rest(after response: StoredResponse) -> Duration? {
        let rest = end.map { $0 - response.responseTime }
        guard isUnsaid else { return rest }
        let freshness = Freshness(of: response)
        // Only images with a validator are confirmed.
        guard response.status == 304 || freshness.basis != .unsaid || freshness.hasValidator else { return rest }
        let longest = RefreshPolicy().longestGuess
        return min(rest ?? longest, longest)
    }
}
