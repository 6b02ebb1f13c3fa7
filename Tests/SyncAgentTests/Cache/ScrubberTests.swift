// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import Glibc
import HTTPRules
import IconCache
import SyncPlan
import Synchronization
import SystemPackage
import TestSupport
import Testing

@testable import SyncAgent

@Suite("Scrubs of the cache")
struct ScrubberTests {
    /// Runs the body with a cache of four images, each named by a URL that ends in its word.
    private func withCache(_ body: (CacheFixture, Scrubber) async throws -> Void) async throws {
        try await withTemporaryFolder { folder in
            let cache = try CacheFixture(folder)
            try await cache.publish(
                1, ["http://a/one": "one", "http://a/two": "two", "http://a/three": "three", "http://a/four": "four"])
            try await body(
                cache, Scrubber(cache.folder, publisher: cache.publisher, logger: .silent))
        }
    }

    private static func image(_ word: String) -> String { CacheLayout.image(.of(word), suffix: "png") }
    private static func name(_ word: String) -> String { CacheLayout.byURL(IconURL("http://a/\(word)")) }

    /// Puts other bytes in the place of a file.
    private func spoil(_ name: String, in cache: CacheFixture) throws {
        try #require(cache.folder.remove(name) == nil)
        try cache.folder.write("xyz".utf8, to: name, mode: CacheFolder.imageMode)
    }

    @Test("the parts of a scrub together find all damage, each its own")
    func parts() async throws {
        try await withCache { cache, scrubber in
            for word in ["two", "three"] { try spoil(Self.image(word), in: cache) }
            var found: Set<Digest> = []
            for part in 0..<Scrubber.parts {
                let damaged = await scrubber.found(inPart: part)
                #expect(damaged.allSatisfy { Scrubber.part(of: $0) == part })
                found.formUnion(damaged)
            }
            #expect(found == [.of("two"), .of("three")])
        }
    }

    @Test("a scrub of images reported as damaged finds the damaged ones")
    func suspects() async throws {
        try await withCache { cache, scrubber in
            for word in ["two", "three"] { try spoil(Self.image(word), in: cache) }
            #expect(await scrubber.found(among: [.of("one"), .of("two"), .of("nothing of the cache")]) == [.of("two")])
            #expect(await scrubber.found(among: [.of("one"), .of("four")]).isEmpty)
        }
    }

    @Test("an image of an absurd length is damaged, and is not read")
    func sparse() async throws {
        try await withCache { cache, scrubber in
            let path = cache.path.appending(Self.image("two")).string
            try #require(chmod(path, 0o644) == 0 && truncate(path, 1 << 40) == 0)
            #expect(await scrubber.found(among: [.of("one"), .of("two")]) == [.of("two")])
            let found = try await Verification.run(IconCache(at: cache.path)) { _ in }
            #expect(found.damage.map(\.reason) == ["it has 1,099,511,627,776 bytes instead of 3"])
        }
    }

    @Test(
        "a wrong name of a whole image is suspicious, and no damage",
        arguments: [nil, "by-url name leads elsewhere", "no by-url name", "nothing but the by-url name"])
    func names(flaw: String?) async throws {
        try await withCache { cache, scrubber in
            switch flaw {
            case "by-url name leads elsewhere": try spoil(Self.name("one"), in: cache)
            case "no by-url name": try #require(cache.folder.remove(Self.name("one")) == nil)
            case "nothing but the by-url name": try #require(cache.folder.remove(Self.image("one")) == nil)
            default: break
            }
            let isSuspicious = await scrubber.read([.of("one")]) { Issue.record("\($0) is taken for damaged") }
            #expect(isSuspicious == (flaw != nil))
        }
    }

    @Test("an image that cannot be read is not taken for damaged, one that is gone is lost")
    func unreadable() async throws {
        try await withCache { cache, scrubber in
            try #require(cache.folder.remove(Self.image("one")) == nil)
            // A folder in its place cannot be read.
            try cache.folder.makeFolder(Self.image("one"), mode: .ownerReadWriteExecute)
            for name in [Self.image("two"), Self.name("two")] { try #require(cache.folder.remove(name) == nil) }
            #expect(await scrubber.found(among: [.of("one"), .of("two")]) == [.of("two")])
        }
    }

    @Test("a damaged document of one list hides no damage of others")
    func documents() async throws {
        try await withCache { cache, scrubber in
            let manifest = try await cache.publish(2, ["http://a/five": "five"], list: "other.plist")
            try spoil(#require(manifest.lists["other.plist"]).document, in: cache)
            try spoil(Self.image("two"), in: cache)
            #expect(await scrubber.found(among: [.of("two")]) == [.of("two")])
        }
    }

    @Test("damage is reported soon, without files that were repaired meanwhile")
    func soon() async throws {
        try await withTemporaryFolder { folder in
            let cache = try CacheFixture(folder)
            let words = (0..<200).map { "icon \($0)" }
            var publication = Publication(generation: 1, published: Timestamp(sinceEpoch: .seconds(1)))
            for word in words { publication.moves.append(try await cache.stage(word)) }
            publication.documents = [
                AppListDocument(
                    list: "apps.plist",
                    source: .init(sha256: .of("1"), bytes: 1, modified: Timestamp(sinceEpoch: .seconds(1))),
                    apps: publication.moves.map {
                        .init(
                            name: nil, icon: IconURL("http://a/\($0.image.sha256)"), download: nil,
                            state: .ready($0.image))
                    })
            ]
            guard case .published = await cache.publisher.publish(publication) else {
                Issue.record("it was not published")
                return
            }
            for word in words { cache.folder.remove(Self.image(word)) }
            let scrubber = Scrubber(cache.folder, publisher: cache.publisher, logger: .silent)
            let told = Mutex<[Set<Digest>]>([])
            _ = await scrubber.read(Set(words.map(Digest.of))) { lost in
                let number = told.withLock { told in
                    told.append(lost)
                    return told.count
                }
                guard number == 1 else { return }
                // The rest comes back before it is read.
                for word in words where !lost.contains(.of(word)) {
                    try? cache.folder.write(word.utf8, to: Self.image(word), mode: CacheFolder.imageMode)
                }
            }
            let found = told.withLock(\.self)
            #expect(found.count == 1 && found.allSatisfy { $0.count < 100 })
            let one = CacheFixture.image(words[0])
            try? cache.folder.write(words[0].utf8, to: one.path, mode: CacheFolder.imageMode)
            #expect(await cache.publisher.damaged(among: [one]).isEmpty)
        }
    }

    @Test("a cache without a manifest has no damage")
    func empty() async throws {
        try await withTemporaryFolder { folder in
            let cache = try CacheFixture(folder)
            let scrubber = Scrubber(cache.folder, publisher: cache.publisher, logger: .silent)
            #expect(await scrubber.found(among: [.of("one")]).isEmpty)
        }
    }
}

extension Scrubber {
    fileprivate func found(inPart part: Int) async -> Set<Digest> {
        let found = Mutex<Set<Digest>>([])
        _ = await scrub(part: part) { lost in found.withLock { $0.formUnion(lost) } }
        return found.withLock(\.self)
    }

    fileprivate func found(among images: Set<Digest>) async -> Set<Digest> {
        let found = Mutex<Set<Digest>>([])
        _ = await read(images) { lost in found.withLock { $0.formUnion(lost) } }
        return found.withLock(\.self)
    }
}
