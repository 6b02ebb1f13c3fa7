// SPDX-License-Identifier: Apache-2.0
import AgentSettings
import Glibc
import HTTPRules
import IconCache
import SyncPlan
import SystemPackage
import TestSupport
import Testing

@testable import SyncAgent

@Suite("Images in memory")
struct StagedImagesTests {
    /// Publishes a first generation that has these images come to `icons/`, and no list.
    private func publish(_ images: StagedImage..., in cache: CacheFixture) async -> PublicationResult {
        var publication = Publication(generation: 1, published: Timestamp(sinceEpoch: .seconds(1)))
        publication.moves = images
        return await cache.publisher.publish(publication)
    }

    @Test("images in memory are given away once, and never more of them than the limit")
    func limit() {
        let images = StagedImages()
        let half = [UInt8](repeating: 1, count: StagedImages.limit / 2)
        #expect(images.hold(half, as: "1") && images.hold(half, as: "2") && !images.hold([1], as: "3"))
        #expect(images.remove("1") == .memory(half) && images.remove("1") == .staging && images.remove("3") == .staging)
        #expect(images.hold([1], as: "3"))
        images.close()
        #expect(!images.hold([1], as: "4") && images.remove("3") == .memory([1]))
    }

    @Test(
        "images in memory are in no file until they are published, and then in one, whatever has its name",
        arguments: [true, false])
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
            #expect(try cache.names(in: "staging").isEmpty && cache.staged.remove(staged.name) == .staging)
        }
    }

    @Test("images in memory go to files where there is not room for many of them")
    func scarce() async throws {
        try await withTemporaryFolder { path in
            let space = try #require(try CacheFixture(path).folder.space?.bytes)
            let reserve = SpaceReserve.bytes(ByteCount(space.free - StagedImages.limit))
            let cache = try CacheFixture(path, reserve: reserve, holdsImages: true)
            let staged = try await cache.stage("one")
            #expect(try cache.names(in: "staging") == [staged.name])
        }
    }

    @Test("a missing image makes a publication fail, and the others stay for the next one")
    func failed() async throws {
        try await withTemporaryFolder { path in
            let cache = try CacheFixture(path, holdsImages: true)
            let staged = [try await cache.stage("one"), try await cache.stage("two")]
            let missing = StagedImage(name: "none", image: CacheFixture.image("three"))
            let refusal = try #require(await publish(staged[0], missing, staged[1], in: cache).refusal)
            #expect(refusal.lost == ["none"] && refusal.unplaced.isEmpty)
            #expect(!cache.exists(missing.image.path))
            guard case .published = await publish(staged[0], staged[1], in: cache) else {
                Issue.record("it was not published")
                return
            }
            await cache.publisher.discard(staged.map(\.name))
            #expect(staged.allSatisfy { cache.exists($0.image.path) })
        }
    }

    @Test("a link of an image that a failed publication kept leaves nothing in staging/ when it is published")
    func linked() async throws {
        try await withTemporaryFolder { path in
            let cache = try CacheFixture(path)
            let staged = try await cache.stage("one")
            let start = Timestamp(sinceEpoch: .seconds(1))
            let response = StoredResponse(fields: HTTPFields(), requestTime: start, responseTime: start)
            let shared = SharedImage(image: staged.image, staged: staged.name, response: response)
            let copy = StagedImage(name: try #require(try await cache.staging.copy(shared)), image: staged.image)
            let missing = StagedImage(name: "none", image: CacheFixture.image("three"))
            guard case .refused = await publish(staged, missing, in: cache) else {
                Issue.record("it was published")
                return
            }
            #expect(try cache.names(in: "staging") == [copy.name])
            guard case .published = await publish(copy, in: cache) else {
                Issue.record("it was not published")
                return
            }
            await cache.publisher.discard([staged.name])
            #expect(try cache.names(in: "staging").isEmpty && cache.exists(staged.image.path))
        }
    }

    @Test("a folder that takes no new names is named, and its image alone waits")
    func closedFolder() async throws {
        try await withTemporaryFolder { path in
            let cache = try CacheFixture(path, holdsImages: true)
            let staged = [try await cache.stage("one"), try await cache.stage("two")]
            let folder = FilePath(staged[0].image.path).removingLastComponent().string
            cache.folder.remove(folder)
            // Not even root can rename a file into a path that is no folder.
            try cache.folder.write([1], to: folder, mode: .ownerReadWrite)
            let refusal = try #require(await publish(staged[0], staged[1], in: cache).refusal)
            #expect(refusal.reason.contains(folder) && refusal.lost.isEmpty && refusal.unplaced == [staged[0].name])
            cache.folder.remove(folder)
            try cache.folder.makeTree()
            guard case .published = await publish(staged[0], staged[1], in: cache) else {
                Issue.record("it was not published")
                return
            }
        }
    }

    @Test("an image that changed while it waited is lost")
    func changed() async throws {
        try await withTemporaryFolder { path in
            let cache = try CacheFixture(path, holdsImages: true)
            let staged = try await cache.stage("one")
            let missing = StagedImage(name: "none", image: CacheFixture.image("three"))
            #expect(await publish(staged, missing, in: cache).refusal?.lost == ["none"])
            cache.folder.remove(staged.image.path)
            try cache.folder.write("two".utf8, to: staged.image.path, mode: CacheFolder.imageMode)
            #expect(await publish(staged, in: cache).refusal?.lost == [staged.name])
            #expect(!cache.exists(staged.image.path))
        }
    }

    @Test("a URL whose name is refused does not hold up another one with the same image")
    func refusedName() async throws {
        try await withTemporaryFolder { path in
            let cache = try CacheFixture(path)
            let urls: [IconURL] = ["http://a/1", "http://a/2"]
            try cache.folder.makeFolder(CacheLayout.byURL(urls[0]), mode: .ownerReadWriteExecute)
            try cache.folder.write("text".utf8, to: CacheLayout.byURL(urls[0]) + "/file", mode: .ownerReadWrite)
            var publication = Publication(generation: 1, published: Timestamp(sinceEpoch: .seconds(1)))
            publication.moves = [try await cache.stage("one")]
            publication.links = urls.map { ($0, publication.moves[0].image.path, before: nil) }
            let refusal = try #require(await cache.publisher.publish(publication).refusal)
            #expect(refusal.unnamed == [urls[0]] && refusal.unplaced.isEmpty && refusal.lost.isEmpty)
        }
    }

    // MARK: Written ahead of their publication

    @Test("images written ahead have their final names, leave memory, and stay when they are published")
    func ahead() async throws {
        try await withTemporaryFolder { path in
            let cache = try CacheFixture(path, holdsImages: true)
            let staged = try await cache.stage("one")
            await cache.publisher.writeAhead([ImageAhead(staged: staged)])
            let inode = try #require(try cache.folder.entry(staged.image.path)?.inode)
            #expect(cache.staged.bytes(of: staged.name) == nil)
            guard case .published = await publish(staged, in: cache) else {
                Issue.record("it was not published")
                return
            }
            #expect(try cache.folder.entry(staged.image.path)?.inode == inode)
            await cache.publisher.discard([staged.name])
            #expect(cache.exists(staged.image.path))
        }
    }

    @Test("images written ahead and not published are removed")
    func aheadInVain() async throws {
        try await withTemporaryFolder { path in
            let cache = try CacheFixture(path, holdsImages: true)
            let staged = [try await cache.stage("one"), try await cache.stage("two")]
            await cache.publisher.writeAhead([ImageAhead(staged: staged[0]), ImageAhead(staged: staged[1])])
            await cache.publisher.discard([staged[0].name])
            #expect(!cache.exists(staged[0].image.path) && cache.exists(staged[1].image.path))
            let missing = StagedImage(name: "none", image: CacheFixture.image("three"))
            guard case .refused = await publish(missing, staged[1], in: cache) else {
                Issue.record("it was published")
                return
            }
            #expect(cache.exists(staged[1].image.path))
            await cache.publisher.discard([staged[1].name])
            #expect(!cache.exists(staged[1].image.path))
        }
    }

    @Test("an image of two URLs is written once, and stays if one of the two is not published")
    func aheadTwice() async throws {
        try await withTemporaryFolder { path in
            let cache = try CacheFixture(path, holdsImages: true)
            let staged = [try await cache.stage("one"), try await cache.stage("one")]
            await cache.publisher.writeAhead([ImageAhead(staged: staged[0]), ImageAhead(staged: staged[1])])
            #expect(cache.staged.bytes(of: staged[0].name) == nil && cache.staged.bytes(of: staged[1].name) != nil)
            guard case .published = await publish(staged[1], in: cache) else {
                Issue.record("it was not published")
                return
            }
            await cache.publisher.discard([staged[0].name])
            #expect(try FileBytes.read(path.pushing(FilePath(staged[0].image.path))) == Array("one".utf8))
        }
    }

    @Test("images written ahead that are missing at their publication make it fail")
    func aheadGone() async throws {
        try await withTemporaryFolder { path in
            let cache = try CacheFixture(path, holdsImages: true)
            let staged = try await cache.stage("one")
            await cache.publisher.writeAhead([ImageAhead(staged: staged)])
            cache.folder.remove(staged.image.path)
            let refusal = try #require(await publish(staged, in: cache).refusal)
            #expect(refusal.reason.contains(staged.image.path) && refusal.lost == [staged.name])
        }
    }

    @Test("images written ahead into a folder that was replaced make one publication fail, and come with the next")
    func replacedFolder() async throws {
        try await withTemporaryFolder { path in
            let cache = try CacheFixture(path, holdsImages: true)
            // Two images of one folder of `icons/`, which stays open from one to the other.
            let fan = Digest.of("0").fan
            let other = try #require((1...10_000).first { Digest.of("\($0)").fan == fan })
            let staged = [try await cache.stage("0"), try await cache.stage("\(other)")]
            await cache.publisher.writeAhead([ImageAhead(staged: staged[0])])
            let folder = path.appending("icons").appending(CacheLayout.fanOut[fan])
            try #require(rename(folder.string, path.appending("gone").string) == 0)
            try #require(mkdir(folder.string, 0o755) == 0)
            await cache.publisher.writeAhead([ImageAhead(staged: staged[1])])
            let refusal = try #require(await publish(staged[1], in: cache).refusal)
            #expect(refusal.reason.contains(staged[1].image.path))
            let again = try await cache.stage("\(other)")
            await cache.publisher.writeAhead([ImageAhead(staged: again)])
            guard case .published = await publish(again, in: cache) else {
                Issue.record("it was not published")
                return
            }
            #expect(try FileBytes.read(path.pushing(FilePath(again.image.path))) == Array("\(other)".utf8))
        }
    }

    // MARK: Named ahead of their publication

    /// Two images that were written ahead, so that their URLs have names.
    private func withNames(
        _ body: (CacheFixture, [StagedImage], [Publication.Link]) async throws -> Void
    ) async throws {
        try await withTemporaryFolder { path in
            let cache = try CacheFixture(path, holdsImages: true, batch: 2)
            let staged = [try await cache.stage("one"), try await cache.stage("two")]
            let urls: [IconURL] = ["http://a/1", "http://a/2"]
            await cache.publisher.writeAhead([ImageAhead(staged: staged[0], url: urls[0])])
            #expect(!cache.exists(CacheLayout.byURL(urls[0])))
            await cache.publisher.writeAhead([ImageAhead(staged: staged[1], url: urls[1])])
            for (url, image) in zip(urls, staged) {
                let entry = try cache.folder.entry(CacheLayout.byURL(url))
                #expect(try entry?.inode == cache.folder.entry(image.image.path)?.inode && entry != nil)
            }
            try await body(cache, staged, zip(urls, staged).map { ($0, $1.image.path, before: nil) })
        }
    }

    private func publish(
        _ images: [StagedImage], _ links: [Publication.Link], in cache: CacheFixture
    ) async -> PublicationResult {
        var publication = Publication(generation: 1, published: Timestamp(sinceEpoch: .seconds(1)))
        (publication.moves, publication.links) = (images, links)
        return await cache.publisher.publish(publication)
    }

    @Test(
        "names written ahead in batches stay at the publication; one that is missing or something else is made",
        arguments: ["missing", "a symbolic link", "another file"])
    func named(_ change: String) async throws {
        try await withNames { cache, staged, links in
            let name = CacheLayout.byURL(links[1].url)
            cache.folder.remove(name)
            if change == "a symbolic link" {
                #expect(symlink("nowhere", cache.path.pushing(FilePath(name)).string) == 0)
            }
            if change == "another file" { try cache.folder.write([1], to: name, mode: CacheFolder.imageMode) }
            guard case .published = await publish(staged, links, in: cache) else {
                Issue.record("it was not published")
                return
            }
            await cache.publisher.discard(staged.map(\.name))
            for link in links {
                let entry = try #require(try cache.folder.entry(CacheLayout.byURL(link.url)))
                #expect(try entry.inode == cache.folder.entry(link.path)?.inode)
            }
        }
    }

    @Test("names written ahead stay hard links if another download of the same bytes replaces the image")
    func sameBytes() async throws {
        try await withTemporaryFolder { path in
            let cache = try CacheFixture(path, holdsImages: true, batch: 1)
            let staged = [try await cache.stage("one"), try await cache.stage("one")]
            let urls: [IconURL] = ["http://a/1", "http://a/2"]
            for (image, url) in zip(staged, urls) {
                await cache.publisher.writeAhead([ImageAhead(staged: image, url: url)])
            }
            #expect(cache.exists(CacheLayout.byURL(urls[0])) && !cache.exists(CacheLayout.byURL(urls[1])))
            var publication = Publication(generation: 1, published: Timestamp(sinceEpoch: .seconds(1)))
            (publication.moves, publication.discards) = ([staged[1]], [staged[0]])
            publication.links = zip(urls, staged).map { ($0, $1.image.path, before: nil) }
            guard case .published = await cache.publisher.publish(publication) else {
                Issue.record("it was not published")
                return
            }
            let inode = try #require(try cache.folder.entry(staged[0].image.path)).inode
            for url in urls { #expect(try cache.folder.entry(CacheLayout.byURL(url))?.inode == inode) }
        }
    }

    @Test("images written ahead and not published lose their names", arguments: [true, false])
    func namedInVain(isDiscarded: Bool) async throws {
        try await withNames { cache, staged, links in
            if !isDiscarded {
                let missing = StagedImage(name: "none", image: CacheFixture.image("three"))
                guard case .refused = await publish([staged[0], missing, staged[1]], links, in: cache) else {
                    Issue.record("it was published")
                    return
                }
                for link in links { #expect(!cache.exists(CacheLayout.byURL(link.url)) && cache.exists(link.path)) }
            }
            await cache.publisher.discard(staged.map(\.name))
            for link in links { #expect(!cache.exists(CacheLayout.byURL(link.url)) && !cache.exists(link.path)) }
        }
    }

    @Test(
        "a name made ahead that cannot be removed holds up no publication, and is removed later",
        arguments: [true, false])
    func nameLeft(isPublished: Bool) async throws {
        try await withNames { cache, staged, links in
            // Not even root can remove a folder with files.
            let name = CacheLayout.byURL(links[0].url)
            let folder = cache.folder.path.appending(name)
            cache.folder.remove(name)
            try AgentFolders.make(folder, mode: .ownerReadWriteExecute)
            try write("x", to: folder.appending("x"))
            await cache.publisher.discard([staged[0].name])
            var publication = Publication(generation: 1, published: Timestamp(sinceEpoch: .seconds(1)))
            (publication.moves, publication.links) = ([staged[1]], [links[1]])
            guard case .published = await cache.publisher.publish(publication) else {
                Issue.record("it was not published")
                return
            }
            #expect(try cache.exists(CacheLayout.byURL(links[1].url)) && cache.folder.status(name) != nil)
            try #require(remove(folder.appending("x").string) == 0)
            publication = Publication(generation: 2, published: Timestamp(sinceEpoch: .seconds(2)))
            if isPublished { publication.links = [(links[0].url, staged[1].image.path, before: nil)] }
            for _ in 1...2 {
                guard case .published = await cache.publisher.publish(publication) else {
                    Issue.record("it was not published")
                    return
                }
                (publication.generation, publication.links) = (3, [])
            }
            #expect(try cache.exists(name) == isPublished && (cache.folder.status(name) != nil) == isPublished)
        }
    }

    @Test("discarded images do not take the name of a URL that was published with another image")
    func namedTwice() async throws {
        try await withNames { cache, staged, links in
            let other = try await cache.stage("other")
            guard case .published = await publish([other], [(links[0].url, other.image.path, nil)], in: cache) else {
                Issue.record("it was not published")
                return
            }
            await cache.publisher.discard(staged.map(\.name))
            let entry = try #require(try cache.folder.entry(CacheLayout.byURL(links[0].url)))
            #expect(try entry.inode == cache.folder.entry(other.image.path)?.inode)
            #expect(!cache.exists(CacheLayout.byURL(links[1].url)))
        }
    }

    @Test("a discarded image does not take the name that its URL got for another image", arguments: [true, false])
    func namedAgain(isPublished: Bool) async throws {
        try await withTemporaryFolder { path in
            let cache = try CacheFixture(path, holdsImages: true, batch: 1)
            let staged = [try await cache.stage("one"), try await cache.stage("two")]
            let url: IconURL = "http://a/1"
            for image in staged {
                cache.folder.remove(CacheLayout.byURL(url))
                await cache.publisher.writeAhead([ImageAhead(staged: image, url: url)])
            }
            if isPublished {
                guard case .published = await publish([staged[1]], [(url, staged[1].image.path, nil)], in: cache) else {
                    Issue.record("it was not published")
                    return
                }
            }
            await cache.publisher.discard([staged[0].name])
            let entry = try #require(try cache.folder.entry(CacheLayout.byURL(url)))
            #expect(try entry.inode == cache.folder.entry(staged[1].image.path)?.inode)
        }
    }

    @Test("a publication takes over the names of its own links alone; the next one takes the others")
    func handedOver() async throws {
        try await withNames { cache, staged, links in
            let publication = { (index: Int) -> Publication in
                var publication = Publication(generation: index, published: Timestamp(sinceEpoch: .seconds(index)))
                (publication.moves, publication.links) = ([staged[index]], [links[index]])
                return publication
            }
            let urls = [0, 1, 0].map { cache.staged.handOver(to: publication($0)) }
            #expect(urls == [[links[0].url], [links[1].url], []])
            let undos: [IconURL] = cache.staged.undos(removing: []).compactMap { undo in
                if case .restore(let url, before: nil) = undo { url } else { nil }
            }
            #expect(undos == links.map(\.url))
        }
    }

    // MARK: In another folder than before

    /// Has another folder take the place of the cache's, whose generation names an image that the cache is to publish.
    private func withOtherFolder(
        _ prepare: (CacheFixture, StagedImage) async throws -> Void,
        _ body: (CacheFixture, StagedImage) async throws -> Void
    ) async throws {
        try await withTemporaryFolder { folder in
            let (path, other) = (folder.appending("cache"), folder.appending("other"))
            for path in [path, other] { try AgentFolders.make(path, mode: .ownerReadWriteExecute) }
            let cache = try CacheFixture(path, holdsImages: true)
            let inspector = CacheInspector(cache.publisher, lock: nil, logger: .silent)
            let staged = try await cache.stage("one")
            try await prepare(cache, staged)
            try await CacheFixture(other).publish(1, ["http://a/1": "one"])
            let script = "cd '\(folder)'; mv cache aside; mv other cache"
            try #require(try await Program.run("sh", "-ec", script).code == 0)
            let found = await inspector.inspect(CacheExpectation(generation: nil, documents: [:], images: []))
            #expect(found.adopted?.manifests.map(\.generation) == [1])
            try await body(cache, staged)
            #expect(try FileBytes.read(path.pushing(FilePath(staged.image.path))) == Array("one".utf8))
        }
    }

    @Test(
        "images written ahead in one folder are not removed from the folder that replaced it",
        arguments: [true, false])
    func aheadElsewhere(isDiscarded: Bool) async throws {
        try await withOtherFolder { cache, staged in
            await cache.publisher.writeAhead([ImageAhead(staged: staged)])
        } _: { cache, staged in
            guard !isDiscarded else { return await cache.publisher.discard([staged.name]) }
            let missing = StagedImage(name: "none", image: CacheFixture.image("three"))
            guard case .refused = await publish(missing, staged, in: cache) else {
                Issue.record("it was published")
                return
            }
        }
    }

    @Test("images that a failed publication could not take back are not removed from another folder")
    func leftElsewhere() async throws {
        try await withOtherFolder { cache, staged in
            // Nobody removes a folder that is not empty.
            try cache.folder.makeFolder(StagingPath.of("odd"), mode: .ownerReadWriteExecute)
            try cache.folder.write([1], to: StagingPath.of("odd/letter"), mode: .ownerReadWrite)
            let odd = StagedImage(name: "odd", image: staged.image)
            let missing = StagedImage(name: "none", image: CacheFixture.image("three"))
            guard case .refused = await publish(odd, missing, in: cache) else {
                Issue.record("it was published")
                return
            }
        } _: { cache, _ in
            var publication = Publication(generation: 2, published: Timestamp(sinceEpoch: .seconds(2)))
            publication.kept = try IconCache(at: cache.path).manifest().lists
            guard case .published = await cache.publisher.publish(publication) else {
                Issue.record("it was not published")
                return
            }
        }
    }
}
