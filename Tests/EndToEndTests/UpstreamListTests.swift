// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import Fleet
import Glibc
import IconCache
import Reports
import SystemPackage
import TestSupport
import Testing

@testable import SyncAgentCLI

@Suite("Lists from an upstream", .timeLimit(.minutes(15)), .serialized)
struct UpstreamListTests {
    private static func follower(_ world: World) throws -> World {
        var follower = world
        let own = world.folder.appending("follower")
        follower.agent = AgentProcess(program: BuiltProducts.path("syncagent"), folder: own)
        try makeFolder(own)
        try makeFolder(follower.agent.lists)
        return follower.setting("SYNCAGENT_UPSTREAM_URLS", "file://\(world.folder.appending("export"))")
            .setting("SYNCAGENT_UPSTREAM_FALLBACK", "never").setting("SYNCAGENT_UPSTREAM_POLL", "100ms")
            .setting("SYNCAGENT_UPSTREAM_BREAK_FOR", "100ms").setting("SYNCAGENT_UPSTREAM_BREAK_MAX", "100ms")
            .setting("SYNCAGENT_UPSTREAM_LISTS", "a.plist,b.plist,own*.plist")
    }

    /// Replaces all lists but one, then syncs and exports.
    private static func export(
        _ world: World, _ lists: [String: [String]], keeping other: ListName? = nil
    ) async throws {
        for name in try files(in: world.agent.lists) where lists[name] == nil && name != other?.text {
            try #require(unlink(world.agent.lists.appending(name).string) == 0)
        }
        for (name, apps) in lists { try world.drop(apps, as: name) }
        let names = Set(lists.keys).union(other.map { [$0.text] } ?? [])
        // A list counts as removed only after it was missing for a moment.
        try await world.agent.whileRunning { _ in
            try await world.agent.status { $0.inSync && Set($0.lists.map(\.name.text)) == names }
        }
        let export = try await world.agent.call("export", world.folder.appending("export").string)
        #expect(export.code == 0, "\(export)")
    }

    private static func lists(_ report: StatusReport) -> [String] { report.lists.map(\.name.text) }

    @Test("a follower takes over the lists of its upstream that match a pattern, and keeps their last good version")
    func follow() async throws {
        try await World.with { world in
            try Self.dropOddList(world)
            try await Self.export(
                world, ["a.plist": ["Mail", "Maps"], "b.plist": ["Notes"], "c.plist": ["Clock"]], keeping: Self.odd)
            let follower = try Self.follower(world)
            let once = try await follower.agent.call("run", "--once")
            #expect(once.code == 0, "\(once)")
            let (theirs, ours) = (IconCache(at: world.agent.cache), IconCache(at: follower.agent.cache))
            let first = try ours.document(of: "a.plist")
            #expect(first?.apps.map(\.name) == ["Mail", "Maps"] && first?.apps.allSatisfy(\.isReady) == true)
            #expect(try ours.document(of: Self.odd)?.apps == theirs.document(of: Self.odd)?.apps)
            #expect(try Set(ours.manifest().lists.keys) == ["a.plist", "b.plist", Self.odd])
            let generation = try ours.manifest().generation

            try await follower.agent.whileRunning { _ in
                try await follower.agent.status { $0.upstreams.first?.state.known == .fresh && $0.icons.ready == 4 }
                // Taking over the same lists again publishes nothing.
                #expect(try ours.manifest().generation == generation)

                // A list of the same name in the folder wins.
                try follower.drop(["Mail"], as: "b.plist")
                try await follower.agent.status { $0.lists.dropFirst().first?.apps == 1 && $0.icons.ready == 3 }
                try #require(unlink(follower.agent.lists.appending("b.plist").string) == 0)
                try await follower.agent.status { $0.icons.ready == 4 && $0.lists.count == 3 }

                try await Self.export(world, ["a.plist": ["Mail", "Maps", "Clock"]])
                try await follower.agent.status { Self.lists($0) == ["a.plist"] && $0.icons.ready == 3 }

                // The upstream goes: what it had last stays.
                try world.folder.appending("export").move(to: world.folder.appending("away"))
                try await follower.agent.status { $0.upstreams.first?.state.known != .fresh }
            }
            try await follower.agent.whileRunning { _ in
                try await follower.agent.status { Self.lists($0) == ["a.plist"] && $0.icons.ready == 3 }
            }
            expectContains(try await follower.agent.call("status", "--json").output, "\"inSync\": true")

            // Without the setting, they go as lists that were removed.
            let alone = follower.setting("SYNCAGENT_UPSTREAM_LISTS", "")
            try await alone.agent.whileRunning { _ in
                try await alone.agent.status { $0.lists.isEmpty }
            }
        }
    }

    private static let odd: ListName = "own & other.plist"

    /// Drops a list with names and texts that have to be escaped.
    private static func dropOddList(_ world: World) throws {
        try world.agent.drop(
            """
            <?xml version="1.0" encoding="UTF-8"?><plist version="1.0"><array><dict>
            <key>name</key><string>A &amp; &lt;B&gt; é</string><key>id</key><string>x&amp;1</string>
            <key>icon</key><string>\(world.origin.iconURL("Mail"))?a=1&amp;b=2</string>
            <key>download</key><string>d</string></dict></array></plist>
            """, as: odd.text)
    }
}
