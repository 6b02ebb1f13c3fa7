// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import DemoOrigin
import Fleet
import Glibc
import IconCache
import Reports
import SystemPackage
import TestSupport
import Testing

@testable import SyncAgentCLI

@Suite("Lists from an upstream", .serialized)
struct UpstreamListTests {
    private static func follower(_ world: World, _ name: String = "follower") throws -> World {
        var follower = world
        let own = world.folder.appending(name)
        follower.agent = AgentProcess(program: BuiltProducts.path("syncagent"), folder: own)
        try makeFolder(own)
        try makeFolder(follower.agent.lists)
        return follower.setting("SYNCAGENT_UPSTREAM_URLS", "file://\(world.folder.appending("export"))")
            .setting("SYNCAGENT_UPSTREAM_FALLBACK", "never").setting("SYNCAGENT_UPSTREAM_POLL", "100ms")
            .setting("SYNCAGENT_UPSTREAM_BREAK_FOR", "100ms").setting("SYNCAGENT_UPSTREAM_BREAK_MAX", "100ms")
            .setting("SYNCAGENT_UPSTREAM_LISTS", "*.plist")
    }

    /// Drops lists in place of those before, syncs and exports.
    private static func export(_ world: World, _ lists: [String: [String]]) async throws {
        for name in try files(in: world.agent.lists) where lists[name] == nil {
            try #require(unlink(world.agent.lists.appending(name).string) == 0)
        }
        for (name, apps) in lists { try world.drop(apps, as: name) }
        // A list counts as removed only after it was missing for a moment.
        try await world.agent.whileRunning { _ in
            try await world.agent.status { $0.inSync && Set($0.lists.map(\.name.text)) == Set(lists.keys) }
        }
        let export = try await world.agent.call("export", world.folder.appending("export").string)
        #expect(export.code == 0, "\(export)")
    }

    private static func lists(_ report: StatusReport) -> [String] { report.lists.map(\.name.text) }

    @Test(
        "a follower without lists of its own shows those of its upstream, follows their changes, and keeps the last good"
    )
    func follow() async throws {
        try await World.with { world in
            try await Self.export(world, ["a.plist": ["Mail", "Maps"], "b.plist": ["Notes"]])
            let follower = try Self.follower(world)
            let once = try await follower.agent.call("run", "--once")
            #expect(once.code == 0, "\(once)")
            let first = try IconCache(at: follower.agent.cache).document(of: "a.plist")
            #expect(first?.apps.map(\.name) == ["Mail", "Maps"] && first?.apps.allSatisfy(\.isReady) == true)
            let generation = try IconCache(at: follower.agent.cache).manifest().generation

            try await follower.agent.whileRunning { _ in
                try await follower.agent.status { $0.upstreams?.first?.state.known == .fresh && $0.icons.ready == 3 }
                // Taking over the same lists again publishes nothing.
                #expect(try IconCache(at: follower.agent.cache).manifest().generation == generation)

                // A list of the same name in the folder wins.
                try follower.drop(["Mail"], as: "b.plist")
                try await follower.agent.status { $0.lists.last?.apps == 1 && $0.icons.ready == 2 }
                try #require(unlink(follower.agent.lists.appending("b.plist").string) == 0)
                try await follower.agent.status { $0.icons.ready == 3 && Self.lists($0) == ["a.plist", "b.plist"] }

                try await Self.export(world, ["a.plist": ["Mail", "Maps", "Clock"]])
                try await follower.agent.status { Self.lists($0) == ["a.plist"] && $0.icons.ready == 3 }

                // The upstream goes: what it had last stays.
                try world.folder.appending("export").move(to: world.folder.appending("away"))
                try await follower.agent.status { $0.upstreams?.first?.state.known != .fresh }
            }
            try await follower.agent.whileRunning { _ in
                try await follower.agent.status { Self.lists($0) == ["a.plist"] && $0.icons.ready == 3 }
            }
            let offline = try await follower.agent.call("status", "--json")
            #expect(offline.output.contains("\"inSync\": true"), "\(offline)")

            // Without the setting, they go as lists that were removed.
            let alone = follower.setting("SYNCAGENT_UPSTREAM_LISTS", "")
            try await alone.agent.whileRunning { _ in
                try await alone.agent.status { $0.lists.isEmpty }
            }
        }
    }

    @Test("only lists that a pattern names are taken over, with their identities and odd names")
    func patterns() async throws {
        try await World.with { world in
            try world.agent.drop(
                """
                <?xml version="1.0" encoding="UTF-8"?><plist version="1.0"><array><dict>
                <key>name</key><string>A &amp; &lt;B&gt; é</string><key>id</key><string>x&amp;1</string>
                <key>icon</key><string>\(world.origin.iconURL("Mail"))?a=1&amp;b=2</string>
                <key>download</key><string>d</string></dict></array></plist>
                """, as: "own & other.plist")
            try world.drop(["Maps"], as: "b.plist")
            #expect(try await world.agent.call("run", "--once").code == 0)
            let export = try await world.agent.call("export", world.folder.appending("export").string)
            #expect(export.code == 0, "\(export)")
            let follower = try Self.follower(world).setting("SYNCAGENT_UPSTREAM_LISTS", "own*.plist")
            #expect(try await follower.agent.call("run", "--once").code == 0)
            let (theirs, ours) = (IconCache(at: world.agent.cache), IconCache(at: follower.agent.cache))
            #expect(try ours.manifest().lists.keys.map(\.text) == ["own & other.plist"])
            #expect(try ours.document(of: "own & other.plist")?.apps == theirs.document(of: "own & other.plist")?.apps)
        }
    }
}
