// SPDX-License-Identifier: Apache-2.0
package import CacheFormat
package import HTTPRules

/// The recent failures of an origin, which limit its requests: how many, and from when on.
///
/// A circuit breaker. After `threshold` failures in a row the origin is broken: it is probed by one request at a time,
/// with a backoff that grows with each failed probe, and its other requests wait without an attempt of their own.
/// Before that, it has no more requests in flight than failures left to `threshold`.
package struct OriginHealth: Codable, Hashable, Sendable {
    package static let threshold = 5
    /// How long a failure counts after the origin's wait is over.
    private static let memory: Duration = .seconds(86_400)

    package var failures: Int
    /// When the origin may be requested again; in the past if it need not wait.
    package var waitsUntil: Timestamp
    /// The end of the longest delay that the origin asked for; `nil` in memos of older versions, which do not say.
    package private(set) var askedUntil: Timestamp? = .distantPast

    package init(failures: Int = 0, waitsUntil: Timestamp = .distantPast) {
        (self.failures, self.waitsUntil) = (failures, waitsUntil)
    }

    package var isBroken: Bool { failures >= Self.threshold }

    package func isWaiting(at now: Timestamp) -> Bool { waitsUntil > now }

    package func isForgettable(at now: Timestamp) -> Bool { waitsUntil + Self.memory <= now }

    /// The number of requests that the origin may have in flight; `limit` if it has not failed.
    package func slots(of limit: Int, at now: Timestamp) -> Int {
        if isWaiting(at: now) { return 0 }
        return failures == 0 ? limit : max(1, min(limit, Self.threshold - failures))
    }

    package mutating func recordFailure(
        _ failure: FetchFailure, backoff: Backoff, at now: Timestamp, using generator: inout some RandomNumberGenerator
    ) {
        if isForgettable(at: now) { failures = 0 }
        let isWaiting = isWaiting(at: now)
        // Requests that were in flight together fail together: once the breaker is open, their failures are not counted.
        if !isWaiting || !isBroken { failures += 1 }
        var delay: Duration?
        if failure.wait != nil || !isWaiting && (isBroken || failure.persistence == .throttled) {
            // During a wait, only a longer delay that the server asks for counts. The hours after a 403 apply to its
            // URL alone.
            delay = backoff.delay(
                after: .passing, requested: failure.wait, attempt: isWaiting ? 1 : failures, using: &generator)
            if failure.wait != nil || failure.persistence == .throttled {
                askedUntil = max(askedUntil ?? now, now + (delay ?? .zero))
            }
        }
        waitsUntil = max(waitsUntil, now + (delay ?? .zero))
    }

    /// Ends the wait that follows from failures; a delay that the origin asked for continues.
    mutating func endOwnWait(at now: Timestamp) {
        waitsUntil = min(waitsUntil, max(now, askedUntil ?? now))
    }

    /// Lets waits grow from the first one of a broken origin again.
    mutating func forgetProbes() {
        failures = min(failures, Self.threshold)
    }

    /// Corrects the times of an earlier run: later ones than `longest` were computed with a wrong clock.
    ///
    /// If its version does not say what the origin asked for, a wait that is longer than `own`, the longest after failures,
    /// was.
    mutating func correct(longest: Duration, own: Duration, at now: Timestamp) {
        if waitsUntil > now + longest { waitsUntil = now }
        let asked = askedUntil ?? (waitsUntil > now + own ? waitsUntil : .distantPast)
        askedUntil = asked > now + longest ? .distantPast : asked
    }

    /// Records a response.
    ///
    /// A delay that the origin asked for continues: the response may have been sent before.
    package mutating func recordAnswer() {
        failures = 0
    }
}
