// SPDX-License-Identifier: Apache-2.0
package import CacheFormat
package import HTTPRules

/// How an origin fares that failed of late: how many requests it may have, and from when on.
///
/// One that fails `threshold` times in a row is broken. It is probed by one request at a time, after a delay that grows
/// with every probe that fails, and whatever else is wanted of it waits without an attempt of its own. On the way there
/// it begins no more requests than it has failures left.
package struct OriginHealth: Hashable, Sendable {
    /// How many failures in a row make an origin a broken one.
    package static let threshold = 5
    /// How long a failure counts, once nothing waits for it any more.
    private static let memory: Duration = .seconds(86_400)

    /// How many requests failed in a row.
    package var failures: Int
    /// When it may be asked again; in the past if it need not wait.
    package var waitsUntil: Timestamp

    package init(failures: Int = 0, waitsUntil: Timestamp = .distantPast) {
        self.failures = failures
        self.waitsUntil = waitsUntil
    }

    package var isBroken: Bool { failures >= Self.threshold }

    package func isWaiting(at now: Timestamp) -> Bool { waitsUntil > now }

    /// Whether all this is so long ago that it tells nothing any more.
    package func isForgettable(at now: Timestamp) -> Bool { waitsUntil + Self.memory <= now }

    /// How many requests the origin may have in flight, out of those that a sound one may have.
    package func slots(of limit: Int, at now: Timestamp) -> Int {
        if isWaiting(at: now) { return 0 }
        return failures == 0 ? limit : max(1, min(limit, Self.threshold - failures))
    }

    /// A request failed, and it is the origin's failure.
    package mutating func noteFailure(
        _ failure: FetchFailure, backoff: Backoff, at now: Timestamp, using generator: inout some RandomNumberGenerator
    ) {
        if isForgettable(at: now) { failures = 0 }
        let isWaiting = isWaiting(at: now)
        // Of requests that were under way together, those that fail late tell nothing new.
        if !isWaiting || !isBroken { failures += 1 }
        var delay: Duration?
        if failure.wait != nil || !isWaiting && (isBroken || failure.persistence == .throttled) {
            delay =
                failure.wait == nil
                ? backoff.delay(after: .passing, attempt: failures, using: &generator)
                : backoff.delay(after: failure, attempt: failures, using: &generator)
        }
        waitsUntil = max(waitsUntil, now + (delay ?? .zero))
    }

    /// A request was answered.
    ///
    /// What the server asked for still holds: an answer that was on its way does not end the wait.
    package mutating func noteAnswer() {
        failures = 0
    }
}
