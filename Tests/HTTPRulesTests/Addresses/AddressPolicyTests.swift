// SPDX-License-Identifier: Apache-2.0
import AppLists
import Testing

@testable import HTTPRules

@Suite("The address policy")
struct AddressPolicyTests {
    @Test(
        "the address policy allows public addresses",
        arguments: [
            "1.1.1.1", "8.8.8.8", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "126.255.255.255",
            "128.0.0.1", "169.253.255.255", "169.255.0.0", "172.15.255.255", "172.32.0.0", "192.0.1.0",
            "192.167.255.255",
            "192.169.0.0", "198.17.255.255", "198.20.0.0", "223.255.255.255", "2606:4700::1111", "2a00::1",
            "2001:4860:4860::8888", "::ffff:8.8.8.8", "64:ff9b::8.8.8.8", "2002:808:808::1", "2001:0:1:2:3:4:f7f7:f7f7",
        ])
    func allow(text: String) throws {
        let address = try #require(IPAddress(text))
        #expect(AddressPolicy().refusal(of: address) == nil)
    }

    @Test(
        "the address policy refuses addresses that are not public",
        arguments: [
            ("0.0.0.0", "0.0.0.0/8"), ("0.255.255.255", "0.0.0.0/8"), ("10.0.0.0", "10.0.0.0/8"),
            ("10.255.255.255", "10.0.0.0/8"), ("100.64.0.0", "100.64.0.0/10"), ("100.127.255.255", "100.64.0.0/10"),
            ("168.63.129.16", "168.63.129.16/32"),
            ("::ffff:168.63.129.16", "168.63.129.16/32"), ("64:ff9b::168.63.129.16", "168.63.129.16/32"),
            ("127.0.0.1", "127.0.0.0/8"), ("127.255.255.255", "127.0.0.0/8"), ("169.254.169.254", "169.254.0.0/16"),
            ("172.16.0.0", "172.16.0.0/12"), ("172.31.255.255", "172.16.0.0/12"), ("192.0.0.1", "192.0.0.0/24"),
            ("192.0.2.1", "192.0.2.0/24"), ("192.88.99.1", "192.88.99.0/24"), ("192.168.0.1", "192.168.0.0/16"),
            ("198.18.0.1", "198.18.0.0/15"), ("198.19.255.255", "198.18.0.0/15"), ("198.51.100.1", "198.51.100.0/24"),
            ("203.0.113.255", "203.0.113.0/24"), ("224.0.0.1", "224.0.0.0/4"), ("239.255.255.255", "224.0.0.0/4"),
            ("240.0.0.1", "240.0.0.0/4"), ("255.255.255.255", "240.0.0.0/4"),
            ("::", "::/128"), ("::1", "::1/128"), ("64:ff9b:1::1", "64:ff9b:1::/48"), ("100::1", "100::/64"),
            ("2001:2::1", "2001::/23"), ("2001:10::1", "2001::/23"), ("2001:db8::1", "2001:db8::/32"),
            ("3fff::1", "3fff::/20"), ("3fff:fff::1", "3fff::/20"), ("5f00::1", "5f00::/16"), ("fc00::1", "fc00::/7"),
            ("fdff::1", "fc00::/7"), ("fe80::1", "fe80::/10"), ("febf::1", "fe80::/10"), ("fec0::1", "fec0::/10"),
            ("ff02::1", "ff00::/8"), ("0:0:0:1::", "::/3"), ("1fff::1", "::/3"), ("4000::1", "4000::/2"),
            ("bfff::1", "8000::/1"), ("fbff::1", "8000::/1"),
        ])
    func refuse(text: String, range: String) throws {
        let address = try #require(IPAddress(text))
        let refusal = try #require(AddressPolicy().refusal(of: address))
        #expect(refusal.text(for: "icons.corp").contains("add \(range) to network.allow"))
    }

    @Test(
        "an IPv6 address that stands for an IPv4 address is judged as that one",
        arguments: [
            "::ffff:127.0.0.1", "::ffff:7f00:1", "::127.0.0.1", "64:ff9b::127.0.0.1", "2002:7f00:1::", "2002:7f00:1::5",
            "2001:0:1:2:3:4:80ff:fffe", "::ffff:0:127.0.0.1",
        ])
    func embedded(text: String) throws {
        let address = try #require(IPAddress(text))
        let refusal = try #require(AddressPolicy().refusal(of: address))
        let text = refusal.text(for: "a")
        #expect(text.hasPrefix("127.0.0.1 is not a public address (loopback); to allow it, add 127.0.0.0/8"))
        // What the setting does not accept is no advice.
        #expect(text.contains("allowHosts") && !refusal.text(for: "2130706433").contains("allowHosts"))
        let loopback = AddressPolicy(allowed: [try #require(AddressRange("127.0.0.0/8"))])
        #expect(loopback.refusal(of: address) == nil)
    }

    @Test("IPv4-compatible addresses of “this network” are not public", arguments: ["::2", "::0.1.2.3", "::ff:ffff"])
    func compatible(text: String) throws {
        let address = try #require(IPAddress(text))
        #expect(AddressPolicy().refusal(of: address) != nil)
    }

    @Test(
        "the address policy allows the addresses of network.allow, and no others",
        arguments: [
            ("10.1.0.0/16", "10.1.2.3", true), ("10.1.0.0/16", "10.2.0.0", false),
            ("10.1.0.0/16", "::ffff:10.1.0.1", true),
            ("::1", "::1", true), ("::1", "::", false), ("::1", "127.0.0.1", false), ("127.0.0.1", "127.0.0.2", false),
            ("fd00::/8", "fd12::1", true), ("fd00::/8", "fc00::1", false), ("::ffff:10.0.0.0/104", "10.0.0.1", false),
        ])
    func allowed(range: String, address: String, isAllowed: Bool) throws {
        let policy = AddressPolicy(allowed: [try #require(AddressRange(range))])
        let address = try #require(IPAddress(address))
        #expect((policy.refusal(of: address) == nil) == isAllowed)
    }

    @Test(
        "a host that network.allowHosts names may stand for local addresses, and for no others",
        arguments: [
            ("10.1.2.3", true), ("172.31.0.1", true), ("192.168.0.1", true), ("100.64.0.1", true), ("127.0.0.1", true),
            ("::1", true), ("fd12::1", true), ("::ffff:10.0.0.1", true), ("8.8.8.8", true), ("2a00::1", true),
            ("169.254.169.254", false), ("::ffff:169.254.169.254", false), ("169.254.170.2", false),
            ("fe80::1", false),
            ("fd00:ec2::254", false), ("fd00:ec2::23", false), ("fd20:ce::254", false), ("100.100.100.200", false),
            ("168.63.129.16", false), ("168.63.129.17", true),
            ("0.0.0.0", false), ("::", false), ("224.0.0.1", false), ("ff02::1", false), ("255.255.255.255", false),
            ("192.0.2.1", false), ("fec0::1", false), ("4000::1", false),
        ])
    func local(text: String, isAllowed: Bool) throws {
        let address = try #require(IPAddress(text))
        #expect((AddressPolicy(localSetting: "network.allowHosts").refusal(of: address) == nil) == isAllowed)
        let refusal = AddressPolicy().refusal(of: address)?.text(for: "icons.corp")
        #expect(refusal?.contains("or icons.corp to network.allowHosts") == (refusal == nil ? nil : isAllowed))
    }

    @Test(
        "the address policy refuses denied addresses, whatever is allowed",
        arguments: ["10.1.2.3", "::ffff:10.1.2.3", "8.8.8.8"])
    func denied(text: String) throws {
        let ranges = [try #require(AddressRange("0.0.0.0/0")), try #require(AddressRange("::/0"))]
        let address = try #require(IPAddress(text))
        var policy = AddressPolicy(allowed: ranges, localSetting: "network.allowHosts")
        #expect(policy.refusal(of: address) == nil)
        policy.denied = [try #require(IPAddress("10.1.2.3")), try #require(IPAddress("8.8.8.8"))]
        #expect(policy.refusal(of: address)?.text(for: "a").contains("network.denyHosts") == true)
        #expect(policy.refusal(of: try #require(IPAddress("10.1.2.4"))) == nil)
    }
}
