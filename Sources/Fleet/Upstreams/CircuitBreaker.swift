// SPDX-License-Identifier: Apache-2.0
import CacheFormat

/// A circuit breaker for an upstream.
///
/// It opens after several failures in a row. At the end of its time it is half-open: the request for the manifest is
/// the probe. If the probe fails, it opens again for longer; if it succeeds, it closes. The time is reset when an image
/// arrives, or after `breakMax` without failures.
struct CircuitBreaker: Equatable, Sendable {
    private(set) var failures = 0
    /// How often it opened since it was reset.
    private(set) var openings = 0
    private var opened: Timestamp?
    /// When a probe is due; `nil` if it is closed.
    private(set) var probe: Timestamp?

    var isOpen: Bool { probe != nil }

    mutating func recordFailure(
        _ settings: UpstreamSettings, at now: Timestamp, using generator: inout some RandomNumberGenerator
    ) {
        // Requests that were in flight together fail together: once the breaker is open, their failures are not counted.
        if let probe, probe > now { return }
        failures += 1
        guard isOpen || failures >= settings.breakAfter else { return }
        openings += 1
        opened = now
        let limit = min(settings.breakFor * (1 << min(openings - 1, 20)), settings.breakMax)
        probe = now + limit * Double.random(in: 0...1, using: &generator)
    }

    /// Opens for as long as the upstream asks clients to wait.
    mutating func wait(_ delay: Duration, atMost limit: Duration, from now: Timestamp) {
        let end = now + min(delay, limit)
        probe = max(probe ?? end, end)
    }

    /// Closes after a response to the request for the manifest.
    mutating func close(after limit: Duration, at now: Timestamp) {
        failures = 0
        probe = nil
        if let opened, opened + limit * 2 <= now { reset() }
    }

    mutating func reset() { self = CircuitBreaker() }
}
