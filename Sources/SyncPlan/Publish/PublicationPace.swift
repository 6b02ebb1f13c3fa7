// SPDX-License-Identifier: Apache-2.0
import CacheFormat

/// A rate limiter: converts the cost of publications into time that must pass until the cost is paid.
struct PublicationPace: Sendable {
    /// The allowed rate of document bytes per second.
    private static let growth = 1 << 20

    private(set) var paid = Timestamp.distantPast
    /// When all charges but the last are paid: from then on, one publication may be early.
    private(set) var loan = Timestamp.distantPast

    /// Charges a cost from `now` on; time before `now` pays for up to `savings` of it.
    mutating func charge(_ cost: Duration, at now: Timestamp, saving savings: Duration = .zero) {
        loan = max(paid, now + (.zero - savings))
        paid = loan + cost
    }

    /// Charges written bytes; `count` writers share the allowed rate.
    mutating func charge(
        bytes: Int, sharedBy count: Int = 1, atLeast least: Duration = .zero, at now: Timestamp,
        saving savings: Duration
    ) {
        let growth = Duration.nanoseconds(1_000_000_000 * Int64(min(bytes, 1 << 33)) / Int64(Self.growth))
        charge(max(growth * count, least), at: now, saving: savings)
    }
}
