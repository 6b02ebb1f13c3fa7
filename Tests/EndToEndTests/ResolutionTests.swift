// SPDX-License-Identifier: Apache-2.0
import Fleet
import IconCache
import Reports
import SyncPlan
import TestSupport
import Testing

@testable import SyncAgentCLI

@Suite("Name resolution", .timeLimit(.minutes(15)), .serialized)
struct ResolutionTests {
    /// Answers with an address that turns at the second question, is hidden by NAT64, or never comes again.
    private static func answer(_ question: NameServer.Question) -> NameServer.Answer {
        switch (question.name, question.kind) {
        case ("ipv4only.arpa", .v6): return .addresses(["2a0c:64::c000:aa", "2a0c:64::c000:ab"])
        case ("ipv4only.arpa", .v4): return .addresses(["192.0.0.170", "192.0.0.171"])
        case ("hidden.test", .v6): return .addresses(["2a0c:64::7f00:9"])
        case ("hidden.test", .v4): return .addresses([])
        default: break
        }
        if question.name.hasPrefix("stalling-"), question.number > 1 { return .silence }
        if question.name.hasPrefix("turning-"), question.number > 1 { return .addresses(["127.0.0.2"]) }
        if question.name.hasPrefix("mixed-") { return .addresses(["fd00::7", "127.0.0.2", "127.0.0.1", "::"]) }
        return .addresses(["127.0.0.1"])
    }

    @Test("an agent connects only to the addresses that it judged, also behind NAT64, and waits for no second look-up")
    func judged() async throws {
        try await World.withNames {
            Self.answer($0)
        } _: { world, server in
            var agent = world.agent
            agent.runOptions = ["--allow-network", "127.0.0.1/32", "--log-level", "error"]
            let stalling = (0..<30).map { world.iconURL("icon-\($0)", on: "stalling-\($0).test") }
            let healthy = (0..<30).map { world.iconURL("icon-\($0)", on: "healthy-\($0).test") }
            let turning = (0..<8).map { world.iconURL("icon-\($0)", on: "turning-\($0).test") }
            let hidden = ["", "?2"].map { world.iconURL("Mail", on: "hidden.test") + $0 }
            let apps = (stalling + turning + hidden + healthy).map { (name: "App", icon: $0) }
            try agent.drop(propertyList(apps), as: "apps.plist")
            try await RawOrigin.run(host: "127.0.0.2", port: world.origin.port) { _ in
                [.close]
            } _: { [agent] (refused) async throws -> Void in
                #expect(try await agent.call("run", "--once").code == 1)
                #expect(refused.connections.total == 0)
            }
            let document = try #require(try IconCache(at: agent.cache).document(of: "apps.plist"))
            let icons = document.apps.suffix(healthy.count)
            #expect(icons.map(\.icon.text) == healthy)
            let unready = icons.filter { !$0.isReady }
            #expect(unready.isEmpty, "\(unready)")
            expectContains(
                try await agent.call("why", hidden[0]).output, "address-refused", "127.0.0.9 is not a public address")
            // One look-up, which asks for both kinds or for one.
            #expect((1...2).contains(server.questions.count(of: "ipv4only.arpa")))
        }
    }

    @Test("of the addresses of a name, an agent connects to the permitted ones alone, also where a redirect leads")
    func mixed() async throws {
        try await World.withNames {
            Self.answer($0)
        } _: { world, _ in
            var agent = world.agent
            agent.runOptions = ["--allow-network", "127.0.0.1/32", "--log-level", "error"]
            let target = world.iconURL("Maps", on: "mixed-9.test")
            try await RawOrigin.run { _ in
                [.send("HTTP/1.1 302 Found\r\nLocation: \(target)\r\nContent-Length: 0\r\n\r\n")]
            } _: { [agent] (redirecting) async throws -> Void in
                let named = (0..<8).map { world.iconURL("icon-\($0)", on: "mixed-\($0).test") }
                let icons = named + ["\(redirecting.baseURL)/a.png"]
                try agent.drop(propertyList(icons.map { (name: "App", icon: $0) }), as: "apps.plist")
                try await RawOrigin.run(host: "127.0.0.2", port: world.origin.port) { _ in
                    [.close]
                } _: { (refused) async throws -> Void in
                    let run = try await agent.call("run", "--once")
                    #expect(run.code == 0, "\(run)")
                    #expect(refused.connections.total == 0)
                }
                let document = try #require(try IconCache(at: agent.cache).document(of: "apps.plist"))
                #expect(document.apps.filter(\.isReady).map(\.icon.text) == icons)
            }
        }
    }

    @Test("a name server that does not answer holds a poll of an upstream no longer than its timeout")
    func silentPoll() async throws {
        try await World.withNames { _ in
            .silence
        } _: { plain, _ in
            // The resolver waits for a minute, the test for half of it.
            let world = plain.setting("SYNCAGENT_UPSTREAM_URLS", "http://seeder.test/")
                .setting("SYNCAGENT_UPSTREAM_TOTAL_TIMEOUT", "500ms").setting("RES_OPTIONS", "timeout:30 attempts:2")
            try world.agent.drop(propertyList([("Mail", world.iconURL("Mail", on: "127.0.0.1"))]), as: "apps.plist")
            try await world.agent.whileRunning { _ in
                let status = try await world.agent.status { $0.upstreams.first?.error != nil }
                #expect(status.upstreams.first?.code == "timeout", "\(status)")
            }
        }
    }
}
