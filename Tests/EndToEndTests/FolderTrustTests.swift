// SPDX-License-Identifier: Apache-2.0
import Glibc
import IconCache
import SystemPackage
import TestSupport
import Testing

@testable import SyncAgentCLI

@Suite("Folders that an agent cannot trust", .timeLimit(.minutes(15)))
struct FolderTrustTests {
    @Test("a start refuses a cache and a socket folder that others may write to, with exit code 73 and what helps")
    func writable() async throws {
        try await World.with { world in
            try makeFolder(world.agent.cache)
            chmod(world.agent.cache.string, 0o777)
            let refused = try await world.agent.call("run", "--once")
            #expect(refused.code == 73)
            expectContains(refused.messages, "chmod -R go-w \(world.agent.cache)")
            #expect(try files(in: world.agent.cache).isEmpty)

            // The next start trusts a cache for its group alone.
            chmod(world.agent.cache.string, 0o755)
            try world.drop(["Mail"])
            let closed = world.setting("SYNCAGENT_CACHE_MODE", "0750")
            for _ in 0..<2 { #expect(try await closed.agent.call("run", "--once").code == 0) }
            #expect(try world.expectWholeCache() == 1)

            chmod(world.folder.string, 0o777)
            let socket = try await world.agent.call("run")
            #expect(socket.code == 73)
            expectContains(socket.messages, "--socket")
        }
    }

    @Test("a start refuses links out of its folders and files of another kind, with exit code 73, and changes nothing")
    func leadsOut() async throws {
        try await World.with { world in
            try world.drop(["Mail"])
            #expect(try await world.agent.call("run", "--once").code == 0)
            let outside = world.folder.appending("outside")
            let (file, aside) = (outside.appending("file"), world.folder.appending("aside"))
            try makeFolder(outside)
            try #require(link(world.agent.lists.appending("apps.plist").string, file.string) == 0)
            let before = try FileBytes.read(file)
            for name in ["cache/icons", "cache/lock", "state/lock", "state/state.sqlite"] {
                let place = world.folder.pushing(FilePath(name))
                try place.move(to: aside)
                let isFolder = name == "cache/icons"
                let made = isFolder ? symlink(outside.string, place.string) : link(file.string, place.string)
                try #require(made == 0, "\(name)")
                let refused = try await world.agent.call("run", "--once")
                #expect(refused.code == 73, "\(name)")
                expectContains(refused.messages, "\(place) ", "remove it")
                #expect(try files(in: outside) == ["file"] && FileBytes.read(file) == before, "\(name)")
                try #require(unlink(place.string) == 0)
                try await Tool.run("rm", "-rf", aside.string)
                #expect(try await world.agent.call("run", "--once").code == 0, "\(name)")
                #expect(try world.expectWholeCache() == 1, "\(name)")
            }

            let database = world.folder.appending("state").appending("state.sqlite")
            try #require(unlink(database.string) == 0)
            try makeFolder(database)
            let refused = try await world.agent.call("run", "--once")
            #expect(refused.code == 73)
            expectContains(refused.messages, "\(database) is a folder, not a file")
        }
    }
}
