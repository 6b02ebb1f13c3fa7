// SPDX-License-Identifier: Apache-2.0
import CacheFormat

/// Whether the renderer works, as far as known, and when it is asked again.
struct RendererState: Sendable {
    private enum State {
        /// Nobody has asked it yet, or since something changed; with the reason why it could not work, as a clause.
        case unknown(reason: String?)
        case ready
        case failing(reason: String, until: Timestamp)
    }

    /// How long nothing is rendered after the renderer could not work.
    private static let retryDelay: Duration = .seconds(60)

    private var state = State.unknown(reason: nil)

    var isReady: Bool { if case .ready = state { true } else { false } }

    /// Until when it is not asked, because it could not work; `nil` if it may be asked.
    var retry: Timestamp? { if case .failing(_, let until) = state { until } else { nil } }

    func isWaiting(at now: Timestamp) -> Bool { retry.map { $0 > now } ?? false }

    /// Why it could not work, as a clause; `nil` if it works, or nothing is known.
    var trouble: String? {
        switch state {
        case .unknown(let reason): reason
        case .ready: nil
        case .failing(let reason, _): reason
        }
    }

    /// Lets it be asked at once: what kept it from working may be gone.
    mutating func askAgain() { state = .unknown(reason: trouble) }

    mutating func recordSuccess() { state = .ready }

    mutating func recordFailure(_ reason: String, at now: Timestamp) {
        state = .failing(reason: reason, until: now + Self.retryDelay)
    }
}
