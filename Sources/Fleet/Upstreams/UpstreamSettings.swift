// SPDX-License-Identifier: Apache-2.0
package import CacheFormat
package import HTTPRules

/// The settings for upstreams: copies of other agents' caches, which take precedence over origins.
package struct UpstreamSettings: Equatable, Sendable {
    package static let maxCount = 4

    /// The upstreams' folders, in order of preference (default none: all icons come from their origins).
    package var urls: [UpstreamURL] = []
    /// How often each manifest is requested, ±10 % (default 15 minutes).
    package var poll: Duration = .seconds(900)
    /// How long an icon that no upstream has waits before it is requested from its origin (default 15 minutes).
    package var wait: Duration = .seconds(900)
    /// The longest random delay added to ``wait`` (default 15 minutes).
    package var spread: Duration = .seconds(900)
    /// What happens to an icon that no upstream has after that time (default: it is requested from its origin).
    package var fallback: Fallback = .origin
    /// Timeout for connecting, TLS included (default 2 s).
    package var connectTimeout: Duration = .seconds(2)
    /// Timeout for a silent upstream (default 5 s).
    package var idleTimeout: Duration = .seconds(5)
    /// Timeout for one request, the body included (default 20 s).
    package var totalTimeout: Duration = .seconds(20)
    /// How many failures in a row open the circuit breaker of an upstream (default 3).
    package var breakAfter: Int = 3
    /// The limit of the random time for which the breaker first opens; it doubles with each opening (default 60 s).
    package var breakFor: Duration = .seconds(60)
    /// The highest limit of that time (default 15 minutes).
    package var breakMax: Duration = .seconds(900)
    /// How long an upstream is not requested again for a file that it did not have (default 60 s).
    package var missTTL: Duration = .seconds(60)
    /// The age up to which a manifest counts for freshness and failures (default 72 h).
    package var maxAge: Duration = .seconds(72 * 3600)
    /// Each manifest must be signed by one of these keys (default none: no signature is required).
    package var publicKeys: [PublicKey] = []

    /// The lists of the upstreams' manifests that are taken over (default none).
    package var lists: [ListPattern] = []

    package enum Fallback: String, CaseIterable, Sendable {
        case origin
        /// The icon stays pending until an upstream has it.
        case never
    }

    package init() {}

    /// Whether a list is taken over from upstreams.
    package func adopts(_ list: ListName) -> Bool { lists.contains { $0.matches(list) } }
}

extension UpstreamSettings {
    package var limits: RequestLimits {
        RequestLimits(
            connectTimeout: connectTimeout, idleTimeout: idleTimeout, totalTimeout: totalTimeout, table: "upstream")
    }
}
