// SPDX-License-Identifier: Apache-2.0
package import AppLists
import CCurl
import Glibc
package import SystemPackage

/// The system's resolver (`getaddrinfo(3)`), which can block for seconds.
package enum SystemResolver {
    package enum Answer: Sendable {
        /// The addresses of the name; may be empty.
        case addresses([IPAddress])
        /// The resolver failed or did not respond; with the system error, if any.
        case failed(Errno?)
    }

    package enum Family: Sendable {
        case any, v6
    }

    /// Parses a numeric address; empty if the host is a name.
    package static func numericAddresses(of host: String) -> [IPAddress] {
        if case .addresses(let addresses) = lookUp(host, flags: AI_NUMERICHOST) { addresses } else { [] }
    }

    /// Resolves a name; blocks until there is a result.
    package static func lookUp(_ host: String, _ family: Family = .any) -> Answer {
        // Numeric addresses need no name server.
        lookUp(host, family, flags: FetchTarget.isNoName(host) ? AI_NUMERICHOST : 0)
    }

    private static func lookUp(_ host: String, _ family: Family = .any, flags: Int32) -> Answer {
        var hints = addrinfo()
        hints.ai_flags = flags
        hints.ai_family = family == .any ? AF_UNSPEC : AF_INET6
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var list: UnsafeMutablePointer<addrinfo>?
        switch getaddrinfo(host, nil, &hints, &list) {
        case 0: break
        case EAI_AGAIN: return .failed(nil)
        case EAI_SYSTEM: return .failed(Errno(rawValue: errno))
        case EAI_MEMORY: return .failed(.noMemory)
        default: return .addresses([])
        }
        defer { freeaddrinfo(list) }
        let addresses = sequence(first: list) { $0?.pointee.ai_next }.prefix { $0 != nil }.compactMap {
            $0?.pointee.ai_addr.flatMap { IPAddress($0) }
        }
        return .addresses(addresses)
    }
}

extension IPAddress {
    /// Reads an IPv4 or IPv6 socket address; `nil` for another family.
    init?(_ address: UnsafePointer<sockaddr>) {
        switch Int32(address.pointee.sa_family) {
        case AF_INET:
            self.init(
                bytes: address.withMemoryRebound(to: sockaddr_in.self, capacity: 1) {
                    withUnsafeBytes(of: $0.pointee.sin_addr) { Array($0) }
                })
        case AF_INET6:
            self.init(
                bytes: address.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) {
                    withUnsafeBytes(of: $0.pointee.sin6_addr) { Array($0) }
                })
        default: return nil
        }
    }
}
