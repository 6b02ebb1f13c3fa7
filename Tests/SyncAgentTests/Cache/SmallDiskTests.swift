// SPDX-License-Identifier: Apache-2.0
import AgentSettings
import AppLists
import DemoOrigin
import Glibc
import HTTPRules
import IconCache
import NIOHTTP1
import SystemPackage
import TestSupport
import Testing

@testable import SyncAgent
@testable import SyncPlan

@Suite("A cache folder on a small file system")
struct SmallDiskTests {
    private func withSmallCache(
        _ options: String, reserve: SpaceReserve = .percent(0), _ body: (CacheFixture) async throws -> Void
    ) async throws {
        try await withTemporaryFolder { folder in
            try await SmallDisk.mounted(options, at: folder) { try await body(CacheFixture(folder, reserve: reserve)) }
        }
    }

    /// Downloads an icon of so many bytes into the cache.
    private func fetch(
        _ bytes: Int, into cache: CacheFixture, saysLength: Bool = true
    ) async throws -> (outcome: FetchOutcome, requests: Int) {
        let url: IconURL = "http://127.0.0.1/icon.png"
        let icon = IconDrawing("Mail", paddedTo: bytes).png()
        let transport = ScriptedTransport([
            url.text: .init(200, saysLength ? ["Content-Length": "\(icon.count)"] : [:], body: icon)
        ])
        var settings = Settings()
        settings.network.allow = [try #require(AddressRange("127.0.0.0/8"))]
        let request = FetchRequest(url: url, source: try IconSource(url), reason: .notCached)
        let end = try await Fetching.run(settings, into: cache.staging, over: transport) { await $0.fetch(request) }
        return (end.outcome, transport.requests.count)
    }

    @Test("the space of a cache folder is that of its file system, in bytes and inodes")
    func space() async throws {
        try await withSmallCache("size=1m,nr_inodes=1000") { cache in
            let space = try #require(cache.folder.space)
            #expect(space.bytes.total == 1 << 20 && space.inodes?.total == 1000)
            try cache.folder.write([UInt8](repeating: 1, count: 8192), to: "file", mode: .ownerReadWrite)
            let after = try #require(cache.folder.space)
            #expect(after.bytes.free == space.bytes.free - 8192)
            #expect(after.inodes?.free == (space.inodes?.free ?? 0) - 1)
        }
    }

    @Test(
        "an image that does not fit above the reserve leaves nothing, and says how large it is",
        arguments: [(100_000, true), (100_000, false), (400_000, true), (400_000, false)])
    func tooLarge(bytes: Int, saysLength: Bool) async throws {
        try await withSmallCache("size=1m", reserve: .percent(5)) { cache in
            // 64 KiB are kept; rounded up to pages, the file leaves less above them than the image takes.
            try cache.folder.write(
                [UInt8](repeating: 1, count: (1 << 20) - (64 << 10) - bytes), to: "file", mode: .ownerReadWrite)
            let (outcome, requests) = try await fetch(bytes, into: cache, saysLength: saysLength)
            guard case .noRoom(let shortage) = outcome else {
                Issue.record("\(outcome)")
                return
            }
            #expect(requests == 1 && shortage.reason.contains(cache.path.string))
            // Where its length is not told beforehand, what is known is how far it came.
            #expect(saysLength ? shortage.bytes == bytes : (1...bytes).contains(shortage.bytes))
            #expect(!saysLength || !shortage.isGeneral && shortage.reason.contains("do not fit"))
            #expect(try cache.names(in: "staging").isEmpty)
            cache.folder.remove("file")
            guard case .image = try await fetch(bytes, into: cache, saysLength: saysLength).outcome else {
                Issue.record("there is room now, and it was not downloaded")
                return
            }
        }
    }

    @Test("no request is sent while free space is below the reserve")
    func belowReserve() async throws {
        try await withSmallCache("size=1m", reserve: .bytes(.mebibytes(1))) { cache in
            let (outcome, requests) = try await fetch(0, into: cache)
            guard case .noRoom(let shortage) = outcome else {
                Issue.record("\(outcome)")
                return
            }
            #expect(requests == 0 && shortage.isGeneral && shortage.reason.contains("cache.minFree (1 MiB)"))
        }
    }

    @Test("a space check reports the free space, and tries only writes that should fit")
    func measure() async throws {
        try await withSmallCache("size=1m") { cache in
            let space = try await cache.staging.measure(trial: 100_000).get()
            #expect(space == cache.folder.space)
            #expect(try await cache.staging.measure(trial: 2 << 20).get() == space)
            #expect(try cache.names(in: "staging").isEmpty)
            // As a quota would, this makes a file impossible for which there is room.
            try #require(rmdir(cache.path.appending("staging").string) == 0)
            let failure = await cache.staging.measure(trial: 100_000)
            #expect(throws: Shortage.self) { try failure.get() }
        }
    }

    @Test("no image is requested for a cache that became read-only, until it can be written again")
    func readOnly() async throws {
        // With so much room, images are kept in memory at first.
        try await withSmallCache("size=512m") { cache in
            try SmallDisk.remount(cache.path, "size=512m", isReadOnly: true)
            let (outcome, requests) = try await fetch(1000, into: cache)
            guard case .noRoom(let shortage) = outcome else {
                Issue.record("\(outcome)")
                return
            }
            #expect(requests == 0 && shortage.code == .outOfResources && shortage.isGeneral)
            #expect(shortage.reason.contains("\(cache.path) is read-only"))
            let space = try await cache.staging.measure(trial: 1000).get()
            #expect(space.shortage(for: 1000, above: .percent(0))?.reason == shortage.reason)
            try SmallDisk.remount(cache.path, "size=512m")
            guard case .image = try await fetch(1000, into: cache).outcome else {
                Issue.record("it can be written now, and was not downloaded")
                return
            }
        }
    }

    @Test("a folder that takes no new files is a shortage of all downloads, and no failure of an icon")
    func noStaging() async throws {
        try await withSmallCache("size=8m") { cache in
            let staging = cache.path.appending("staging").string
            try #require(rmdir(staging) == 0)
            try cache.folder.write("".utf8, to: "staging", mode: .ownerReadWrite)
            let (outcome, requests) = try await fetch(1000, into: cache)
            guard case .noRoom(let shortage) = outcome else {
                Issue.record("\(outcome)")
                return
            }
            #expect(requests == 1 && shortage.code == .outOfResources && shortage.isGeneral)
            #expect(shortage.reason.contains(staging))
            let trial = await cache.staging.measure(trial: 1000)
            let trouble = #expect(throws: Shortage.self) { try trial.get() }
            #expect(trouble?.code == .outOfResources)
            try #require(unlink(staging) == 0)
            guard case .image = try await fetch(1000, into: cache).outcome else {
                Issue.record("files can be created now, and it was not downloaded")
                return
            }
        }
    }

    @Test("a publication without room is undone, and the generation before stays whole")
    func publication() async throws {
        try await withSmallCache("size=1m") { cache in
            let before = try await cache.publish(1, ["http://a/1": "one"])
            let staged = try await cache.stage("two")
            let free = try #require(cache.folder.space).bytes.free
            try cache.folder.write([UInt8](repeating: 1, count: free), to: "file", mode: .ownerReadWrite)
            var publication = Publication(generation: 2, published: Timestamp(sinceEpoch: .seconds(2)))
            publication.moves = [staged]
            publication.kept = before.lists
            guard case .failed(let reason, true) = await cache.publisher.publish(publication) else {
                Issue.record("it was published, or failed for another reason")
                return
            }
            #expect(reason.contains("No space left on device"))
            #expect(try cache.names(in: "staging").isEmpty && cache.names(in: "generations") == ["1.json"])
            #expect(!cache.exists(staged.image.path))
            #expect(try IconCache(at: cache.path).manifest() == before)
        }
    }

    @Test("by-url names that a failed publication set are taken back, those of older images too")
    func names() async throws {
        // On tmpfs each name of a file takes an inode.
        try await withSmallCache("size=1m,nr_inodes=1000") { cache in
            try await cache.publish(1, ["http://a/1": "one"])
            var publication = Publication(generation: 2, published: Timestamp(sinceEpoch: .seconds(2)))
            let before = ["http://a/1": CacheLayout.image(.of("one"), suffix: "png")]
            for (url, text): (IconURL, String) in [
                ("http://a/1", "uno"), ("http://a/2", "two"), ("http://a/3", "three"),
            ] {
                let staged = try await cache.stage(text)
                publication.moves.append(staged)
                publication.links.append((url, staged.image.path, before: before[url.text]))
            }
            // One for the generation, one for the name that is replaced, one for a new name.
            var fillers = try #require(cache.folder.space?.inodes).free - 2
            while fillers > 0 {
                try cache.folder.write([], to: "filler \(fillers)", mode: .ownerReadWrite)
                fillers -= 1
            }
            guard case .failed(_, true) = await cache.publisher.publish(publication) else {
                Issue.record("it was published, or failed for another reason")
                return
            }
            #expect(try FileBytes.read(cache.path.appending(CacheLayout.byURL("http://a/1"))) == Array("one".utf8))
            for url: IconURL in ["http://a/2", "http://a/3"] { #expect(!cache.exists(CacheLayout.byURL(url))) }
            #expect(cache.folder.space?.inodes?.free == 5)
        }
    }

    @Test("however large a trial is asked for, it takes neither the memory for it nor more than a part of the disk")
    func largeTrial() async throws {
        try await withTemporaryFolder { folder in
            let cache = try CacheFixture(folder)
            let before = try #require(try ProcessStatus(of: getpid()).peakMemory)
            _ = await cache.staging.measure(trial: 512 << 20)
            let after = try #require(try ProcessStatus(of: getpid()).peakMemory)
            #expect(after - before < 256 << 10, "in KiB")
            #expect(try cache.names(in: "staging").isEmpty)
        }
    }
}
