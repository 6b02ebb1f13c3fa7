// SPDX-License-Identifier: Apache-2.0
package import AppLists

/// The addresses of a host, judged by an ``AddressPolicy``.
///
/// A refused address does not refuse the others: name servers that filter, and hosts that also have an address for a
/// local network, give both kinds.
package struct AddressChoice: Equatable, Sendable {
    /// The only addresses to connect to, in the resolver's order.
    package private(set) var permitted: [IPAddress] = []
    /// The setting without which a permitted address would be refused; `nil` if all permitted ones are public.
    package private(set) var setting: String?
    /// The reason why the first of the other addresses is refused; `nil` if all are permitted.
    package private(set) var refusal: AddressPolicy.Refusal?

    package init(from addresses: [IPAddress], by policy: AddressPolicy) {
        for address in addresses {
            switch policy.verdict(on: address) {
            case .isPublic: permitted.append(address)
            case .allowed(let name):
                permitted.append(address)
                setting = name
            case .refused(let reason): refusal = refusal ?? reason
            }
        }
    }
}
