// SPDX-License-Identifier: Apache-2.0
import AgentSettings
import AppLists
import HTTPRules
import SyncPlan
import Testing
import Transfers

@testable import SyncAgent

@Suite("Routes to hosts")
struct ResolverTests {
    private static func resolver(allow: [String]) -> Resolver {
        var settings = Settings()
        settings.network.allow = allow.compactMap { AddressRange($0) }
        return Resolver(policy: settings.network)
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
