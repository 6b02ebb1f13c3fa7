// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// Allots the connections of a listener, so that no client locks others out.
///
/// Clients with change access take any seat. Of the others, each user gets a quarter of the seats at most, and all
/// together half. Further connections get a refusal (503), up to another quarter, or else are closed.
final class Seats: Sendable {
    enum Seat: Hashable, Sendable {
        /// The seat of a client with change access, or of any client if users are unknown.
        case any
        /// The seat of a user without change access.
        case other(user: UInt32)
        case refusal
    }

    private let total: Int
    private let taken = Mutex<[Seat: Int]>([:])

    init(_ total: Int) { self.total = total }

    /// Whether more than three quarters of the seats are taken; connections then end with their next response.
    var isCrowded: Bool { taken.withLock { $0.values.reduce(0, +) } * 4 > total * 3 }

    /// Takes a seat, or a refusal in its place; ``leave(_:)`` frees it.
    ///
    /// - Returns: `nil` if too many refusals are in progress.
    func take(_ wanted: Seat) -> Seat? {
        let quarter = max(1, total / 4)
        return taken.withLock { taken in
            var seat = wanted
            let others = taken.reduce(0) { if case .other = $1.key { $0 + $1.value } else { $0 } }
            if case .other = wanted, taken[wanted, default: 0] >= quarter || others >= max(1, total / 2) {
                seat = .refusal
            }
            if seat == .refusal, taken[.refusal, default: 0] >= quarter { return nil }
            taken[seat, default: 0] += 1
            return seat
        }
    }

    func leave(_ seat: Seat) {
        taken.withLock { $0[seat] = $0[seat].flatMap { $0 > 1 ? $0 - 1 : nil } }
    }
}
