// SPDX-License-Identifier: Apache-2.0
import DemoOrigin
import Glibc
import IconCache
import Reports
import SyncPlan
import SystemPackage
import TestSupport
import Testing

@testable import SyncAgentCLI

@Suite("What is on disk is held against the manifest")
struct VerifyTests {
    /// Changes a byte of an icon's image, as a disk that is going bad would.
    private static func damage(_ name: String, in world: World) throws {
        let path = world.agent.cache.appending(CacheLayout.byURL(IconURL(world.origin.iconURL(name)))).string
        try #require(chmod(path, 0o644) == 0)
        let file = open(path, O_WRONLY)
        defer { close(file) }
        try #require(file >= 0 && pwrite(file, "!", 1, 20) == 1)
    }

    @Test("a cache that is whole, and one that nobody may write to")
    func whole() async throws {
        try await World.with { world in
            try world.drop(["Mail", "Maps"])
            #expect(try await world.agent.call("verify").code == 1)
            try #require(try await world.agent.call("run", "--once").code == 0)
            let result = try await world.agent.call("verify")
            #expect(result.code == 0 && result.output.contains("2 images") && result.output.contains("0 files damaged"))
            let json = try await world.agent.call("verify", "--json")
            #expect(json.output.contains("\"images\": 2") && json.output.contains("\"damage\": []"), "\(json.output)")
        }
    }

    @Test("damaged, missing and swapped files are named")
    func damaged() async throws {
        try await World.with { world in
            try world.drop(["Mail", "Maps", "Music"])
            try #require(try await world.agent.call("run", "--once").code == 0)
            try Self.damage("Mail", in: world)
            let byURL = { (name: String) in
                world.agent.cache.appending(CacheLayout.byURL(IconURL(world.origin.iconURL(name)))).string
            }
            try #require(unlink(byURL("Music")) == 0)
            let result = try await world.agent.call("verify")
            #expect(result.code == 1 && result.output.contains("2 files damaged"), "\(result.output)")
            #expect(result.output.contains("its digest does not match") && result.output.contains("it is missing"))
            let manifest = world.agent.cache.appending("manifest.json").string
            try #require(chmod(manifest, 0o644) == 0 && truncate(manifest, 10) == 0)
            #expect(try await world.agent.call("verify").code == 1)
        }
    }

    @Test("--repair has the agent fetch damaged images again")
    func repair() async throws {
        try await World.with { world in
            try world.drop(["Mail", "Maps"])
            try #require(try await world.agent.call("run", "--once").code == 0)
            try Self.damage("Mail", in: world)
            try await world.agent.whileRunning { _ in
                try await world.agent.status { $0.inSync }
                let repair = try await world.agent.call("verify", "--repair")
                #expect(
                    repair.code == 1
                        && repair.messages.hasPrefix(
                            "syncagent: The agent is repairing 1 file. Verify again with: syncagent verify --")
                )
                try await world.published(["Mail", "Maps"])
                #expect(try await world.agent.call("verify").code == 0)
                let elsewhere = world.folder.appending("other.sock").string
                try Self.damage("Maps", in: world)
                let refused = try await world.agent.call("verify", "--repair", "--socket", elsewhere)
                #expect(refused.code == 75 && refused.messages.contains("no process listens at \(elsewhere)"))
                #expect(try await world.agent.call("verify", "--repair").code == 1)
                try await world.published(["Mail", "Maps"])
            }
            #expect(world.origin.requestCount == 4)
            #expect(try world.expectWholeCache() == 2)
        }
    }

    @Test("--repair without an agent downloads nothing, and leaves nothing less ready than it was")
    func repairAlone() async throws {
        try await World.with { world in
            try world.drop(["Mail", "Maps", "Music", "Notes"])
            try #require(try await world.agent.call("run", "--once").code == 0)
            let before = try await world.agent.call("list", "apps.plist").output
            try Self.damage("Mail", in: world)
            let document = try #require(try IconCache(at: world.agent.cache).document(of: "apps.plist"))
            guard case .ready(let maps) = document.apps[1].state else { return #expect(Bool(false), "not ready") }
            try #require(unlink(world.agent.cache.appending(maps.path).string) == 0)
            let music = world.agent.cache.appending(CacheLayout.byURL(IconURL(world.origin.iconURL("Music")))).string
            try #require(unlink(music) == 0)

            let repair = try await world.agent.call("verify", "--repair")
            #expect(
                repair.code == 1
                    && repair.output.hasSuffix("4 images (\(Self.size(document))) verified, 3 files damaged\n"))
            #expect(
                repair.messages == """
                    syncagent: 2 of 3 damaged files repaired.
                    syncagent: 1 image must be downloaded or rendered again: start the agent, then run syncagent verify --repair again.

                    """)
            #expect(try await world.agent.call("list", "apps.plist").output == before)
            #expect(world.origin.requestCount == 4)
            let left = try await world.agent.call("verify")
            #expect(left.code == 1 && left.output.contains("its digest does not match"), "\(left.output)")
            try await world.agent.whileRunning { _ in
                try await world.agent.status { $0.inSync }
                #expect(try await world.agent.call("verify", "--repair").code == 1)
                try await world.published(["Mail", "Maps", "Music", "Notes"])
            }
            #expect(try await world.agent.call("verify").code == 0)
            #expect(world.origin.requestCount == 5)
        }
    }

    private static func size(_ document: AppListDocument) -> String {
        let bytes = document.apps.reduce(0) { sum, app in
            guard case .ready(let image) = app.state else { return sum }
            return sum + image.bytes
        }
        return ByteCount(bytes).rounded
    }
}
