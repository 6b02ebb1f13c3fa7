// SPDX-License-Identifier: Apache-2.0
import CacheFormat

/// Keeps requests from an upstream that failed several times in a row.
///
/// It is half-open at the end of its time: the request for the manifest is the probe. While the probe fails, it opens again
/// for a longer time; when it succeeds, it closes. The time is forgotten when an image came, or when all has been well for
/// `breakMax`.
struct CircuitBreaker: Equatable, Sendable {
    /// How many requests failed in a row.
    private(set) var failures = 0
    /// How often it opened since that time was forgotten.
    private(set) var openings = 0
    /// When it opened last.
    private var opened: Timestamp?
    /// When a probe is due; `nil` if it is closed.
    private(set) var probe: Timestamp?

    var isOpen: Bool { probe != nil }

    /// A request failed.
    mutating func noteFailure(
        _ settings: UpstreamSettings, at now: Timestamp, using generator: inout some RandomNumberGenerator
    ) {
        // Of requests that were under way together, those that fail late tell nothing new.
        if let probe, probe > now { return }
        failures += 1
        guard isOpen || failures >= settings.breakAfter else { return }
        openings += 1
        opened = now
        let limit = min(settings.breakFor * (1 << min(openings - 1, 20)), settings.breakMax)
        probe = now + limit * Double.random(in: 0...1, using: &generator)
    }

    /// The upstream asks to wait.
    mutating func wait(_ delay: Duration, atMost limit: Duration, from now: Timestamp) {
        let end = now + min(delay, limit)
        probe = max(probe ?? end, end)
    }

    /// The manifest was answered.
    mutating func close(after limit: Duration, at now: Timestamp) {
        failures = 0
        probe = nil
        if let opened, opened + limit * 2 <= now { reset() }
    }

    /// An image came.
    mutating func reset() { self = CircuitBreaker() }
}
