// SPDX-License-Identifier: Apache-2.0
import IconCache
import SyncPlan
import SystemPackage
import TestSupport
import Testing

@testable import SyncAgent

@Suite("Images in memory")
struct HeldImagesTests {
    @Test("are given away once, and never more of them than the limit")
    func limit() {
        let held = HeldImages()
        let half = [UInt8](repeating: 1, count: HeldImages.limit / 2)
        #expect(held.hold(half, as: "1") && held.hold(half, as: "2") && !held.hold([1], as: "3"))
        #expect(held.take("1") == half && held.take("1") == nil && held.take("3") == nil)
        #expect(held.hold([1], as: "3"))
        held.close()
        #expect(!held.hold([1], as: "4") && held.take("3") == [1])
    }

    @Test("are in no file until they are published, and then in one, whatever has its name", arguments: [true, false])
    func published(isHeld: Bool) async throws {
        try await withTemporaryFolder { path in
            let cache = try CacheFixture(path, holdsImages: isHeld)
            let staged = try await cache.stage("one")
            #expect(try cache.names(in: "staging").isEmpty == isHeld)
            try cache.folder.write(Array("stray".utf8), to: staged.image.path, mode: .ownerReadWrite)
            try await cache.publish(1, ["http://a/1": "one"])
            await cache.staging.discard([staged.name])
            #expect(try FileBytes.read(path.pushing(FilePath(staged.image.path))) == Array("one".utf8))
            #expect(try cache.folder.entry(staged.image.path)?.isOwn == true)
            #expect(try cache.names(in: "staging").isEmpty && cache.held.take(staged.name) == nil)
        }
    }

    @Test("go to files where there is not room for many of them")
    func scarce() async throws {
        try await withTemporaryFolder { path in
            let space = try #require(try CacheFixture(path).folder.space?.bytes)
            let reserve = SpaceReserve.bytes(ByteCount(space.free - HeldImages.limit))
            let cache = try CacheFixture(path, reserve: reserve, holdsImages: true)
            let staged = try await cache.stage("one")
            #expect(try cache.names(in: "staging") == [staged.name])
        }
    }

    @Test("are forgotten with the publication that fails")
    func failed() async throws {
        try await withTemporaryFolder { path in
            let cache = try CacheFixture(path, holdsImages: true)
            let staged = [try await cache.stage("one"), try await cache.stage("two")]
            let missing = StagedImage(name: "none", image: CacheFixture.image("three"))
            var publication = Publication(generation: 1, published: Timestamp(sinceEpoch: .seconds(1)))
            publication.moves = [staged[0], missing, staged[1]]
            guard case .failed = await cache.publisher.publish(publication) else {
                Issue.record("it was published")
                return
            }
            #expect(staged.allSatisfy { cache.held.take($0.name) == nil && !cache.exists($0.image.path) })
        }
    }
}
