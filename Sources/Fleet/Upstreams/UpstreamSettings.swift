// SPDX-License-Identifier: Apache-2.0
package import HTTPRules

/// Copies of other agents' caches, which are asked before the origins.
package struct UpstreamSettings: Equatable, Sendable {
    /// The most upstreams that are used.
    package static let maxCount = 4

    /// The folders, in the order in which they are asked.
    ///
    /// None by default: then all icons come from their origins.
    package var urls: [UpstreamURL] = []
    /// How often each manifest is requested, give or take a tenth.
    ///
    /// The default is 15 minutes.
    package var poll: Duration = .seconds(900)
    /// How long an icon that no upstream has waits before its origin is asked.
    ///
    /// The default is 15 minutes.
    package var wait: Duration = .seconds(900)
    /// The longest random delay after that.
    ///
    /// The default is 15 minutes.
    package var spread: Duration = .seconds(900)
    /// What happens with an icon that no upstream has after all.
    ///
    /// By default its origin is asked.
    package var fallback: Fallback = .origin
    /// How long connecting may take, TLS included.
    ///
    /// The default is 2 s.
    package var connectTimeout: Duration = .seconds(2)
    /// How long an upstream may be silent.
    ///
    /// The default is 5 s.
    package var idleTimeout: Duration = .seconds(5)
    /// How long one request may take, the body included.
    ///
    /// The default is 20 s.
    package var totalTimeout: Duration = .seconds(20)
    /// How many failures in a row open the circuit breaker of an upstream.
    ///
    /// The default is 3.
    package var breakAfter: Int = 3
    /// The limit of the first random time for which it is open; it doubles.
    ///
    /// The default is 60 s.
    package var breakFor: Duration = .seconds(60)
    /// The highest limit of that time.
    ///
    /// The default is 15 minutes.
    package var breakMax: Duration = .seconds(900)
    /// How long an upstream is not asked again for a file that it did not have.
    ///
    /// The default is 60 s.
    package var missTTL: Duration = .seconds(60)
    /// How old a manifest may be and still count for freshness and failures.
    ///
    /// The default is 72 h.
    package var maxAge: Duration = .seconds(72 * 3600)
    /// The keys: each manifest must have the signature of one of them.
    ///
    /// None by default: then no signature is asked for.
    package var publicKeys: [PublicKey] = []

    package enum Fallback: String, CaseIterable, Sendable {
        case origin
        /// The icon stays pending until an upstream has it.
        case never
    }

    package init() {}
}

extension UpstreamSettings {
    package var limits: RequestLimits {
        RequestLimits(
            connectTimeout: connectTimeout, idleTimeout: idleTimeout, totalTimeout: totalTimeout, table: "upstream")
    }
}
