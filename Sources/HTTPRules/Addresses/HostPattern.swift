// SPDX-License-Identifier: Apache-2.0
package import AppLists
import CacheFormat

/// A host pattern in a setting: `icons.example.com`, `.example.com`, `*.example.com`, `10.1.2.3`.
package enum HostPattern: Hashable, Sendable {
    /// A host name in lower case, without a trailing dot.
    case name(String)
    /// A name and its subdomains, as curl reads the entries of `NO_PROXY`.
    case domain(String)
    case below(String)
    case address(IPAddress)

    /// Parses an entry of `network.allowHosts` or `network.denyHosts`; `nil` if no host can match it.
    ///
    /// Names are ASCII, like those in URLs; a network is not a host.
    package init?(_ text: String) {
        if let address = IPAddress(text) {
            self = .address(address)
            return
        }
        let mark = ["*.", "."].first { text.starts(withBytes: $0) } ?? ""
        let name = Self.normalized(text.dropping(bytes: mark.utf8.count))
        guard FetchTarget.isHost(name), !FetchTarget.endsInNumber(name),
            name.split(atByte: ".", omittingEmpty: false).allSatisfy({ !$0.isEmpty })
        else { return nil }
        switch mark {
        case "*.": self = .below(name)
        case ".": self = .domain(name)
        default: self = .name(name)
        }
    }

    /// Whether the pattern matches a URL's host, regardless of case and of a trailing dot.
    package func matches(_ host: String) -> Bool {
        let host = Self.normalized(host)
        switch self {
        case .name(let name): return host == name
        case .domain(let name): return host == name || host.ends(withBytes: ".\(name)")
        case .below(let name): return host.ends(withBytes: ".\(name)")
        case .address(let address): return IPAddress(host) == address
        }
    }

    private static func normalized(_ host: some StringProtocol) -> String {
        (host.ends(withBytes: ".") ? host.droppingLast(bytes: 1) : String(host)).asciiLowercased
    }
}

extension HostPattern: CustomStringConvertible {
    package var description: String {
        switch self {
        case .name(let name): name
        case .domain(let name): ".\(name)"
        case .below(let name): "*.\(name)"
        case .address(let address): "\(address)"
        }
    }
}
