// SPDX-License-Identifier: Apache-2.0
package import CacheFormat
package import WebAddresses

/// What may be requested: hosts by their names, and addresses by the hosts that stand for them.
extension Settings.Network {
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
