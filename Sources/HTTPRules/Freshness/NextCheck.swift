// SPDX-License-Identifier: Apache-2.0
package import CacheFormat

/// When an image is next to be asked for, and by which rule.
package struct NextCheck: Equatable, Sendable {
    package enum Rule: String, Sendable {
        /// Its freshness ends.
        case freshness
        /// Its freshness ends sooner, but ``RefreshPolicy/minimum`` is not over.
        case minimum
        /// Its freshness ends later, but ``RefreshPolicy/maximum`` is over.
        case maximum
        /// Its server says nothing: ``RefreshPolicy/default`` is over.
        case routine
    }

    /// How far the clock may go back before the time at which a response was received is held to be wrong: an hour.
    private static let tolerance = Duration.seconds(3600)

    package let time: Timestamp
    package let rule: Rule
    package let freshness: Freshness

    /// Decides for a response.
    ///
    /// - Parameters:
    ///   - response: What is remembered of it.
    ///   - policy: The bounds.
    ///   - generator: Spreads what would be asked for at the same time by all that were told the same. The result is to
    ///     be stored with the response.
    package init(
        for response: StoredResponse, under policy: RefreshPolicy, using generator: inout some RandomNumberGenerator
    ) {
        freshness = Freshness(of: response, longestGuess: policy.longestGuess)
        let earliest = freshness.receivedAt + max(policy.minimum, .zero)
        let latest = max(freshness.receivedAt + policy.maximum, earliest)
        let due: Timestamp
        if freshness.basis == .unsaid, !freshness.hasValidator {
            let wanted = freshness.receivedAt + policy.default.jittered(using: &generator)
            (due, rule) = (min(max(wanted, earliest), latest), .routine)
            guard due != wanted else {
                // It is spread already.
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
        time = due + max(longest, .zero) * Double.random(in: 0...1, using: &generator)
    }

    /// Whether a response was received so far in the future that the clock was wrong, then or now.
    package static func isAhead(_ received: Timestamp, of now: Timestamp) -> Bool { now + tolerance < received }
}
