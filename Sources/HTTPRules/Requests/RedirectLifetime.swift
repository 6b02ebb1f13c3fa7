// SPDX-License-Identifier: Apache-2.0
import CacheFormat

/// How long the redirects of a download hold.
///
/// A temporary redirect that says nothing is fresh for as long as a guess may be, because the image behind it is often fresh
/// for a year; if the image says nothing either, ``RefreshPolicy/default`` decides. A permanent one sets no limit then.
struct RedirectLifetime: Sendable {
    struct Limit {
        var time: Duration
        /// The number and the status of the redirect that sets it, and what that one says.
        var cause: String
    }

    private var count = 0
    /// Until when the redirects hold that say so; `nil` if none does.
    private var end: (time: Timestamp, cause: String)?
    /// The number and the status of the first temporary redirect that says nothing.
    private var unsaid: String?

    mutating func record(_ redirect: StoredResponse) {
        count += 1
        let freshness = Freshness(of: redirect)
        let cause = (count > 1 ? "number \(count), " : "") + "\(redirect.status), \(freshness.statement)"
        if freshness.basis == .unsaid {
            if redirect.status != 301, redirect.status != 308 { unsaid = unsaid ?? cause }
        } else {
            // Not by the age that `Date` tells, which is right only if the agent's clock is.
            let age = freshness.receivedAge.field + freshness.receivedAge.delay
            let new = freshness.receivedAt + max(freshness.lifetime - age, .zero)
            if end.map({ new < $0.time }) ?? true { end = (new, cause) }
        }
    }

    /// How long they hold after the receipt of the response that they led to; `nil` if they set no limit.
    func limit(on response: StoredResponse) -> Limit? {
        let said = end.map { Limit(time: $0.time - response.responseTime, cause: $0.cause) }
        guard let unsaid else { return said }
        let freshness = Freshness(of: response)
        // Only images with a validator are confirmed.
        guard response.status == 304 || freshness.basis != .unsaid || freshness.hasValidator else { return said }
        let longest = RefreshPolicy().longestGuess
        if let said, said.time <= longest { return said }
        return Limit(time: longest, cause: unsaid)
    }
}
