// SPDX-License-Identifier: Apache-2.0

/// Which addresses the agent may connect to: public ones, and those that `network.allow` names.
///
/// Lists come from other people, and servers redirect: without this, either could point the agent at services that only
/// this machine or its network can reach.
package struct AddressPolicy: Sendable {
    /// Networks that are allowed although they are not public.
    package var allowed: [AddressRange]

    package init(allowed: [AddressRange] = []) {
        self.allowed = allowed
    }

    /// Why an address may not be connected to; `nil` if it may.
    package func refusal(of address: IPAddress) -> Refusal? {
        let effective = Self.embeddedV4(in: address) ?? address
        if allowed.contains(where: { $0.contains(address) || $0.contains(effective) }) { return nil }
        guard let range = Self.special.first(where: { $0.range.contains(effective) }) else { return nil }
        return Refusal(address: effective, range: range.range, use: range.use)
    }

    /// An address that is not public and not allowed.
    package struct Refusal: Equatable, Sendable, CustomStringConvertible {
        package var address: IPAddress
        package var range: AddressRange
        /// What the range is for.
        package var use: String

        package var description: String {
            "\(address) is no public address (\(use)); to allow it, add \(range) to network.allow"
        }
    }

    /// The IPv4 address that an IPv6 address stands for: IPv4-mapped, IPv4-translated (RFC 2765), IPv4-compatible, NAT64
    /// (RFC 6052), 6to4 (RFC 3056), Teredo (RFC 4380).
    private static func embeddedV4(in address: IPAddress) -> IPAddress? {
        let bytes = address.bytes
        guard bytes.count == 16 else { return nil }
        let zeros = bytes.prefix(10).allSatisfy { $0 == 0 }
        if zeros, bytes[10] == 0xFF, bytes[11] == 0xFF { return IPAddress(bytes: Array(bytes[12...])) }
        if bytes[..<8].allSatisfy({ $0 == 0 }), bytes[8..<12].elementsEqual([0xFF, 0xFF, 0, 0]) {
            return IPAddress(bytes: Array(bytes[12...]))
        }
        // `::` and `::1` are no IPv4 addresses.
        if bytes[..<12].allSatisfy({ $0 == 0 }), !bytes[12..<15].allSatisfy({ $0 == 0 }) || bytes[15] > 1 {
            return IPAddress(bytes: Array(bytes[12...]))
        }
        if bytes.starts(with: [0, 0x64, 0xFF, 0x9B]), bytes[4..<12].allSatisfy({ $0 == 0 }) {
            return IPAddress(bytes: Array(bytes[12...]))
        }
        if bytes.starts(with: [0x20, 0x02]) { return IPAddress(bytes: Array(bytes[2..<6])) }
        if bytes.starts(with: [0x20, 0x01, 0, 0]) { return IPAddress(bytes: bytes[12...].map { ~$0 }) }
        return nil
    }

    /// The ranges of the IANA special-purpose address registries (RFC 6890) that are not globally reachable.
    private static let special: [(range: AddressRange, use: String)] = {
        let table = [
            ("0.0.0.0/8", "this network"), ("10.0.0.0/8", "private"), ("100.64.0.0/10", "carrier NAT"),
            ("127.0.0.0/8", "loopback"), ("169.254.0.0/16", "link-local"), ("172.16.0.0/12", "private"),
            ("192.0.0.0/24", "protocol assignments"), ("192.0.2.0/24", "documentation"),
            ("192.88.99.0/24", "6to4 relay"),
            ("192.168.0.0/16", "private"), ("198.18.0.0/15", "benchmarking"), ("198.51.100.0/24", "documentation"),
            ("203.0.113.0/24", "documentation"), ("224.0.0.0/4", "multicast"), ("240.0.0.0/4", "reserved"),
            ("::/127", "loopback or unspecified"), ("64:ff9b:1::/48", "local NAT64"), ("100::/64", "discard"),
            ("2001::/23", "protocol assignments"), ("2001:db8::/32", "documentation"), ("3fff::/20", "documentation"),
            ("5f00::/16", "segment routing"), ("fc00::/7", "private"), ("fe80::/10", "link-local"),
            ("fec0::/10", "site-local"), ("ff00::/8", "multicast"),
            // Of the rest only 2000::/3 is.
            ("::/3", "not given out"), ("4000::/2", "not given out"), ("8000::/1", "not given out"),
        ]
        return table.map { text, use in
            guard let range = AddressRange(text) else { preconditionFailure("\(text) is no address range") }
            return (range, use)
        }
    }()
}
