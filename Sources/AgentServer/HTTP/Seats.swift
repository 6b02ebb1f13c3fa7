// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// Allots the connections of a listener, so that no client locks others out.
///
/// Clients with change access take any seat. Of the others, each user gets a quarter of the seats at most, and all
/// together half. Further connections get a refusal (503), up to another quarter, or else are closed.
final class Seats: Sendable {
    enum Client: Equatable, Sendable {
        /// A client with change access, or any client if users are unknown.
        case any
        case other(user: UInt32)
    }

    enum Place: Equatable, Sendable {
        case seat
        case refusal
        /// Too many refusals are in flight; the connection is closed.
        case none
    }

    private struct State {
        var open = 0
        /// Seats of users without change access.
        var others: [UInt32: Int] = [:]
        var refused = 0
        var streams = 0
    }

    private let total: Int
    private let streams: Int
    private let state = Mutex(State())

    init(_ total: Int, streams: Int) {
        (self.total, self.streams) = (total, streams)
    }

    /// Whether more than three quarters of the seats are taken; connections then end with their next response.
    var isCrowded: Bool { state.withLock { $0.open * 4 > total * 3 } }

    /// Allots a place to a connection; ``leave(_:of:)`` frees it.
    func take(for client: Client) -> Place {
        state.withLock { state in
            guard case .other(let user) = client else {
                state.open += 1
                return .seat
            }
            let own = state.others[user, default: 0]
            if own < max(1, total / 4), state.others.values.reduce(0, +) < max(1, total / 2) {
                state.others[user] = own + 1
                state.open += 1
                return .seat
            }
            guard state.refused < max(1, total / 4) else { return .none }
            state.refused += 1
            state.open += 1
            return .refusal
        }
    }

    func leave(_ place: Place, of client: Client) {
        guard place != .none else { return }
        state.withLock { state in
            state.open -= 1
            if place == .refusal {
                state.refused -= 1
            } else if case .other(let user) = client, let own = state.others[user] {
                state.others[user] = own > 1 ? own - 1 : nil
            }
        }
    }

    /// Counts as a stream for as long as it lives.
    final class Stream: Sendable {
        private let seats: Seats

        fileprivate init(in seats: Seats) { self.seats = seats }

        deinit { seats.state.withLock { $0.streams -= 1 } }
    }

    /// - Returns: `nil` if the limit on streams is reached.
    func addStream() -> Stream? {
        let hasRoom = state.withLock { state in
            guard state.streams < streams else { return false }
            state.streams += 1
            return true
        }
        return hasRoom ? Stream(in: self) : nil
    }
}
