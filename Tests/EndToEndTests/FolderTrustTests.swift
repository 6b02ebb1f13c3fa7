// SPDX-License-Identifier: Apache-2.0
import Glibc
import IconCache
import SystemPackage
import TestSupport
import Testing

@testable import SyncAgentCLI

@Suite("An agent and folders that it cannot trust")
struct FolderTrustTests {
    @Test("a cache that others may write to ends the start with 73, and the message says what helps")
    func writable() async throws {
        try await World.with { world in
            try makeFolder(world.agent.cache)
            chmod(world.agent.cache.string, 0o777)
            let refused = try await world.agent.call("run", "--once")
            #expect(refused.code == 73)
            #expect(refused.messages.contains("chmod -R go-w \(world.agent.cache)"), "\(refused.messages)")
            #expect(try files(in: world.agent.cache).isEmpty)
            chmod(world.agent.cache.string, 0o755)
            #expect(try await world.agent.call("run", "--once").code == 0)
        }
    }

    @Test(
        "what leads out of the folders ends the start with 73, and nothing outside changes",
        arguments: ["cache/icons", "cache/lock", "state/lock", "state/state.sqlite"])
    func leadsOut(name: String) async throws {
        try await World.with { world in
            try world.drop(["Mail"])
            #expect(try await world.agent.call("run", "--once").code == 0)
            let folder = world.agent.cache.removingLastComponent()
            let outside = folder.appending("outside")
            try makeFolder(outside)
            let file = outside.appending("file")
            try #require(link(world.agent.lists.appending("apps.plist").string, file.string) == 0)
            let before = try FileBytes.read(file)
            let place = folder.pushing(FilePath(name))
            try #require(rename(place.string, folder.appending("aside").string) == 0)
            let isFolder = name == "cache/icons"
            try #require((isFolder ? symlink(outside.string, place.string) : link(file.string, place.string)) == 0)

            let refused = try await world.agent.call("run", "--once")
            #expect(refused.code == 73)
            #expect(refused.messages.contains("\(place) ") && refused.messages.contains("remove it"))
            #expect(try files(in: outside) == ["file"] && FileBytes.read(file) == before)
            try #require(unlink(place.string) == 0)
            #expect(try await world.agent.call("run", "--once").code == 0)
            #expect(try world.expectWholeCache() == 1)
        }
    }

    @Test("a cache for its group alone is trusted by the next start")
    func groupOnly() async throws {
        try await World.with { world in
            let world = world.setting("SYNCAGENT_CACHE_MODE", "0750")
            try world.drop(["Mail"])
            for _ in 0..<2 { #expect(try await world.agent.call("run", "--once").code == 0) }
            #expect(try world.expectWholeCache() == 1)
        }
    }

    @Test("a socket is not put where others may replace it")
    func socket() async throws {
        try await World.with { world in
            let folder = world.agent.cache.removingLastComponent()
            chmod(folder.string, 0o777)
            let refused = try await world.agent.call("run")
            #expect(refused.code == 73 && refused.messages.contains("--socket"), "\(refused.messages)")
        }
    }
}
