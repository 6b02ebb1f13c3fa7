// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// Shares out the connections of a listener, so that no client keeps the others out.
///
/// Clients who may change things take any seat. Of the others, each user has a quarter of the seats, and all together
/// have half of them. Connections beyond that are refused: another quarter of the seats is for those that are told so.
final class Seats: Sendable {
    enum Client: Equatable, Sendable {
        /// One who may change things, or any client where users are not known.
        case any
        /// A user who may not change things.
        case other(user: UInt32)
    }

    enum Place: Equatable, Sendable {
        case seat
        /// The client is told that there is no seat.
        case refusal
        /// Too many are being told so already.
        case none
    }

    private struct State {
        /// All connections.
        var open = 0
        /// The seats of users who may not change things.
        var others: [UInt32: Int] = [:]
        var refused = 0
        var streams = 0
    }

    private let total: Int
    private let streams: Int
    private let state = Mutex(State())

    /// - Parameters:
    ///   - total: The most connections at once.
    ///   - streams: The most answers without an end at once.
    init(_ total: Int, streams: Int) {
        (self.total, self.streams) = (total, streams)
    }

    /// Whether hardly any seat is left: then connections end with the next answer.
    var isCrowded: Bool { state.withLock { $0.open * 4 > total * 3 } }

    /// Finds a place for a connection, which ``leave(_:of:)`` gives back unless it is ``Place/none``.
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

    /// Gives back the place of a connection that is closed.
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

    /// An answer without an end, for as long as this object lives.
    final class Stream: Sendable {
        private let seats: Seats

        fileprivate init(in seats: Seats) { self.seats = seats }

        deinit { seats.state.withLock { $0.streams -= 1 } }
    }

    /// - Returns: `nil` if there are as many streams as there may be.
    func takeStream() -> Stream? {
        let hasRoom = state.withLock { state in
            guard state.streams < streams else { return false }
            state.streams += 1
            return true
        }
        return hasRoom ? Stream(in: self) : nil
    }
}
