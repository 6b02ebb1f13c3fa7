// SPDX-License-Identifier: Apache-2.0
import Glibc
import HTTPRules
import IconCache
import SystemPackage
import TestSupport
import Testing

@testable import SyncAgent
@testable import SyncPlan

@Suite("Publication")
struct PublisherTests {
    @Test("a published generation has its images, names and documents in place, and nothing is left in staging")
    func publish() async throws {
        try await withTemporaryFolder { path in
            let cache = try CacheFixture(path)
            let manifest = try await cache.publish(1, ["http://a/1": "one", "http://a/2": "two"])
            #expect(try Manifest(json: FileBytes.read(path.appending("manifest.json"))) == manifest)
            let document = try #require(manifest.lists["apps.plist"])
            #expect(Digest.of(try FileBytes.read(path.pushing(FilePath(document.document)))) == document.sha256)
            for (url, text): (IconURL, String) in [("http://a/1", "one"), ("http://a/2", "two")] {
                let image = CacheLayout.image(.of(text), suffix: "png")
                #expect(try FileBytes.read(path.pushing(FilePath(image))) == Array(text.utf8))
                #expect(try cache.folder.entry(image)?.inode == cache.folder.entry(CacheLayout.byURL(url))?.inode)
            }
            #expect(try cache.folder.entry("manifest.json")?.inode == cache.folder.entry("generations/1.json")?.inode)
            #expect(try cache.names(in: "staging").isEmpty)
        }
    }

    @Test("a URL whose image changes gets its name moved, and the old image stays")
    func changedImage() async throws {
        try await withTemporaryFolder { path in
            let cache = try CacheFixture(path)
            try await cache.publish(1, ["http://a/1": "one"])
            try await cache.publish(2, ["http://a/1": "another"])
            #expect(try FileBytes.read(path.appending(CacheLayout.byURL("http://a/1"))) == Array("another".utf8))
            #expect(cache.exists(CacheLayout.image(.of("one"), suffix: "png")))
            #expect(cache.exists("generations/1.json"))
        }
    }

    @Test("a publication that fails takes back what it put in place, and the manifest stays")
    func failure() async throws {
        try await withTemporaryFolder { path in
            let cache = try CacheFixture(path)
            let before = try await cache.publish(1, ["http://a/1": "one"])
            var publication = Publication(generation: 2, published: Timestamp(sinceEpoch: .seconds(2)))
            publication.moves = [
                try await cache.stage("two"), StagedImage(name: "none", image: try await cache.stage("three").image),
            ]
            let refusal = try #require(await cache.publisher.publish(publication).refusal)
            #expect(refusal.reason.contains("staging/none") && refusal.lost == ["none"])
            // It waits there for the next publication.
            #expect(cache.exists(CacheLayout.image(.of("two"), suffix: "png")))
            #expect(!cache.exists("generations/2.json"))
            #expect(try Manifest(json: FileBytes.read(path.appending("manifest.json"))) == before)
        }
    }

    @Test("by-url names are restored if the manifest cannot be replaced")
    func namesTakenBack() async throws {
        try await withTemporaryFolder { path in
            let cache = try CacheFixture(path)
            try await cache.publish(1, ["http://a/1": "one"])
            cache.folder.remove("manifest.json")
            try cache.folder.makeFolder("manifest.json", mode: .ownerReadWriteExecute)
            try cache.folder.write([], to: "manifest.json/file", mode: .ownerReadWrite)
            var publication = Publication(generation: 2, published: Timestamp(sinceEpoch: .seconds(2)))
            publication.moves = [try await cache.stage("two"), try await cache.stage("three")]
            publication.links = [
                ("http://a/1", publication.moves[0].image.path, before: CacheLayout.image(.of("one"), suffix: "png")),
                ("http://a/2", publication.moves[1].image.path, before: nil),
            ]
            let refusal = try #require(await cache.publisher.publish(publication).refusal)
            #expect(refusal.reason.contains("Directory not empty") && refusal.lost.isEmpty)
            #expect(try FileBytes.read(path.appending(CacheLayout.byURL("http://a/1"))) == Array("one".utf8))
            #expect(!cache.exists(CacheLayout.byURL("http://a/2")))
            for word in ["two", "three"] { #expect(cache.exists(CacheLayout.image(.of(word), suffix: "png"))) }
            #expect(try cache.names(in: "staging").isEmpty && cache.names(in: "generations") == ["1.json"])
        }
    }

    @Test("a publication waits until the leftovers of a failed one are removed")
    func leftovers() async throws {
        try await withTemporaryFolder { path in
            let cache = try CacheFixture(path)
            var publication = Publication(generation: 1, published: Timestamp(sinceEpoch: .seconds(1)))
            publication.moves = [StagedImage(name: "none", image: try await cache.stage("one").image)]
            publication.discards = [StagedImage(name: "full", image: publication.moves[0].image)]
            try cache.folder.makeFolder("staging/full", mode: .ownerReadWriteExecute)
            try cache.folder.write("text".utf8, to: "staging/full/file", mode: .ownerReadWrite)
            for reason in ["staging/none", "staging/full"] {
                let refusal = try #require(await cache.publisher.publish(publication).refusal)
                #expect(refusal.reason.contains(reason))
                publication.moves = []
            }
            cache.folder.remove("staging/full/file")
            try await cache.publish(2, ["http://a/1": "one"])
            #expect(!cache.exists("staging/full"))
        }
    }

    @Test("a publication that would name a missing or damaged image writes nothing")
    func checks() async throws {
        try await withTemporaryFolder { path in
            let cache = try CacheFixture(path)
            let before = try await cache.publish(1, ["http://a/1": "one", "http://a/2": "two"])
            let two = CacheLayout.image(.of("two"), suffix: "png")
            let flaws: [(String, (String) throws -> Void)] = [
                ("missing", { cache.folder.remove($0) }),
                ("damaged", { try cache.folder.write("tw".utf8, to: $0, mode: .ownerRead) }),
            ]
            for (word, spoil) in flaws {
                try spoil(two)
                var publication = Publication(generation: 2, published: Timestamp(sinceEpoch: .seconds(2)))
                publication.checks = Set(["one", "two"].map(CacheFixture.image))
                publication.moves = [try await cache.stage("three")]
                publication.discards = [try await cache.stage("one")]
                let refusal = try #require(await cache.publisher.publish(publication).refusal)
                #expect(refusal.lost.isEmpty && refusal.unplaced.isEmpty)
                #expect(refusal.reason.contains(two) && refusal.reason.contains(word), "\(refusal.reason)")
                #expect(cache.exists(StagingPath.of(publication.moves[0].name)))
                #expect(try cache.names(in: "generations") == ["1.json"])
                #expect(!cache.exists(CacheLayout.image(.of("three"), suffix: "png")))
                #expect(try IconCache(at: path).manifest() == before)
            }
        }
    }

    @Test("a failed publication leaves no file in the place of a damaged one: the download is lost")
    func replacedInVain() async throws {
        try await withTemporaryFolder { path in
            let cache = try CacheFixture(path)
            try await cache.publish(1, ["http://a/1": "one"])
            let one = CacheFixture.image("one")
            cache.folder.remove(one.path)
            try cache.folder.makeFolder(CacheLayout.byURL("http://a/2"), mode: .ownerReadWriteExecute)
            try cache.folder.write("text".utf8, to: CacheLayout.byURL("http://a/2") + "/file", mode: .ownerReadWrite)
            var publication = Publication(generation: 2, published: Timestamp(sinceEpoch: .seconds(2)))
            publication.moves = [try await cache.stage("two")]
            publication.discards = [try await cache.stage("one")]
            publication.links = [("http://a/2", publication.moves[0].image.path, before: nil)]
            let refusal = try #require(await cache.publisher.publish(publication).refusal)
            #expect(refusal.lost == [publication.discards[0].name] && refusal.unnamed == ["http://a/2"])
            #expect(!cache.exists(one.path) && cache.exists(publication.moves[0].image.path))
            #expect(try cache.names(in: "staging").isEmpty)
        }
    }

    @Test("a download of bytes that are on disk takes the place of a file that is damaged or gone, and of no other")
    func discards() async throws {
        try await withTemporaryFolder { path in
            let cache = try CacheFixture(path)
            try await cache.publish(1, ["http://a/1": "one", "http://a/2": "two", "http://a/3": "three"])
            let images = ["one", "two", "three"].map { CacheLayout.image(.of($0), suffix: "png") }
            cache.folder.remove(images[1])
            cache.folder.remove(images[2])
            try cache.folder.write("THREE".utf8, to: images[2], mode: CacheFolder.imageMode)
            let inode = try cache.folder.entry(images[0])?.inode
            var publication = Publication(generation: 2, published: Timestamp(sinceEpoch: .seconds(2)))
            for word in ["one", "two", "three", "three"] { publication.discards.append(try await cache.stage(word)) }
            guard case .published(_, let written, nil) = await cache.publisher.publish(publication) else {
                Issue.record("it was not published")
                return
            }
            #expect(written.replaced == [.of("two"), .of("three")])
            #expect(try cache.folder.entry(images[0])?.inode == inode && cache.names(in: "staging").isEmpty)
            for (word, image) in zip(["one", "two", "three"], images) {
                #expect(try cache.folder.read(image) == Array(word.utf8))
            }
        }
    }

    @Test("a generation that is leased stays, and one that is not goes")
    func lease() async throws {
        try await withTemporaryFolder { path in
            let cache = try CacheFixture(path)
            try await cache.publish(1, ["http://a/1": "one"])
            let snapshot = try IconCache(at: path).snapshot()
            try await cache.publish(2, ["http://a/1": "two"])
            try await cache.publish(3, ["http://a/1": "three"])
            let first = await cache.evictor.release([1, 2].map { GenerationRelease(generation: $0) })
            #expect(first.removed == [2] && first.kept == [1])
            #expect(try snapshot.document(of: "apps.plist") != nil)
            snapshot.end()
            let second = await cache.evictor.release([GenerationRelease(generation: 1)])
            #expect(second.removed == [1] && second.kept.isEmpty)
        }
    }
}

@Suite("Removal of retired files")
struct EvictorTests {
    @Test("only files that are still damaged are removed")
    func damage() async throws {
        try await withTemporaryFolder { folder in
            let cache = try CacheFixture(folder)
            try await cache.publish(1, ["http://a/one": "one", "http://a/two": "two", "http://a/three": "three"])
            let two = CacheLayout.image(.of("two"), suffix: "png")
            cache.folder.remove(two)
            try cache.folder.write("TWO".utf8, to: two, mode: CacheFolder.imageMode)
            // Nobody can say what this one is.
            let three = CacheLayout.image(.of("three"), suffix: "png")
            cache.folder.remove(three)
            var plan = RetirementPlan()
            plan.isOfDamage = true
            plan.urls = ["http://a/one", "http://a/two"]
            plan.images = Set(["one", "two", "three"].map(CacheFixture.image))
            let odd = AppListDocument.Image(
                path: "icons/00/" + String(repeating: "x", count: 300), sha256: .of("x"), bytes: 1, type: "image/png",
                width: 1, height: 1)
            plan.images.insert(odd)
            #expect(await cache.evictor.remove(plan).images == [odd])
            #expect(cache.exists(CacheLayout.image(.of("one"), suffix: "png")) && !cache.exists(two))
            #expect(cache.exists(CacheLayout.byURL("http://a/one")) && !cache.exists(CacheLayout.byURL("http://a/two")))
        }
    }

    @Test("a generation that cannot be removed is told each time, and logged once")
    func unremovable() async throws {
        try await withTemporaryFolder { folder in
            let cache = try CacheFixture(folder)
            let log = RecordedLog()
            let evictor = Evictor(
                cache.folder, thread: FileThread("tests"), logger: log.logger)
            let name = CacheLayout.generation(1)
            try cache.folder.makeFolder(name, mode: .ownerReadWriteExecute)
            try cache.folder.makeFolder("\(name)/inside", mode: .ownerReadWriteExecute)
            for _ in 0..<3 {
                let found = await evictor.release([GenerationRelease(generation: 1)])
                #expect(found.removed.isEmpty && found.kept.isEmpty && found.failed == [1])
            }
            #expect(log.messages.count == 1)
            cache.folder.remove("\(name)/inside")
            #expect(await evictor.release([GenerationRelease(generation: 1)]).removed == [1])
        }
    }

    @Test("a file that cannot be removed is reported, and removed once it can be")
    func failures() async throws {
        try await withTemporaryFolder { folder in
            let cache = try CacheFixture(folder)
            let manifest = try await cache.publish(1, ["http://a/one": "one", "http://a/two": "two"])
            let document = try #require(manifest.lists["apps.plist"])
            var plan = RetirementPlan()
            plan.urls = ["http://a/one", "http://a/two"]
            plan.documents = [document.sha256]
            plan.images = Set(["one", "two"].map(CacheFixture.image))
            // A folder that is not empty cannot be removed, whoever tries.
            let obstacles = [CacheLayout.image(.of("one"), suffix: "png"), CacheLayout.byURL("http://a/two")]
            for name in obstacles {
                try #require(cache.folder.remove(name) == nil)
                try cache.folder.makeFolder(name, mode: .ownerReadWriteExecute)
                try cache.folder.makeFolder("\(name)/inside", mode: .ownerReadWriteExecute)
            }
            let failed = await cache.evictor.remove(plan)
            #expect(failed.images.map(\.sha256) == [.of("one")] && failed.urls == ["http://a/two"])
            #expect(failed.documents.isEmpty && !cache.exists(document.document))
            #expect(await cache.evictor.remove(failed) == failed)
            for name in obstacles { try #require(cache.folder.remove("\(name)/inside") == nil) }
            #expect(await cache.evictor.remove(failed).isEmpty)
        }
    }
}
