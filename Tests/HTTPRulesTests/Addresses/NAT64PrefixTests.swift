// SPDX-License-Identifier: Apache-2.0
import AppLists
import Testing

@testable import HTTPRules

@Suite("Addresses that a network translates to IPv4")
struct NAT64PrefixTests {
    /// 192.0.2.33 behind prefixes of all lengths: the examples of RFC 6052, section 2.4.
    private static let examples = [
        ("2001:db8::", 32, "2001:db8:c000:221::"), ("2001:db8:100::", 40, "2001:db8:1c0:2:21::"),
        ("2001:db8:122::", 48, "2001:db8:122:c000:2:2100::"),
        ("2001:db8:122:300::", 56, "2001:db8:122:3c0:0:221::"),
        ("2001:db8:122:344::", 64, "2001:db8:122:344:c0:2:2100::"),
        ("2001:db8:122:344::", 96, "2001:db8:122:344::192.0.2.33"),
    ]

    private static func prefix(_ base: String, _ length: Int) throws -> NAT64Prefix {
        let base = try #require(IPAddress(base))
        return try #require(NAT64Prefix(base, length: length))
    }

    @Test("the IPv4 address is found behind prefixes of all lengths", arguments: examples)
    func embedded(prefix: String, length: Int, text: String) throws {
        let prefix = try Self.prefix(prefix, length)
        let address = try #require(IPAddress(text))
        #expect(prefix.address(in: address) == IPAddress("192.0.2.33"))
        #expect(prefix.address(in: try #require(IPAddress("2001:db9::1"))) == nil)
        #expect(prefix.address(in: try #require(IPAddress("192.0.2.33"))) == nil)
    }

    @Test("only six lengths are prefixes, and none with bits 64 to 71 set")
    func lengths() throws {
        let base = try #require(IPAddress("2001:db8:1:2:300::"))
        #expect((0...128).filter { NAT64Prefix(base, length: $0) != nil } == [32, 40, 48, 56, 64])
        #expect(NAT64Prefix(try #require(IPAddress("10.0.0.0")), length: 32) == nil)
    }

    @Test(
        "the addresses of ipv4only.arpa tell the prefixes",
        arguments: [
            (["2a0c:64::c000:aa", "2a0c:64::c000:ab"], ["2a0c:64::/96"]),
            (["64:ff9b::192.0.0.170"], ["64:ff9b::/96"]), (["64:ff9b:1:fffe::192.0.0.171"], ["64:ff9b:1:fffe::/96"]),
            (["2001:db8:c000:aa::"], ["2001:db8::/32"]), (["2001:db8:1c0:0:aa::"], ["2001:db8:100::/40"]),
            (["2001:db8:122:c000:0:aa00::"], ["2001:db8:122::/48"]),
            (["2001:db8:122:3c0:0:aa::"], ["2001:db8:122:300::/56"]),
            (["2001:db8:122:344:c0:0:aa00::"], ["2001:db8:122:344::/64"]),
            // Two networks, or one with two translators.
            (["2a0c:64::c000:aa", "2a0c:65::c000:aa"], ["2a0c:64::/96", "2a0c:65::/96"]),
            // In two places.
            (["2001:db8:c000:aa::c000:ab"], ["2001:db8::/32", "2001:db8:c000:aa::/96"]),
            // Not those of that name, or not where they belong.
            (["2a0c:64::c000:ac", "2a0c:64::", "192.0.0.170", "2a0c:64::c0:0:aa00"], []),
        ])
    func discovery(addresses: [String], expected: [String]) throws {
        let prefixes = NAT64Prefix.prefixes(in: try addresses.map { try #require(IPAddress($0)) })
        #expect(prefixes.map(\.description).sorted() == expected)
    }

    /// Verdicts where a network translates by `2a0c:64::/96` and `64:ff9b:1:1::/96`.
    private static let verdicts: [(address: String, allowed: String, isPublic: Bool, word: String?)] = [
        ("2a0c:64::8.8.8.8", "", true, nil), ("2a0c:64::127.0.0.1", "", false, "127.0.0.1 is not a public"),
        ("2a0c:64::10.1.2.3", "", false, "add 10.0.0.0/8 to network.allow"),
        ("2a0c:64::169.254.169.254", "", false, "169.254.169.254 is not a public"),
        ("2a0c:64::168.63.129.16", "", false, "168.63.129.16 is not a public"),
        ("2a0c:64::10.1.2.3", "10.0.0.0/8", false, nil), ("2a0c:64::10.1.2.3", "2a0c:64::/96", false, nil),
        ("2a0c:64::10.1.2.3", "192.168.0.0/16", false, "10.1.2.3 is not a public"),
        // What no prefix is known for.
        ("2a0c:65::10.1.2.3", "", true, nil),
        // Local prefixes: known, and not.
        ("64:ff9b:1:1::8.8.8.8", "", true, nil), ("64:ff9b:1:1::10.1.2.3", "", false, "10.1.2.3 is not a public"),
        ("64:ff9b:1:2::8.8.8.8", "", false, "add 64:ff9b:1::/48 to network.allow"),
        ("64:ff9b:1::1", "", false, "add 64:ff9b:1::/48 to network.allow"),
        ("64:ff9b:1:2::10.1.2.3", "64:ff9b:1::/48", false, nil),
    ]

    @Test(
        "an address of a known prefix is judged as the one that it stands for, and local ones are refused unless known")
    func policy() throws {
        let prefixes = try ["2a0c:64::", "64:ff9b:1:1::"].map {
            try Self.prefix($0, 96)
        }
        for (text, allowed, isPublic, word) in Self.verdicts {
            let address = try #require(IPAddress(text))
            let ranges = allowed.isEmpty ? [] : [try #require(AddressRange(allowed))]
            let policy = AddressPolicy(allowed: ranges, translations: prefixes)
            #expect((policy.verdict(on: address) == .isPublic) == isPublic, "\(text)")
            let refusal = policy.refusal(of: address)?.text(for: "a")
            #expect((refusal == nil) == (word == nil), "\(text): \(refusal ?? "")")
            if let word { #expect(refusal?.contains(word) == true, "\(text): \(refusal ?? "")") }
        }
    }

    @Test("a denied address is refused behind a NAT64 prefix, whatever is allowed")
    func denied() throws {
        let prefix = try Self.prefix("2a0c:64::", 96)
        var policy = AddressPolicy(
            allowed: [try #require(AddressRange("::/0"))], localSetting: "network.allowHosts", translations: [prefix])
        for text in [
            "2a0c:64::10.1.2.3", "64:ff9b:1::10.1.2.3", "64:ff9b:1:0a01:2:300::", "64:ff9b:1:50a:1:203::",
            "64:ff9b:1:5:a:102:300::",
        ] {
            let address = try #require(IPAddress(text))
            policy.denied = []
            #expect(policy.refusal(of: address) == nil, "\(text)")
            policy.denied = [try #require(IPAddress("10.1.2.3"))]
            #expect(policy.refusal(of: address)?.text(for: "a").contains("network.denyHosts") == true, "\(text)")
        }
    }
}
