// SPDX-License-Identifier: Apache-2.0
import Glibc
import Reports
import Subprocess
import SyncPlan
import SystemPackage
import TestSupport
import Testing

@testable import SyncAgentCLI

@Suite("Lists folders that move", .timeLimit(.minutes(15)), .serialized)
struct LinkedFolderTests {
    private func link(_ world: World, to target: FilePath) throws {
        let temporary = world.folder.appending("link").string
        try #require(symlink(target.string, temporary) == 0)
        try #require(rename(temporary, world.agent.lists.string) == 0)
    }

    @Test("a lists folder that is a link is read and watched where the link leads, also after it led nowhere")
    func pointed() async throws {
        try await World.with { world in
            let world = world.setting("SYNCAGENT_LISTS_RESCAN", "1h")
            let folders = ["one", "two"].map { world.folder.appending($0) }
            for folder in folders { try makeFolder(folder) }
            try #require(rmdir(world.agent.lists.string) == 0)
            try #require(symlink(folders[0].string, world.agent.lists.string) == 0)
            try await world.agent.whileRunning { _ in
                try await world.agent.status { $0.watch.isEstablished && $0.watch.lastScan != nil }
                try world.drop(["Mail"])
                try await world.published(["Mail"])
                for round in 1..<3 {
                    try link(world, to: folders[round % 2])
                    try world.drop(["Mail", "icon-\(round)"])
                    try await world.published(["Mail", "icon-\(round)"])
                    try world.drop(["icon-\(round)"])
                    try await world.published(["icon-\(round)"])
                }
                try await world.agent.status { $0.watch.isEstablished }

                let nowhere = world.folder.appending("nowhere")
                try link(world, to: nowhere)
                try await world.agent.status { $0.eviction.reason?.contains("No such file") ?? false }
                try makeFolder(nowhere)
                try world.drop(["Maps"])
                try await world.published(["Maps"])
                #expect(try await world.agent.status { $0.watch.isEstablished }.eviction == .active)
            }
        }
    }

    @Test(
        "lists of an image that is mounted in the place of another one are read, though their times and sizes are the same",
        .enabled(if: geteuid() == 0 && Tool.areInstalled("mksquashfs"), "it needs root and mksquashfs"))
    func image() async throws {
        try await World.with { world in
            let world = world.setting("SYNCAGENT_LISTS_RESCAN", "1h")
            for name in ["Mail", "Maps"] {
                let contents = world.folder.appending(name)
                try makeFolder(contents)
                try write(propertyList([("App", world.origin.iconURL(name))]), to: contents.appending("apps.plist"))
                try await Tool.run(
                    "mksquashfs", contents.string, "\(contents).image", "-quiet", "-no-progress", "-all-time", "0",
                    "-mkfs-time", "0")
            }
            @Sendable func mount(_ name: String) async throws {
                let image = world.folder.appending("\(name).image")
                try await Tool.run("mount", "-o", "loop,ro", image.string, world.agent.lists.string)
            }
            @Sendable func unmount() { umount2(world.agent.lists.string, Int32(MNT_DETACH)) }
            do {
                try await mount("Mail")
            } catch let failure as Tool.Failure {
                return print("Skipped: no squashfs: \(failure)")
            }
            defer { unmount() }
            try await world.agent.whileRunning { _ in
                try await world.published(["Mail"])
                unmount()
                try await mount("Maps")
                try await world.published(["Maps"])
            }
        }
    }

    @Test("a lists folder is read and watched anew after a folder above it was renamed, which no event reports")
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
            try await agent.agent.whileRunning { _ in
                try await agent.agent.status { $0.watch.isEstablished && $0.watch.lastScan != nil }
                try #require(rename(parent.string, world.folder.appending("aside").string) == 0)
                try #require(rename(other.string, parent.string) == 0)
                try agent.drop(["Mail"])
                try await agent.published(["Mail"])
                // This one only the watcher can tell.
                try agent.drop(["Maps"])
                try await agent.published(["Maps"])
            }
        }
    }
}
