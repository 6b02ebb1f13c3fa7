// SPDX-License-Identifier: Apache-2.0
import CacheFormat

/// What publications cost, counted in the time that has to pass until they are paid for.
struct PublicationPace: Sendable {
    /// How many bytes of documents may be written a second.
    private static let growth = 1 << 20

    /// When all is paid for.
    private(set) var paid = Timestamp.distantPast
    /// When all was paid for but the last one: from then on, one may come before its time.
    private(set) var loan = Timestamp.distantPast

    /// Counts what a publication cost.
    ///
    /// - Parameters:
    ///   - cost: The time that has to pass for it.
    ///   - now: The time from which on it passes.
    ///   - savings: How much may have been paid in advance.
    mutating func charge(_ cost: Duration, at now: Timestamp, saving savings: Duration = .zero) {
        loan = max(paid, now + (.zero - savings))
        paid = loan + cost
    }

    /// Counts bytes that were written, where what may be written is shared by several.
    mutating func charge(
        bytes: Int, sharedBy count: Int = 1, atLeast least: Duration = .zero, at now: Timestamp,
        saving savings: Duration
    ) {
        let growth = Duration.nanoseconds(1_000_000_000 * Int64(min(bytes, 1 << 33)) / Int64(Self.growth))
        charge(max(growth * count, least), at: now, saving: savings)
    }
}
