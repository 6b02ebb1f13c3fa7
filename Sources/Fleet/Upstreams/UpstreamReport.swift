// SPDX-License-Identifier: Apache-2.0

/// A copy of another agent's cache, which is asked before the origins.
package struct UpstreamReport: Codable, Equatable, Sendable {
    package enum State: String, CaseIterable, Sendable {
        /// Its manifest was accepted, and is not older than `upstream.maxAge`.
        case fresh
        case stale
        /// Its circuit breaker is open, or its manifest could not be read yet.
        case broken
        /// Its manifest is refused, or it refuses this machine.
        case refused
        /// Its manifest was not read yet.
        case unknown
    }

    /// The URL of its folder.
    package var url: String
    /// As text: an agent of a later version may have others.
    package var state: String
    /// The newest generation that was accepted.
    package var generation: Int?
    package var published: String?
    package var lastPoll: String?
    /// When its manifest is requested next; `nil` while it is, and while downloads are paused.
    package var nextPoll: String?
    /// Why the last look failed.
    package var error: String?
    package var code: String?

    package init(url: String, state: String) {
        (self.url, self.state) = (url, state)
    }
}

extension UpstreamReport {
    /// Whether a person should look at it; what is broken heals by itself.
    package var needsAttention: Bool { [State.stale, .refused].map(\.rawValue).contains(state) }
}
