// SPDX-License-Identifier: Apache-2.0
import AgentSettings
import AppLists
import HTTPRules
import SyncPlan
import Testing

@testable import SyncAgent
@testable import Transfers

@Suite("Routes to hosts")
struct ResolverTests {
    private static func network(allow: [String]) -> Settings.Network {
        var network = Settings().network
        network.allow = allow.compactMap { AddressRange($0) }
        return network
    }

    private static func resolver(allow: [String]) -> Resolver { Resolver(policy: network(allow: allow)) }

    /// A resolver for which all names have the same addresses, in a network with a prefix of its own for IPv4 addresses.
    private static func resolver(allow: [String] = [], of addresses: [String]) -> Resolver {
        let (known, discovered) = (addresses.compactMap { IPAddress($0) }, IPAddress("2a0c:64::c000:aa"))
        return Resolver(policy: network(allow: allow)) { host, _ in
            .addresses(host == NAT64Prefix.discoveryName ? [discovered].compactMap(\.self) : known)
        }
    }

    @Test(
        "a route leads to the permitted addresses of a name alone, in their order",
        arguments: [
            (["8.8.8.8", "1.1.1.1"], "8.8.8.8,1.1.1.1", nil), (["fd00::7", "8.8.8.8"], "8.8.8.8", "fd00::7"),
            (["::", "127.0.0.1", "10.9.9.9"], "127.0.0.1", "::"), (["::1", "2a00::1"], "[2a00::1]", "::1"),
            (["8.8.8.8", "169.254.169.254", "2a00::1"], "8.8.8.8,[2a00::1]", "169.254.169.254"),
            // The network's prefix stands before 10.0.0.9 and 127.0.0.9.
            (["2a0c:64::a00:9", "8.8.8.8"], "8.8.8.8", "10.0.0.9"), (["2a0c:64::7f00:9"], "[2a0c:64::7f00:9]", nil),
        ] as [([String], String, String?)])
    func permitted(addresses: [String], entry: String, leftOut: String?) async throws {
        let resolver = Self.resolver(allow: ["127.0.0.0/24"], of: addresses)
        // The second one may be a known route.
        for url in ["http://h.example/a", "http://h.example/b"] {
            let route = try await resolver.route(to: FetchTarget(url), through: nil)
            #expect(route.entry == "+h.example:80:\(entry)")
            let told = route.refusal?.text(for: "h.example")
            #expect(told?.hasPrefix("\(leftOut ?? "no address") is not a public address") ?? (leftOut == nil))
        }
    }

    @Test(
        "a name without a permitted address is refused, and the first of its addresses is named",
        arguments: [(["10.0.0.1"], "10.0.0.1"), (["::1", "10.0.0.1"], "::1"), (["10.0.0.1", "fd00::7"], "10.0.0.1")])
    func nonePermitted(addresses: [String], named: String) async throws {
        let resolver = Self.resolver(of: addresses)
        for _ in 0..<2 {
            let failure = await #expect(throws: FetchFailure.self) {
                try await resolver.route(to: FetchTarget("http://h.example/a"), through: nil)
            }
            #expect(failure?.code == .fetch(.addressRefused))
            #expect(failure?.message.hasPrefix("\(named) is not a public address") == true)
        }
    }

    @Test("a route knows an address behind NAT64 at the other end of a connection by the route that opened it")
    func translatedPeer() async throws {
        let peer = try #require(IPAddress("2a0c:64::7f00:9"))
        let target = try FetchTarget("http://h.example/a")
        let opener = try await Self.resolver(allow: ["127.0.0.0/8"], of: ["\(peer)"]).route(to: target, through: nil)
        let other = try await Self.resolver(of: ["8.8.8.8"]).route(to: target, through: nil)
        let refusal = other.refusal(of: peer, openedFor: opener)
        #expect(refusal?.text(for: "h.example").hasPrefix("127.0.0.9 is not a public address") == true)
        #expect(opener.refusal(of: peer, openedFor: other) == nil)
    }

    @Test("a route through a proxy leads to all addresses of the proxy, and to none of the origin")
    func proxyAddresses() async throws {
        let resolver = Self.resolver(of: ["10.0.0.1", "8.8.8.8"])
        let proxy = try #require(Proxy("http://proxy.example:3128"))
        for url in ["http://h.example/a", "http://1.1.1.1/a"] {
            let route = try await resolver.route(to: FetchTarget(url), through: proxy)
            #expect(route.entry == "+proxy.example:3128:10.0.0.1,8.8.8.8")
        }
        await #expect(throws: FetchFailure.self) {
            try await resolver.route(to: FetchTarget("http://10.0.0.1/a"), through: proxy)
        }
    }

    @Test(
        "a checked route is used again, for the same host and port alone",
        arguments: ["127.0.0.1", "[::1]", "localhost"])
    func again(host: String) async throws {
        let resolver = Self.resolver(allow: ["127.0.0.0/8", "::1"])
        let first = try await resolver.route(to: FetchTarget("http://\(host):8001/a"), through: nil)
        let again = try await resolver.route(to: FetchTarget("https://\(host):8001/b"), through: nil)
        let other = try await resolver.route(to: FetchTarget("http://\(host):8002/a"), through: nil)
        #expect(first === again && first !== other)
        #expect(first.setting == "network.allow" && other.setting == "network.allow")
    }

    @Test(
        "a refused host is refused each time",
        arguments: ["127.0.0.1", "[::1]", "localhost", "a.localhost"])
    func refused(host: String) async throws {
        let resolver = Self.resolver(allow: [])
        for _ in 0..<2 {
            let failure = await #expect(throws: FetchFailure.self) {
                try await resolver.route(to: FetchTarget("http://\(host)/a"), through: nil)
            }
            #expect(failure?.code == .fetch(.addressRefused))
        }
    }

    @Test(
        "a host that is a private address, or a name of this machine, is refused without a name server",
        arguments: [
            // So are the other spellings of addresses: octal and hexadecimal numbers, and fewer than four of them.
            ("10.0.0.1", true), ("127.0.0.1", true), ("::1", true), ("::ffff:10.0.0.1", true), ("localhost", true),
            ("A.LocalHost.", true), ("9.9.9.9", false), ("localhost.example", false), ("nolocalhost", false),
            ("h.example", false),
        ])
    func refusedHost(host: String, isRefused: Bool) {
        var network = Settings().network
        #expect((network.addresses(for: host).refusal(ofHost: host) != nil) == isRefused)
        network.allow = ["10.0.0.0/8", "127.0.0.0/8", "::1"].compactMap { AddressRange($0) }
        #expect(network.addresses(for: host).refusal(ofHost: host) == nil)
    }

    @Test("a route through a proxy differs from the direct one, whichever comes first")
    func proxied() async throws {
        let proxy = try #require(Proxy("http://127.0.0.2:3128"))
        let target = try FetchTarget("http://127.0.0.1:8001/a")
        let resolver = Self.resolver(allow: ["127.0.0.0/8"])
        for _ in 0..<2 {
            #expect(try await resolver.route(to: target, through: proxy).host == "127.0.0.2")
            #expect(try await resolver.route(to: target, through: nil).host == "127.0.0.1")
        }
    }
}
