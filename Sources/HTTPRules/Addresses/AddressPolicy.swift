// SPDX-License-Identifier: Apache-2.0
package import AppLists

/// Decides which addresses the agent may connect to: public ones, and those that the settings allow.
///
/// Other people write app lists, and servers redirect. Without this check, either could direct the agent to services
/// that only this machine or its network can reach.
package struct AddressPolicy: Sendable {
    /// Networks that are allowed although they are not public.
    package var allowed: [AddressRange] = []
    /// Addresses that are always refused; takes precedence over ``allowed``.
    package var denied: [IPAddress] = []
    /// The setting that allows private, shared and loopback addresses; `nil` if they are not allowed.
    ///
    /// `network.allowHosts` for the hosts it names, `upstream.urls` for sources of copies. Link-local and cloud
    /// metadata addresses stay refused: no DNS name has a reason to resolve to them.
    package var localSetting: String?
    /// The known NAT64 prefixes of the network.
    package var translations: [NAT64Prefix] = []

    package enum Verdict: Equatable, Sendable {
        case isPublic
        /// Not public, but allowed by this setting.
        case allowed(by: String)
        case refused(Refusal)

        fileprivate var isRefusal: Bool { if case .refused = self { true } else { false } }
    }

    package func verdict(on address: IPAddress) -> Verdict {
        if let embedded = Self.embeddedV4(in: address) { return verdict(on: address, as: embedded) }
        let translated = translations.compactMap { $0.address(in: address) }
        if translated.isEmpty {
            // The prefix length is unknown. Refuse the address if it hides a denied one under any length.
            let hidden = Self.localTranslation.contains(address) ? NAT64Prefix.candidates(in: address) : []
            if let denial = hidden.first(where: denied.contains) { return .refused(.denied(denial)) }
            return verdict(on: address, as: address)
        }
        // If several prefixes match, any of them may be in use: the strictest verdict wins.
        let verdicts = translated.map { verdict(on: address, as: $0) }
        return verdicts.first { $0.isRefusal } ?? verdicts.first { $0 != .isPublic } ?? .isPublic
    }

    /// The verdict on an address that embeds or translates to `effective`, or is `effective` itself.
    private func verdict(on address: IPAddress, as effective: IPAddress) -> Verdict {
        if denied.contains(address) || denied.contains(effective) { return .refused(.denied(effective)) }
        guard let special = Self.special.first(where: { $0.range.contains(effective) }) else { return .isPublic }
        if allowed.contains(where: { $0.contains(address) || $0.contains(effective) }) {
            return .allowed(by: "network.allow")
        }
        if let localSetting, special.isLocal { return .allowed(by: localSetting) }
        return .refused(.notPublic(effective, special))
    }

    package func refusal(of address: IPAddress) -> Refusal? {
        if case .refused(let refusal) = verdict(on: address) { refusal } else { nil }
    }

    /// The reason why the agent may not connect to an address.
    package enum Refusal: Error, Equatable, Sendable {
        case notPublic(IPAddress, SpecialRange)
        /// `network.denyHosts` names it.
        case denied(IPAddress)

        /// The reason and the remedy, as a clause; `host` is the name that resolved to the address.
        package func text(for host: String) -> String {
            switch self {
            case .denied(let address): "network.denyHosts denies requests to \(address)"
            case .notPublic(let address, let special):
                // Not every spelling of an address, such as 2130706433, is a value of network.allowHosts.
                "\(address) is not a public address (\(special.use))"
                    + AddressAdvice(
                        range: special.range, host: special.isLocal && HostPattern(host) != nil ? host : nil
                    ).clause()
            }
        }
    }

    package struct SpecialRange: Equatable, Sendable {
        package var range: AddressRange
        package var use: String
        /// Whether organisations or machines assign these addresses to their own hosts.
        package var isLocal: Bool
        /// Whether other machines of a network can have these addresses.
        var isNetwork: Bool { isLocal && use != AddressPolicy.loopback }
    }

    /// The IPv4 address embedded in an IPv6 address.
    ///
    /// IPv4-mapped, IPv4-translated (RFC 2765), IPv4-compatible, NAT64 (RFC 6052), 6to4 (RFC 3056), Teredo (RFC 4380).
    private static func embeddedV4(in address: IPAddress) -> IPAddress? {
        let bytes = address.bytes
        guard bytes.count == 16 else { return nil }
        let zeros = bytes.prefix(10).allSatisfy { $0 == 0 }
        if zeros, bytes[10] == 0xFF, bytes[11] == 0xFF { return IPAddress(bytes: Array(bytes[12...])) }
        if bytes[..<8].allSatisfy({ $0 == 0 }), bytes[8..<12].elementsEqual([0xFF, 0xFF, 0, 0]) {
            return IPAddress(bytes: Array(bytes[12...]))
        }
        // `::` and `::1` embed no IPv4 address.
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
    ///
    /// The first match counts, so a range comes before those that contain it.
    private static let special =
        ranges(
            isLocal: false,
            [
                ("100.100.100.200/32", "cloud metadata"), ("168.63.129.16/32", "cloud metadata"),
                ("fd00:ec2::/32", "cloud metadata"),
                ("fd20:ce::254/128", "cloud metadata"),
            ])
        + ranges(
            isLocal: true,
            [
                ("10.0.0.0/8", "private"), ("100.64.0.0/10", "carrier NAT"), ("127.0.0.0/8", loopback),
                ("172.16.0.0/12", "private"), ("192.168.0.0/16", "private"), ("::1/128", loopback),
                ("fc00::/7", "private"),
            ])
        + ranges(
            isLocal: false,
            [
                ("0.0.0.0/8", "this network"), ("169.254.0.0/16", "link-local"),
                ("192.0.0.0/24", "protocol assignments"), ("192.0.2.0/24", "documentation"),
                ("192.88.99.0/24", "6to4 relay"), ("198.18.0.0/15", "benchmarking"),
                ("198.51.100.0/24", "documentation"), ("203.0.113.0/24", "documentation"),
                ("224.0.0.0/4", "multicast"), ("240.0.0.0/4", "reserved"), ("::/128", "unspecified"),
                ("64:ff9b:1::/48", "local NAT64, not known to be this network's"), ("100::/64", "discard"),
                ("2001::/23", "protocol assignments"),
                ("2001:db8::/32", "documentation"), ("3fff::/20", "documentation"), ("5f00::/16", "segment routing"),
                ("fe80::/10", "link-local"), ("fec0::/10", "site-local"), ("ff00::/8", "multicast"),
                // Of the remaining IPv6 space only 2000::/3 is public.
                ("::/3", "not given out"), ("4000::/2", "not given out"), ("8000::/1", "not given out"),
            ])

    private static let loopback = "loopback"

    /// The range for local NAT64 prefixes (RFC 8215).
    private static let localTranslation = range("64:ff9b:1::/48")

    private static func range(_ text: String) -> AddressRange {
        guard let range = AddressRange(text) else { preconditionFailure("\(text) is no address range") }
        return range
    }

    private static func ranges(isLocal: Bool, _ table: [(range: String, use: String)]) -> [SpecialRange] {
        table.map { text, use in
            SpecialRange(range: range(text), use: use, isLocal: isLocal)
        }
    }
}
