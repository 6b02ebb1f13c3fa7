// SPDX-License-Identifier: Apache-2.0
import Fleet
import FoundationEssentials
import Glibc
import IconCache
import SystemPackage
import TestSupport
import Testing

@testable import SyncAgent

@Suite("An export to a folder")
struct ExportTests {
    @Test("an export has all that the manifest names, the same manifest, and nothing else")
    func whole() async throws {
        try await ExportWorld.with { world in
            try world.publish(1, "a", "b", "c")
            let report = try await world.export()
            #expect(report == Export.Report(generation: 1, icons: 3, lists: 1, bytes: report.bytes))
            let check = UpstreamCheck(world.target)
            #expect(check.damages.isEmpty && check.named.count == 4)
            #expect(world.files == world.named)
            let manifest = CacheLayout.manifest
            #expect(
                try FileBytes.read(world.target.appending(manifest)) == FileBytes.read(world.cache.appending(manifest)))
            #expect(try world.target.appending(manifest).stat().permissions == CacheFolder.imageMode)
        }
    }

    @Test("an export copies nothing when nothing changed, and only what is new when something did")
    func incremental() async throws {
        try await ExportWorld.with { world in
            try world.publish(1, "a", "b")
            try await world.export()
            let before = try world.target.appending(CacheLayout.manifest).stat()
            let again = try await world.export()
            #expect(again == Export.Report(generation: 1, isUnchanged: true))
            #expect(try world.target.appending(CacheLayout.manifest).stat().inode == before.inode)
            try world.publish(2, "a", "c")
            let next = try await world.export()
            #expect(next.icons == 1 && next.lists == 1 && next.unnamed == 2 && !next.isUnchanged)
            #expect(UpstreamCheck(world.target).damages.isEmpty)
        }
    }

    @Test("an export gives each manifest another time in seconds, so that web servers give it another validator")
    func modified() async throws {
        try await ExportWorld.with { world in
            var times: [Int] = []
            for generation in 1...4 {
                try world.publish(generation, "a")
                try await world.export()
                times.append(try world.target.appending(CacheLayout.manifest).stat().st_mtim.tv_sec)
            }
            #expect(Set(times).count == 4 && times == times.sorted())
        }
    }

    @Test("an export replaces files of another size, and with --verify those of other bytes")
    func damaged() async throws {
        try await ExportWorld.with { world in
            try world.publish(1, "aaaa", "bbbb")
            try await world.export()
            let path = world.target.appending(Sample.image("aaaa").path)
            for (text, verifies) in [("aa", false), ("", false), ("aaax", true)] {
                try #require(unlink(path.string) == 0)
                try write(text, to: path)
                #expect(try await world.export(verifies: verifies).icons == 1, "\(text)")
                #expect(UpstreamCheck(world.target).damages.isEmpty, "\(text)")
            }
            #expect(try await world.export(verifies: true).icons == 0)
        }
    }

    @Test("an export replaces a damaged manifest at the target, and refuses one of a later format")
    func damagedManifest() async throws {
        try await ExportWorld.with { world in
            try world.publish(1, "a")
            try await world.export()
            let manifest = world.target.appending(CacheLayout.manifest)
            try #require(unlink(manifest.string) == 0)
            try write("{ \"format\": 1, ", to: manifest)
            try await world.export()
            #expect(UpstreamCheck(world.target).manifest?.generation == 1)
            try #require(unlink(manifest.string) == 0)
            try write("{ \"format\": 2 }", to: manifest)
            await #expect(throws: ExportError.laterFormat(target: world.target.string, format: 2)) {
                try await world.export()
            }
        }
    }

    @Test("an export removes what no export has named for a week, and nothing that was named in between")
    func retirement() async throws {
        try await ExportWorld.with { world in
            let (day, start) = (Duration.seconds(86_400), Sample.time)
            try world.publish(1, "a", "b", "c")
            try await world.export(now: start)
            try world.publish(2, "c")
            #expect(try await world.export(now: start).unnamed == 3)
            try world.publish(3, "b", "c")
            #expect(try await world.export(now: start + day).unnamed == 3)
            try world.publish(4, "c")
            #expect(try await world.export(now: start + day * 6).removed == 0)
            // The first document and its icon; the second document is named once more.
            #expect(try await world.export(now: start + day * 7).removed == 2)
            #expect(!world.files.contains(Sample.image("a").path) && world.files.contains(Sample.image("b").path))
            // The record is lost.
            try #require(unlink(world.target.appending(ExportLayout.record).string) == 0)
            #expect(try await world.export(now: start + day * 20).removed == 0)
            #expect(try await world.export(now: start + day * 27).removed == 2)
            #expect(world.files == world.named)
        }
    }

    @Test("an export writes its signature first, replaces one of another key, and keeps foreign ones")
    func signature() async throws {
        try await ExportWorld.with { world in
            try world.publish(1, "a")
            let manifest = try FileBytes.read(world.cache.appending(CacheLayout.manifest))
            let path = world.target.appending(CacheLayout.signature(.of(manifest)))
            for (text, isSigned) in [("first", true), ("first", false), ("second", true), (nil, false)] {
                let report = try await world.export(signature: text.map { Array($0.utf8) }, keep: .zero)
                #expect(report.isSigned == isSigned)
                #expect(try FileBytes.read(path) == Array((text ?? "second").utf8))
            }
            try world.publish(2, "a")
            try await world.export(signature: [1], keep: .zero)
            #expect(access(path.string, F_OK) != 0)
        }
    }

    @Test("an export is refused without a signature if the target is signed")
    func unsigned() async throws {
        try await ExportWorld.with { world in
            try world.publish(1, "a")
            try await world.export(signature: Array("signature".utf8))
            let before = world.files
            try world.publish(2, "a", "b")
            await #expect(throws: ExportError.unsigned(target: world.target.string)) { try await world.export() }
            #expect(UpstreamCheck(world.target).manifest?.generation == 1 && world.files == before)
            try write("{", to: world.target.appending(CacheLayout.manifest))
            await #expect(throws: ExportError.unsigned(target: world.target.string)) { try await world.export() }
        }
    }

    @Test("an export is refused if the target has a newer one, unless the cache was started anew")
    func order() async throws {
        try await ExportWorld.with { world in
            try world.publish(42, "a", published: Sample.time + .seconds(10))
            try await world.export()
            try world.publish(41, "b")
            await #expect(throws: ExportError.self) { try await world.export() }
            #expect(UpstreamCheck(world.target).manifest?.generation == 42)
            try world.publish(42, "b", published: Sample.time + .seconds(10))
            await #expect(throws: ExportError.self) { try await world.export() }
            try world.publish(1, "b", published: Sample.time + .seconds(11))
            try await world.export()
            #expect(UpstreamCheck(world.target).manifest?.generation == 1)
        }
    }

    @Test("an export publishes nothing if a file of the cache is damaged or missing", arguments: ["b2", "longer", nil])
    func damagedSource(text: String?) async throws {
        try await ExportWorld.with { world in
            try world.publish(1, "a1")
            try await world.export()
            try world.publish(2, "a1", "b1")
            let path = world.cache.appending(Sample.image("b1").path)
            try #require(unlink(path.string) == 0)
            if let text { try write(text, to: path) }
            do {
                try await world.export()
                Issue.record("it was exported")
            } catch ExportError.damagedSource(let damaged, _) {
                #expect(damaged == path.string)
            }
            let check = UpstreamCheck(world.target)
            #expect(check.manifest?.generation == 1 && check.damages.isEmpty)
        }
    }
}
