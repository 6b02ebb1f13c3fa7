// SPDX-License-Identifier: Apache-2.0
import DemoOrigin
import Glibc
import IconCache
import SyncPlan
import SystemPackage
import TestSupport
import Testing

@testable import SyncAgentCLI

@Suite("What is on disk is held against the manifest")
struct VerifyTests {
    /// Changes a byte of an icon's image, as a disk that is going bad would.
    private static func damage(_ name: String, in world: World) throws {
        let path = world.agent.cache.appending(CacheLayout.byURL(world.origin.iconURL(name))).string
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
                world.agent.cache.appending(CacheLayout.byURL(world.origin.iconURL(name))).string
            }
            try #require(unlink(byURL("Music")) == 0)
            let result = try await world.agent.call("verify")
            #expect(result.code == 1 && result.output.contains("2 files damaged"), "\(result.output)")
            #expect(result.output.contains("not what was published") && result.output.contains("it is missing"))
            let manifest = world.agent.cache.appending("manifest.json").string
            try #require(chmod(manifest, 0o644) == 0 && truncate(manifest, 10) == 0)
            #expect(try await world.agent.call("verify").code == 1)
        }
    }

    @Test("--repair has damaged images fetched again, with the agent and without", arguments: [true, false])
    func repair(isRunning: Bool) async throws {
        try await World.with { world in
            let world = world.setting("SYNCAGENT_NETWORK_ALLOW", "127.0.0.0/8")
            try world.drop(["Mail", "Maps"])
            try #require(try await world.agent.call("run", "--once").code == 0)
            try Self.damage("Mail", in: world)
            if isRunning {
                try await world.agent.whileRunning { _ in
                    try await world.agent.status { $0.inSync }
                    #expect(try await world.agent.call("verify", "--repair").code == 1)
                    try await world.published(["Mail", "Maps"])
                    #expect(try await world.agent.call("verify").code == 0)
                }
            } else {
                #expect(try await world.agent.call("verify", "--repair").code == 1)
            }
            #expect(try await world.agent.call("verify").code == 0)
            #expect(world.origin.requestCount == 3)
            #expect(try world.expectWholeCache() == 2)
        }
    }
}
