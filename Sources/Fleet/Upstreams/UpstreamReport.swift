// SPDX-License-Identifier: Apache-2.0
package import CacheFormat

/// A copy of another agent's cache, which takes precedence over origins.
package struct UpstreamReport: Codable, Equatable, Sendable {
    package enum State: String, CaseIterable, Sendable {
        /// Its manifest was accepted, and is not older than `upstream.maxAge`.
        case fresh
        case stale
        /// Its circuit breaker is open, or its manifest could not be read.
        case broken
        /// Its manifest is refused, or it refuses this machine.
        case refused
        /// Its manifest was not read yet.
        case unknown
    }

    package var url: String
    package var state: Word<State>
    package var generation: Int?
    package var published: String?
    package var lastPoll: String?
    /// When its manifest is requested next; `nil` during a poll, and while downloads are paused.
    package var nextPoll: String?
    package var error: String?
    package var code: String?

    package init(url: String, state: State) {
        (self.url, self.state) = (url, Word(state))
    }
}

extension UpstreamReport {
    /// Whether a user should look at it; a broken upstream recovers by itself.
    package var needsAttention: Bool { [.stale, .refused].contains(state.known) }
}
