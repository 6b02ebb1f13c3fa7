// SPDX-License-Identifier: Apache-2.0
import Fleet
import FoundationEssentials
import Glibc
import IconCache
import SystemPackage
import TestSupport
import Testing

@testable import SyncAgent

@Suite("The folder of an export")
struct ExportFolderTests {
    @Test("the folder of an export must be new, empty, or an earlier export")
    func foreign() async throws {
        try await ExportWorld.with { world in
            try world.publish(1, "a")
            try makeFolder(world.target)
            try makeFolder(world.target.appending("lost+found"))
            try await world.export()
            try write("", to: world.target.appending("index.html"))
            try await world.export()
            #expect(world.files.contains("index.html"))

            let other = ExportWorld(cache: world.cache, target: world.cache.removingLastComponent().appending("other"))
            try makeFolder(other.target)
            try write("", to: other.target.appending("index.html"))
            await #expect(throws: ExportError.foreign(other.target)) { try await other.export() }
            #expect(other.files == ["index.html"])
            // Another cache has no mark of an export.
            let cache = ExportWorld(cache: world.cache, target: world.cache.removingLastComponent().appending("cache2"))
            try makeFolder(cache.target)
            try write("", to: cache.target.appending(CacheLayout.tag))
            await #expect(throws: ExportError.foreign(cache.target)) { try await cache.export() }
        }
    }

    @Test(
        "the folder of an export must not be the cache or in it, by whatever name",
        arguments: ["", "new", "icons", "icons/new"])
    func inside(name: String) async throws {
        try await ExportWorld.with { world in
            try world.publish(1, "a")
            let link = world.target
            try #require(symlink(world.cache.string, link.string) == 0)
            let before = try FileManager.default.subpathsOfDirectory(atPath: world.cache.string).sorted()
            for base in [world.cache, link] {
                let path = name.isEmpty ? base : base.appending(name)
                let inside = ExportWorld(cache: world.cache, target: path)
                await #expect(throws: ExportError.insideCache(path, cache: world.cache)) { try await inside.export() }
            }
            #expect(try FileManager.default.subpathsOfDirectory(atPath: world.cache.string).sorted() == before)
        }
    }

    @Test("the folder of an export is used by one export at a time")
    func lock() async throws {
        try await ExportWorld.with { world in
            try world.publish(1, "a")
            let first = try ExportFolder(world.target, apartFrom: world.cache)
            defer { withExtendedLifetime(first) {} }
            let busy = ExportError.busy(target: world.target.string, by: Int(getpid()))
            await #expect(throws: busy) { try await world.export() }
        }
    }

    @Test("the folder of an export is named with the whole path where something of its own cannot be used")
    func own() async throws {
        try await ExportWorld.with { world in
            try world.publish(1, "a")
            let lock = world.target.appending(ExportLayout.own).appending(CacheLayout.lock)
            for folder in [world.target, lock.removingLastComponent(), lock] { try makeFolder(folder) }
            await #expect(throws: FileError("open", lock.string, .isDirectory)) { try await world.export() }
        }
    }

    @Test("links in the folder of an export are reported, not followed or removed, and stop the export")
    func links() async throws {
        try await ExportWorld.with { world in
            try world.publish(1, "a")
            try await world.export()
            try world.publish(2, "a", "b")
            let outside = world.cache.removingLastComponent().appending("outside")
            try write("mine", to: outside)
            let image = Sample.image("b").path
            let path = world.target.appending(image)
            try? FileManager.default.createDirectory(
                atPath: path.removingLastComponent().string, withIntermediateDirectories: true)
            try #require(symlink(outside.string, path.string) == 0)
            let refusal = ExportError.wrongKind(target: world.target.string, path: image, isA: "a symbolic link")
            await #expect(throws: refusal) { try await world.export() }
            #expect(try FileBytes.read(outside) == Array("mine".utf8))
            #expect(UpstreamCheck(world.target).manifest?.generation == 1)
            // One that no manifest names stays, too.
            try world.publish(3, "a")
            try await world.export(keep: .zero)
            #expect(world.files.contains(image))
        }
    }

    @Test(
        "folders in the folder of an export are not replaced by links",
        arguments: ["icons", "lists", ".syncagent-export"])
    func linkedFolder(name: String) async throws {
        try await ExportWorld.with { world in
            try world.publish(1, "a")
            let outside = world.cache.removingLastComponent().appending("outside")
            try makeFolder(outside)
            try makeFolder(world.target)
            if name != ExportLayout.own { try makeFolder(world.target.appending(ExportLayout.own)) }
            try #require(symlink(outside.string, world.target.appending(name).string) == 0)
            await #expect(throws: (any Error).self) { try await world.export() }
            #expect(try FileManager.default.contentsOfDirectory(atPath: outside.string).isEmpty)
        }
    }

    @Test("the folder of an export loses what an interrupted export left incomplete")
    func leftovers() async throws {
        try await ExportWorld.with { world in
            try world.publish(1, "a")
            try await world.export()
            let image = ExportLayout.temporary(Sample.image("b").path)
            let path = world.target.appending(image)
            try? FileManager.default.createDirectory(
                atPath: path.removingLastComponent().string, withIntermediateDirectories: true)
            try write("half", to: path)
            try write("half", to: world.target.appending(ExportLayout.temporary(CacheLayout.manifest)))
            try world.publish(2, "a", "c")
            try await world.export(keep: .zero)
            #expect(world.files == world.named)
        }
    }
}
