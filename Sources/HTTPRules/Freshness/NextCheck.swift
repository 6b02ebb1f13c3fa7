// SPDX-License-Identifier: Apache-2.0
package import CacheFormat

/// When to revalidate an image, and the rule that sets that time.
package struct NextCheck: Equatable, Sendable {
    package enum Rule: String, Sendable {
        case freshness
        /// The lifetime ends earlier, but ``RefreshPolicy/minimum`` applies.
        case minimum
        /// The lifetime ends later, but ``RefreshPolicy/maximum`` applies.
        case maximum
        /// The server gives no lifetime and no validator: ``RefreshPolicy/default`` applies.
        case routine
    }

    /// How far in the future a time of receipt may be before the clock counts as wrong: an hour.
    private static let tolerance = Duration.seconds(3600)

    package let time: Timestamp
    package let rule: Rule
    package let freshness: Freshness

    /// Computes the next check; jitter from `generator` keeps machines with the same response from asking together.
    ///
    /// Store the result with the response.
    package init(
        for response: StoredResponse, under policy: RefreshPolicy, using generator: inout some RandomNumberGenerator
    ) {
        freshness = Freshness(of: response, longestGuess: policy.longestGuess)
        let earliest = freshness.receivedAt + max(policy.minimum, .zero)
        let latest = max(freshness.receivedAt + policy.maximum, earliest)
        let due: Timestamp
        if freshness.basis == .unsaid, !freshness.hasValidator {
            let wanted = freshness.receivedAt + policy.default.jittered(using: &generator)
            var end = wanted
            if let lifetime = freshness.redirectLifetime { end = min(end, freshness.receivedAt + lifetime) }
            (due, rule) = (min(max(end, earliest), latest), .routine)
            guard due != wanted else {
                // `due` has the jitter already.
                time = due
                return
            }
        } else if freshness.end < earliest {
            (due, rule) = (earliest, .minimum)
        } else if freshness.end > latest {
            (due, rule) = (latest, .maximum)
        } else {
            (due, rule) = (freshness.end, .freshness)
        }
        let longest = min((due - freshness.receivedAt) / 10, policy.longestDelay)
        time = due + max(longest, .zero) * generator.fraction()
    }

    /// Whether the time of receipt is so far in the future that the clock was wrong, then or now.
    package static func isAhead(_ received: Timestamp, of now: Timestamp) -> Bool { now + tolerance < received }
}
