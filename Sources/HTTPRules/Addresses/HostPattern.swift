// SPDX-License-Identifier: Apache-2.0
package import AppLists
import CacheFormat

/// Which hosts a setting means: `icons.example.com`, `.example.com`, `*.example.com`, `10.1.2.3`.
package enum HostPattern: Hashable, Sendable {
    /// One name, in lower case and without a dot at its end.
    case name(String)
    /// A name and all below it, as curl reads the entries of `NO_PROXY`.
    case domain(String)
    /// All names below one.
    case below(String)
    case address(IPAddress)

    /// Reads an entry of `network.allowHosts` or `network.denyHosts`; `nil` for what no host can be.
    ///
    /// Names are of ASCII, as those of URLs are; a network is no host.
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

    /// Whether the host of a URL is meant, whatever its case, and with or without a dot at its end.
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
