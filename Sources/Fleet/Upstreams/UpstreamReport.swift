// SPDX-License-Identifier: Apache-2.0
package import CacheFormat

/// The state of an upstream: a copy of another agent's cache, which takes precedence over origins.
package struct UpstreamReport: Codable, Equatable, Sendable {
    package enum State: String, CaseIterable, Sendable {
        /// The manifest was accepted, and is not older than `upstream.maxAge`.
        case fresh
        case stale
        /// The circuit breaker is open, or the manifest could not be read.
        case broken
        /// The manifest is refused, or the upstream refuses this machine.
        case refused
        /// The manifest was not read yet.
        case unknown
    }

    package var url: String
    package var state: Word<State>
    package var generation: Int?
    package var published: String?
    package var lastPoll: String?
    /// When the manifest is requested next; `nil` during a poll, and while downloads are paused.
    package var nextPoll: String?
    package var error: String?
    package var code: String?
    /// The number of images that it lists and did not deliver, if ``error`` is about them.
    package var undelivered: Int?

    package init(url: String, state: State) {
        (self.url, self.state) = (url, Word(state))
    }
}

extension UpstreamReport {
    /// Whether a user should look at the upstream; a broken one recovers by itself.
    package var needsAttention: Bool { [.stale, .refused].contains(state.known) }
}
