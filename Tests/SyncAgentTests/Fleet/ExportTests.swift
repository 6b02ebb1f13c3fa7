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

    @Test("an export that ends after it put the manifest does not let the next one remove what the manifest names")
    func endedAfterManifest() async throws {
        try await ExportWorld.with { world in
            let week = Duration.seconds(7 * 86_400)
            try world.publish(1, "a", "b")
            try await world.export(now: Sample.time)
            try world.publish(2, "b")
            try await world.export(now: Sample.time)
            try world.publish(3, "a", "b")
            await #expect(throws: CancellationError.self) {
                let source = try ExportSource(IconCache(at: world.cache))
                defer { source.end() }
                let target = SmallTarget(
                    whole: try ExportFolder(world.target, apartFrom: world.cache), endsWithManifest: true)
                _ = try await Export(of: source, signature: nil, keep: week, verifies: false)
                    .run(to: target, at: Sample.time + week / 2)
            }
            try world.publish(4, "b")
            #expect(try await world.export(now: Sample.time + week).removed == 0)
            #expect(world.files.contains(Sample.image("a").path))
        }
    }

    @Test("an export to a full target removes first what is due, but nothing that the target's manifest names")
    func full() async throws {
        try await ExportWorld.with { world in
            let week = Duration.seconds(7 * 86_400)
            func export(room: Int, keep: Duration = week, now: Timestamp) async throws -> Set<String> {
                let source = try ExportSource(IconCache(at: world.cache))
                defer { source.end() }
                let target = SmallTarget(whole: try ExportFolder(world.target, apartFrom: world.cache), room: room)
                let export = Export(of: source, signature: nil, keep: keep, verifies: false)
                do { _ = try await export.run(to: target, at: now) } catch Errno.noSpace {}
                #expect(UpstreamCheck(world.target).damages.isEmpty)
                return Set("abcdefg".map(String.init).filter { world.files.contains(Sample.image($0).path) })
            }
            try world.publish(1, "a", "b")
            #expect(try await export(room: 2, now: Sample.time) == ["a", "b"])
            try world.publish(2, "b", "c")
            #expect(try await export(room: 3, now: Sample.time) == ["a", "b", "c"])
            try world.publish(3, "c", "d")
            #expect(try await export(room: 3, now: Sample.time + (week - .seconds(1))) == ["a", "b", "c"])
            #expect(try await export(room: 3, now: Sample.time + week) == ["b", "c", "d"])
            // The record of an export that could not remove files may list files that its manifest names.
            let record = world.target.appending(ExportLayout.record)
            try #require(unlink(record.string) == 0)
            try write("\(Sample.time) \(Sample.image("c").path)\n", to: record)
            try world.publish(4, "e", "f")
            #expect(try await export(room: 3, keep: .zero, now: Sample.time + week) == ["c", "d"])
            #expect(try await export(room: 4, keep: .zero, now: Sample.time + week) == ["e", "f"])
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

/// A target with room for so many images, or whose exports end early.
private struct SmallTarget: ExportTarget {
    let whole: ExportFolder
    var room = Int.max
    /// Whether exports end once the manifest is there.
    var endsWithManifest = false

    var name: String { whole.name }

    func add(_ files: [ExportFile], from source: ExportSource) throws {
        let present = try whole.contents().sizes.keys.count { ExportFile(path: $0, sha256: .of(""), bytes: 0).isIcon }
        guard present + files.count(where: \.isIcon) <= room else { throw Errno.noSpace }
        try whole.add(files, from: source)
    }

    func contents() throws -> ExportContents { try whole.contents() }
    func read(_ path: String) throws -> [UInt8]? { try whole.read(path) }
    func settle(_ paths: [String]) throws { try whole.settle(paths) }
    func put(_ bytes: [UInt8], at path: String) throws {
        try whole.put(bytes, at: path)
        if endsWithManifest, path == CacheLayout.manifest { throw CancellationError() }
    }
    func remove(_ paths: [String]) throws { try whole.remove(paths) }
    func damaged(among files: [ExportFile], of source: ExportSource) throws -> [ExportFile] {
        try whole.damaged(among: files, of: source)
    }
}
