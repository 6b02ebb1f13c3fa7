// SPDX-License-Identifier: Apache-2.0
package import AppLists
package import CacheFormat

/// Which hosts and addresses may be asked: by their names, and by what the names resolve to.
package struct NetworkRules: Equatable, Sendable {
    /// Networks that may be asked although their addresses are not public.
    ///
    /// None by default.
    package var allow: [AddressRange] = []
    /// Hosts that may stand for private, shared and loopback addresses.
    ///
    /// None by default. Another host that stands for the same address is refused all the same.
    package var allowHosts: [HostPattern] = []
    /// Hosts that are not asked for anything, whatever is allowed.
    ///
    /// None by default. An address in it is refused to every name that stands for it, unless a proxy resolves the name.
    package var denyHosts: [HostPattern] = []

    package init(allow: [AddressRange] = [], allowHosts: [HostPattern] = [], denyHosts: [HostPattern] = []) {
        (self.allow, self.allowHosts, self.denyHosts) = (allow, allowHosts, denyHosts)
    }
}

extension NetworkRules {
    /// Returns if the host may be asked, as far as its name tells.
    ///
    /// - Throws: A ``FetchFailure`` with the code `host-refused` if `network.denyHosts` names it.
    package func judge(_ target: FetchTarget) throws(FetchFailure) {
        guard let entry = denyHosts.first(where: { $0.matches(target.host) }) else { return }
        throw FetchFailure(.url(.hostRefused), "network.denyHosts (\(entry)) denies requests to \(target.host)")
    }

    /// Where an icon comes from, if that may be asked.
    ///
    /// - Throws: A ``FetchFailure`` with a code of ``URLRefusal``, or `host-refused` if `network.denyHosts` names its host.
    package func source(of url: IconURL) throws(FetchFailure) -> IconSource {
        let source: IconSource
        do {
            source = try IconSource(url)
        } catch {
            throw FetchFailure(error)
        }
        if case .server(let target) = source { try judge(target) }
        return source
    }

    /// Whether `network.allowHosts` names the host.
    package func isAllowed(_ host: String) -> Bool { allowHosts.contains { $0.matches(host) } }

    /// What a host may resolve to.
    package func addresses(for host: String) -> AddressPolicy {
        let denied = denyHosts.compactMap { if case .address(let address) = $0 { address } else { nil } }
        return AddressPolicy(allowed: allow, denied: denied, localSetting: isAllowed(host) ? "network.allowHosts" : nil)
    }
}
