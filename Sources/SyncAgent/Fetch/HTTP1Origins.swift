// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// The server has not agreed on HTTP/2, or wants to be asked by HTTP/1.1 (HTTP_1_1_REQUIRED; RFC 9113, section 7).
struct HTTP1Required: Error {}

/// The secure origins that are asked by HTTP/1.1 alone for a while, because HTTP/2 has come to nothing.
///
/// async-http-client (1.37.0) waits without end for the settings with which a server begins to speak HTTP/2, and makes no
/// other connection meanwhile.
final class HTTP1Origins: Sendable {
    private static let lifetime: Duration = .seconds(3600)

    private struct State {
        var ends: [String: ContinuousClock.Instant] = [:]
        /// How many there are before those are looked for whose time is over.
        var limit = 1024
    }

    private let state = Mutex(State())

    func contains(_ origin: String) -> Bool {
        state.withLock { $0.ends[origin].map { $0 > .now } ?? false }
    }

    func insert(_ origin: String) {
        let now = ContinuousClock.now
        state.withLock { state in
            state.ends[origin] = now + Self.lifetime
            guard state.ends.count > state.limit else { return }
            state.ends = state.ends.filter { $0.value > now }
            state.limit = max(state.limit, 2 * state.ends.count)
        }
    }
}
