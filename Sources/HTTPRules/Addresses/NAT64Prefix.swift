// SPDX-License-Identifier: Apache-2.0
package import AppLists

/// The IPv6 addresses that a network translates to IPv4 ones, which they carry (RFC 6052, section 2.2).
///
/// `64:ff9b::/96` is the same everywhere. A network may have others, which only it knows: to anybody else the addresses
/// look like public ones, and what they stand for may be any host of the network.
package struct NAT64Prefix: Hashable, Sendable {
    /// The name whose IPv6 addresses tell the prefixes of a network (RFC 7050).
    package static let discoveryName = "ipv4only.arpa"
    /// How long prefixes are, in bits.
    package static let lengths = [32, 40, 48, 56, 64, 96]

    /// The addresses of that name by IPv4.
    private static let wellKnown: [[UInt8]] = [[192, 0, 0, 170], [192, 0, 0, 171]]

    package let range: AddressRange

    /// A prefix; `nil` if there are none of that form.
    ///
    /// - Parameters:
    ///   - base: An IPv6 address that begins with the prefix.
    ///   - length: How long the prefix is, in bits.
    package init?(_ base: IPAddress, length: Int) {
        guard base.bytes.count == 16, Self.lengths.contains(length) else { return nil }
        let bytes = base.bytes.prefix(length / 8) + Array(repeating: 0, count: 16 - length / 8)
        // Bits 64 to 71 are zero in all of them.
        guard bytes[8] == 0, let first = IPAddress(bytes: Array(bytes)) else { return nil }
        range = AddressRange(first, prefix: length)
    }

    /// Where the bytes of an IPv4 address are behind a prefix: byte 8 is passed over.
    private static func places(after length: Int) -> [Int] {
        Array((length / 8..<16).lazy.filter { $0 != 8 }.prefix(4))
    }

    /// The IPv4 address that an IPv6 address stands for; `nil` if it is not of the prefix.
    ///
    /// What follows the IPv4 address is not looked at: translators have to pass it over.
    package func address(in address: IPAddress) -> IPAddress? {
        guard range.contains(address) else { return nil }
        return IPAddress(bytes: Self.places(after: range.prefix).map { address.bytes[$0] })
    }

    /// The IPv4 addresses that an address of 64:ff9b:1::/48 may stand for, behind prefixes of all lengths.
    static func candidates(in address: IPAddress) -> [IPAddress] {
        lengths.filter { $0 >= 48 }.compactMap { NAT64Prefix(address, length: $0)?.address(in: address) }
    }

    /// The prefixes that the IPv6 addresses of ``discoveryName`` tell.
    ///
    /// An address in which the IPv4 one is found in several places tells all that they may be: they only serve to refuse
    /// what they hide.
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
