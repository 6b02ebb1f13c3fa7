// SPDX-License-Identifier: Apache-2.0
package import AppLists

/// A NAT64 prefix: the IPv6 addresses that a network translates to the IPv4 addresses in them (RFC 6052, section 2.2).
///
/// `64:ff9b::/96` is the same everywhere. A network may have prefixes of its own: elsewhere their addresses look
/// public, and they may stand for any host of the network.
package struct NAT64Prefix: Hashable, Sendable {
    /// The name whose IPv6 addresses reveal a network's prefixes (RFC 7050).
    package static let discoveryName = "ipv4only.arpa"
    package static let lengths = [32, 40, 48, 56, 64, 96]

    /// The IPv4 addresses of ``discoveryName``.
    private static let wellKnown: [[UInt8]] = [[192, 0, 0, 170], [192, 0, 0, 171]]

    package let range: AddressRange

    /// Takes the first `length` bits of an IPv6 address; `nil` if that is no valid prefix.
    package init?(_ base: IPAddress, length: Int) {
        guard base.bytes.count == 16, Self.lengths.contains(length) else { return nil }
        let bytes = base.bytes.prefix(length / 8) + Array(repeating: 0, count: 16 - length / 8)
        // Bits 64 to 71 are zero in every prefix.
        guard bytes[8] == 0, let first = IPAddress(bytes: Array(bytes)) else { return nil }
        range = AddressRange(first, prefix: length)
    }

    /// The positions of the IPv4 address's bytes after a prefix; byte 8 is skipped.
    private static func places(after length: Int) -> [Int] {
        Array((length / 8..<16).lazy.filter { $0 != 8 }.prefix(4))
    }

    /// The IPv4 address that an IPv6 address stands for; `nil` if the prefix does not match.
    ///
    /// Bits after the IPv4 address are ignored, as translators must ignore them.
    package func address(in address: IPAddress) -> IPAddress? {
        guard range.contains(address) else { return nil }
        return IPAddress(bytes: Self.places(after: range.prefix).map { address.bytes[$0] })
    }

    /// The IPv4 addresses that an address in 64:ff9b:1::/48 may stand for, under every prefix length.
    static func candidates(in address: IPAddress) -> [IPAddress] {
        lengths.filter { $0 >= 48 }.compactMap { NAT64Prefix(address, length: $0)?.address(in: address) }
    }

    /// Derives the prefixes from the IPv6 addresses of ``discoveryName``.
    ///
    /// An address that contains the IPv4 address in several places yields every possible prefix: prefixes only serve to
    /// refuse addresses.
    package static func prefixes(in addresses: [IPAddress]) -> Set<NAT64Prefix> {
        var prefixes: Set<NAT64Prefix> = []
        for address in addresses where address.bytes.count == 16 {
            for length in lengths where wellKnown.contains(places(after: length).map { address.bytes[$0] }) {
                if let prefix = NAT64Prefix(address, length: length) { prefixes.insert(prefix) }
            }
        }
        return prefixes
    }
}

extension NAT64Prefix: CustomStringConvertible {
    package var description: String { "\(range)" }
}
