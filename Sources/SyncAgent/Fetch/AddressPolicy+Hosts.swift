// SPDX-License-Identifier: Apache-2.0
import AppLists
import CacheFormat
package import HTTPRules
import Transfers

extension AddressPolicy {
    private static let loopback = [IPAddress("127.0.0.1"), IPAddress("::1")].compactMap(\.self)

    /// Why a host is refused without a name server: it is an address, or a name of this machine.
    ///
    /// An address counts in every spelling that the system's resolver reads, not only as four decimal numbers.
    package func refusal(ofHost host: String) -> Refusal? {
        guard Self.isLocalhost(host) else {
            guard FetchTarget.isNoName(host) else { return nil }
            return SystemResolver.numericAddresses(of: host).lazy.compactMap { refusal(of: $0) }.first
        }
        let refusals = Self.loopback.compactMap { refusal(of: $0) }
        return refusals.count == Self.loopback.count ? refusals.first : nil
    }

    /// RFC 6761, section 6.3: these names are loopback, and no name server is asked.
    private static func isLocalhost(_ host: String) -> Bool {
        let name = (host.ends(withBytes: ".") ? host.droppingLast(bytes: 1) : host).asciiLowercased
        return name == "localhost" || name.ends(withBytes: ".localhost")
    }
}
