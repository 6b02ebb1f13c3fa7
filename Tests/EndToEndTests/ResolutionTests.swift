// SPDX-License-Identifier: Apache-2.0
import DemoOrigin
import Fleet
import IconCache
import Reports
import SyncPlan
import TestSupport
import Testing

@testable import SyncAgentCLI

@Suite("What names resolve to", .serialized)
struct ResolutionTests {
    @Test("names whose second look-up would stall keep no icon of a healthy host away")
    func stalls() async throws {
        let hosts = (0..<30).map { "healthy-\($0).test" }
        try await World.withNames { question in
            if question.name.hasPrefix("stalling-"), question.number > 1 { return .silence }
            return .addresses(["127.0.0.1"])
        } _: { world, _ in
            let stalling = (0..<30).map { world.iconURL("icon-\($0)", on: "stalling-\($0).test") }
            let healthy = hosts.map { world.iconURL($0, on: $0) }
            let apps = (stalling + healthy).map { (name: "App", icon: $0) }
            try world.agent.drop(propertyList(apps), as: "apps.plist")
            _ = try await world.agent.call("run", "--once")
            let document = try #require(try IconCache(at: world.agent.cache).document(of: "apps.plist"))
            let icons = document.apps.suffix(30)
            #expect(icons.map(\.icon.text) == healthy)
            #expect(icons.count(where: \.isReady) == 30, "\(icons.map(\.state))")
        }
    }

    @Test("a name server that does not answer keeps a poll no longer than its time")
    func silentPoll() async throws {
        try await World.withNames { _ in
            .silence
        } _: { plain, _ in
            let world = plain.setting("SYNCAGENT_UPSTREAM_URLS", "http://seeder.test/")
                .setting("SYNCAGENT_UPSTREAM_TOTAL_TIMEOUT", "500ms").setting("RES_OPTIONS", "timeout:30 attempts:2")
            try world.agent.drop(propertyList([("Mail", world.iconURL("Mail", on: "127.0.0.1"))]), as: "apps.plist")
            try await world.agent.whileRunning { _ in
                let start = ContinuousClock.now
                let status = try await world.agent.status { $0.upstreams?.first?.error != nil }
                #expect(status.upstreams?.first?.code == "timeout", "\(status)")
                #expect(.now - start < .seconds(20), "the resolver waits for a minute")
            }
        }
    }

    @Test("a name that turns from an allowed to a refused address after it was judged leads to no packet there")
    func rebinding() async throws {
        try await World.withNames { question in
            if question.name == "steady.test" { return .addresses(["127.0.0.1"]) }
            return .addresses([question.number == 1 ? "127.0.0.1" : "127.0.0.2"])
        } _: { plain, _ in
            var world = plain
            world.agent.runOptions = ["--allow-network", "127.0.0.1/32", "--log-level", "error"]
            let agent = world.agent
            let steady = world.iconURL("Mail", on: "steady.test")
            let turning = (0..<8).map { plain.iconURL("icon-\($0)", on: "turning-\($0).test") }
            try await RawOrigin.run(host: "127.0.0.2", port: world.origin.port) { _ in
                [.close]
            } _: { refused in
                try agent.drop(propertyList((turning + [steady]).map { ("App", $0) }), as: "apps.plist")
                _ = try await agent.call("run", "--once")
                #expect(try await agent.call("path", steady).code == 0)
                #expect(refused.connections.total == 0)
            }
        }
    }

    @Test("an address in the NAT64 prefix of the network is judged as the IPv4 address that it stands for")
    func translated() async throws {
        try await World.withNames { question in
            switch (question.name, question.kind) {
            case ("ipv4only.arpa", .v6): .addresses(["2a0c:64::c000:aa", "2a0c:64::c000:ab"])
            case ("ipv4only.arpa", .v4): .addresses(["192.0.0.170", "192.0.0.171"])
            case ("hidden.test", .v6): .addresses(["2a0c:64::7f00:9"])
            case ("hidden.test", .v4): .addresses([])
            default: .unknown
            }
        } _: { world, server in
            let url = world.iconURL("Mail", on: "hidden.test")
            try world.agent.drop(propertyList([("Mail", url), ("Mail", url + "?2")]), as: "apps.plist")
            var agent = world.agent
            agent.runOptions = ["--log-level", "error"]
            #expect(try await agent.call("run", "--once").code == 1)
            let why = try await agent.call("why", url)
            #expect(
                why.output.contains("address-refused") && why.output.contains("127.0.0.9 is not a public address"),
                "\(why.output)")
            // One look-up, which asks for both kinds or for one.
            #expect((1...2).contains(server.questions.count(of: "ipv4only.arpa")))
        }
    }
}
