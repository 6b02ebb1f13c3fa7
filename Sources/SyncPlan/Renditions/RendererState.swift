// SPDX-License-Identifier: Apache-2.0
import CacheFormat

/// Whether the renderer is known to work, and when it is asked again.
struct RendererState: Sendable {
    private enum State {
        /// The renderer was not asked yet, or not since a change; with the reason why it failed before, as a clause.
        case unknown(reason: String?)
        case ready
        case failing(reason: String, until: Timestamp)
    }

    /// The delay before the renderer is asked again after it failed.
    private static let retryDelay: Duration = .seconds(60)

    private var state = State.unknown(reason: nil)

    var isReady: Bool { if case .ready = state { true } else { false } }

    /// Until when the renderer is not asked, because it failed; `nil` if it may be asked.
    var retry: Timestamp? { if case .failing(_, let until) = state { until } else { nil } }

    func isWaiting(at now: Timestamp) -> Bool { retry.map { $0 > now } ?? false }

    /// Why the renderer failed, as a clause; `nil` if it works, or was not asked yet.
    var trouble: String? {
        switch state {
        case .unknown(let reason): reason
        case .ready: nil
        case .failing(let reason, _): reason
        }
    }

    /// Allows asking the renderer at once: the cause of its trouble may be gone.
    mutating func askAgain() { state = .unknown(reason: trouble) }

    mutating func recordSuccess() { state = .ready }

    mutating func recordFailure(_ reason: String, at now: Timestamp) {
        state = .failing(reason: reason, until: now + Self.retryDelay)
    }
}
