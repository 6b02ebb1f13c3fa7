// SPDX-License-Identifier: Apache-2.0
import CCurl
import Glibc
import SyncPlan
package import SystemPackage
package import WebAddresses

/// The system's resolver (`getaddrinfo(3)`), which may take seconds.
package enum SystemResolver {
    /// What it says of a name.
    package enum Answer: Sendable {
        /// None, if the name has none.
        case addresses([IPAddress])
        /// It could not be asked, or had no answer; with what the system says of that.
        case failed(Errno?)
    }

    package enum Family: Sendable {
        case any, v6
    }

    /// The addresses that a host is, if it is not a name.
    package static func numericAddresses(of host: String) -> [IPAddress] {
        if case .addresses(let addresses) = lookUp(host, flags: AI_NUMERICHOST) { addresses } else { [] }
    }

    package static func lookUp(_ host: String, _ family: Family = .any) -> Answer {
        // No name server is asked for what is no name.
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
    /// The address of a socket; `nil` if it is of another kind.
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
