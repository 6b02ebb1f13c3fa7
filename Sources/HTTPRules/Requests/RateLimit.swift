// SPDX-License-Identifier: Apache-2.0
package import CacheFormat

/// A limit on the bytes that are received a second, over all transfers: a token bucket.
///
/// A transfer may receive a part while the balance is positive. What it receives may overdraw the balance; the next
/// part then waits until time has paid for it. So the average holds, however large the parts are.
package struct RateLimit: Equatable, Sendable {
    /// How much time can be saved up: a short burst after a pause.
    private static let burst = 0.1

    /// In bytes a second.
    package let rate: ByteCount
    /// In bytes; paid until ``time``.
    private var balance: Double
    private var time: ContinuousClock.Instant

    package init(_ rate: ByteCount, at now: ContinuousClock.Instant) {
        precondition(rate.bytes > 0, "a rate must be positive")
        self.rate = rate
        balance = Double(rate.bytes) * Self.burst
        time = now
    }

    /// Whether a part may be received now.
    package mutating func isOpen(at now: ContinuousClock.Instant) -> Bool {
        let rate = Double(rate.bytes)
        balance = min(balance + rate * (max(now - time, .zero) / .seconds(1)), rate * Self.burst)
        time = max(time, now)
        return balance > 0
    }

    package mutating func spend(_ bytes: Int) { balance -= Double(bytes) }

    /// When it is open again, if nothing more is received.
    package var opening: ContinuousClock.Instant {
        // Not at a balance of zero, which is not open.
        time + .seconds(max(1 - balance, 0) / Double(rate.bytes))
    }
}
