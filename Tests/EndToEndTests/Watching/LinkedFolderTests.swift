// SPDX-License-Identifier: Apache-2.0
import DemoOrigin
import Glibc
import Reports
import Subprocess
import SyncPlan
import SystemPackage
import TestSupport
import Testing

@testable import SyncAgentCLI

@Suite("A lists folder that is a symbolic link", .serialized)
struct LinkedFolderTests {
    /// Runs the body with an agent whose lists folder is a link to the first of two folders, which it watches.
    private func withLink(_ body: @escaping @Sendable (World, [FilePath]) async throws -> Void) async throws {
        try await World.with { world in
            let world = world.setting("SYNCAGENT_LISTS_RESCAN", "1h")
            let folders = ["one", "two"].map { world.folder.appending($0) }
            for folder in folders { try makeFolder(folder) }
            try #require(rmdir(world.agent.lists.string) == 0)
            try #require(symlink(folders[0].string, world.agent.lists.string) == 0)
            try await world.agent.whileRunning { _ in
                try await world.agent.status { $0.watch.isEstablished && $0.watch.lastScan != nil }
                try await body(world, folders)
            }
        }
    }

    private func link(_ world: World, to target: FilePath) throws {
        let temporary = world.folder.appending("link").string
        try #require(symlink(target.string, temporary) == 0)
        try #require(rename(temporary, world.agent.lists.string) == 0)
    }

    @Test("that is pointed elsewhere is read and watched there, long before the next rescan")
    func pointed() async throws {
        try await withLink { world, folders in
            try world.drop(["Mail"])
            try await world.published(["Mail"])
            for round in 1..<4 {
                try link(world, to: folders[round % 2])
                try world.drop(["Mail", "icon-\(round)"])
                try await world.published(["Mail", "icon-\(round)"])
                try world.drop(["icon-\(round)"])
                try await world.published(["icon-\(round)"])
            }
            try await world.agent.status { $0.watch.isEstablished }
        }
    }

    @Test("that leads nowhere is noticed, and so is what it leads to later")
    func dangling() async throws {
        try await withLink { world, folders in
            try world.drop(["Mail"])
            try await world.published(["Mail"])
            try link(world, to: world.folder.appending("nowhere"))
            try await world.agent.status { $0.eviction.reason?.contains("No such file") ?? false }
            try makeFolder(world.folder.appending("nowhere"))
            try world.drop(["Maps"])
            try await world.published(["Maps"])
            #expect(try await world.agent.status { $0.watch.isEstablished }.eviction == .active)
        }
    }

    @Test("a folder above that is renamed is noticed by the next look, and watched from then on")
    func parent() async throws {
        try await World.with { world in
            let world = world.setting("SYNCAGENT_LISTS_RESCAN", "1h")
            let (parent, other) = (world.folder.appending("parent"), world.folder.appending("other"))
            for folder in [parent, other] {
                try makeFolder(folder)
                try makeFolder(folder.appending("lists"))
            }
            var moved = world
            moved.agent.lists = parent.appending("lists")
            let agent = moved
            try await agent.agent.whileRunning { process in
                try await agent.agent.status { $0.watch.isEstablished && $0.watch.lastScan != nil }
                try #require(rename(parent.string, world.folder.appending("aside").string) == 0)
                try #require(rename(other.string, parent.string) == 0)
                try agent.drop(["Mail"])
                try #require(kill(process.value, SIGHUP) == 0)
                try await agent.published(["Mail"])
                // This one only the watcher can tell.
                try agent.drop(["Maps"])
                try await agent.published(["Maps"])
            }
        }
    }
}
