// SPDX-License-Identifier: Apache-2.0
package import CacheFormat
package import HTTPRules

/// The recent failures of an origin: how many requests it may have, and from when on.
///
/// A circuit breaker. After `threshold` failures in a row the origin is broken: it is probed by one request at a time,
/// with a backoff that grows with every failed probe, and its other requests wait without an attempt of their own.
/// Until then it has no more requests in flight than it has failures left.
package struct OriginHealth: Codable, Hashable, Sendable {
    package static let threshold = 5
    /// How long a failure counts after the wait is over.
    private static let memory: Duration = .seconds(86_400)

    package var failures: Int
    /// When it may be requested again; in the past if it need not wait.
    package var waitsUntil: Timestamp

    package init(failures: Int = 0, waitsUntil: Timestamp = .distantPast) {
        self.failures = failures
        self.waitsUntil = waitsUntil
    }

    package var isBroken: Bool { failures >= Self.threshold }

    package func isWaiting(at now: Timestamp) -> Bool { waitsUntil > now }

    package func isForgettable(at now: Timestamp) -> Bool { waitsUntil + Self.memory <= now }

    /// How many requests the origin may have in flight; `limit` if it is sound.
    package func slots(of limit: Int, at now: Timestamp) -> Int {
        if isWaiting(at: now) { return 0 }
        return failures == 0 ? limit : max(1, min(limit, Self.threshold - failures))
    }

    package mutating func recordFailure(
        _ failure: FetchFailure, backoff: Backoff, at now: Timestamp, using generator: inout some RandomNumberGenerator
    ) {
        if isForgettable(at: now) { failures = 0 }
        let isWaiting = isWaiting(at: now)
        // Of requests in flight together, late failures tell nothing new.
        if !isWaiting || !isBroken { failures += 1 }
        var delay: Duration?
        if failure.wait != nil || !isWaiting && (isBroken || failure.persistence == .throttled) {
            // During a wait, only a longer one that the server asks for is news. The hours after 403 are its URL's.
            delay = backoff.delay(
                after: .passing, requested: failure.wait, attempt: isWaiting ? 1 : failures, using: &generator)
        }
        waitsUntil = max(waitsUntil, now + (delay ?? .zero))
    }

    /// Records a response.
    ///
    /// A requested delay still holds: a response that was on its way does not end the wait.
    package mutating func recordAnswer() {
        failures = 0
    }
}
