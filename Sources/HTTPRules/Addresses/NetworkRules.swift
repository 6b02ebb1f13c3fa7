// SPDX-License-Identifier: Apache-2.0
package import AppLists
package import CacheFormat

/// The hosts and addresses that may be requested: by their names, and by the addresses that names resolve to.
package struct NetworkRules: Equatable, Sendable {
    /// Networks that may be requested although their addresses are not public (default none).
    package var allow: [AddressRange] = []
    /// Hosts that may resolve to private, shared and loopback addresses (default none).
    ///
    /// Other hosts that resolve to the same address are still refused.
    package var allowHosts: [HostPattern] = []
    /// Hosts that are never requested, even if allowed elsewhere (default none).
    ///
    /// A listed address is refused under every name that resolves to it, unless a proxy resolves the name.
    package var denyHosts: [HostPattern] = []

    package init(allow: [AddressRange] = [], allowHosts: [HostPattern] = [], denyHosts: [HostPattern] = []) {
        (self.allow, self.allowHosts, self.denyHosts) = (allow, allowHosts, denyHosts)
    }
}

extension NetworkRules {
    /// Checks the host's name.
    ///
    /// - Throws: A ``FetchFailure`` with the code `host-refused` if `network.denyHosts` names it.
    package func validate(_ target: FetchTarget) throws(FetchFailure) {
        guard let entry = denyHosts.first(where: { $0.matches(target.host) }) else { return }
        throw FetchFailure(.url(.hostRefused), "network.denyHosts (\(entry)) denies requests to \(target.host)")
    }

    /// The source of an icon, if it may be requested.
    ///
    /// - Throws: A ``FetchFailure`` with a code of ``URLRefusal``, or `host-refused` if `network.denyHosts` names its
    ///   host.
    package func source(of url: IconURL) throws(FetchFailure) -> IconSource {
        let source: IconSource
        do {
            source = try IconSource(url)
        } catch {
            throw FetchFailure(error)
        }
        if case .server(let target) = source { try validate(target) }
        return source
    }

    package func isAllowed(_ host: String) -> Bool { allowHosts.contains { $0.matches(host) } }

    /// The addresses that a host may resolve to.
    package func addresses(for host: String) -> AddressPolicy {
        let denied = denyHosts.compactMap { if case .address(let address) = $0 { address } else { nil } }
        return AddressPolicy(allowed: allow, denied: denied, localSetting: isAllowed(host) ? "network.allowHosts" : nil)
    }
}
