// SPDX-License-Identifier: Apache-2.0
import Glibc
import IconCache
import SyncPlan
import SystemPackage
import TestSupport
import Testing

@testable import SyncAgent

@Suite("Recovery of a cache folder at the start")
struct StartUpRecoveryTests {
    /// Makes a cache with two generations, damages it, and opens it again.
    private func afterDamage(
        _ damage: @escaping @Sendable (CacheFixture) async throws -> Void,
        _ check: @Sendable (CacheFixture, _ missing: Set<Digest>) throws -> Void
    ) async throws {
        try await withTemporaryFolder { path in
            let cache = try CacheFixture(path)
            try await cache.publish(1, ["http://a/1": "one", "http://a/2": "two"])
            try await cache.publish(2, ["http://a/2": "two", "http://a/3": "three"], new: ["http://a/3"])
            try await damage(cache)
            let found = try CacheFixture(path)
            try check(found, found.lookFirst())
        }
    }

    private static let three = CacheLayout.image(.of("three"), suffix: "png")

    @Test("an untouched folder is restored as it was")
    func untouched() async throws {
        try await afterDamage { _ in
        } _: { cache, missing in
            #expect(cache.restored.manifests.map(\.generation) == [1, 2])
            #expect(missing.isEmpty)
            #expect(cache.restored.nextGeneration == 3)
            #expect(cache.exists("CACHEDIR.TAG"))
        }
    }

    @Test("files that no generation names are removed at the start")
    func unnamed() async throws {
        let strays = [
            "icons/aa/\(Digest.of("stray").hex).png", "by-url/bb/\(Digest.of("http://a/9").hex)",
            "lists/\(Digest.of("x").hex).json", "staging/7", "generations/3.json",
        ]
        try await afterDamage { cache in
            for stray in strays { try cache.folder.write("stray".utf8, to: stray, mode: .ownerReadWrite) }
        } _: { cache, _ in
            for stray in strays { #expect(!cache.exists(stray), "\(stray)") }
            #expect(cache.restored.manifests.map(\.generation) == [1, 2])
            #expect(cache.restored.nextGeneration == 4)
        }
    }

    @Test(
        "an image that is gone or has another size is put back from its by-url name, or is missing",
        arguments: [true, false])
    func missing(hasName: Bool) async throws {
        for text in [nil, "thr"] {
            try await afterDamage { cache in
                cache.folder.remove(Self.three)
                if !hasName { cache.folder.remove(CacheLayout.byURL("http://a/3")) }
                if let text { try cache.folder.write(text.utf8, to: Self.three, mode: .ownerReadWrite) }
            } _: { cache, missing in
                #expect(missing == (hasName ? [] : [.of("three")]))
                let found = try? FileBytes.read(cache.path.appending(Self.three))
                #expect(found == (hasName ? Array("three".utf8) : nil))
            }
        }
    }

    @Test("an image that others can change stays if they did not; one that is no file counts as missing, and goes")
    func foreign() async throws {
        for text in ["three", "eerht"] {
            try await afterDamage { cache in
                let file = cache.path.appending(Self.three).string
                try #require(chmod(file, 0o664) == 0)
                let descriptor = try FileDescriptor.open(FilePath(file), .writeOnly)
                try descriptor.closeAfter { _ = try descriptor.writeAll(text.utf8) }
            } _: { cache, missing in
                #expect(missing == (text == "three" ? [] : [.of("three")]))
                #expect(cache.exists(Self.three) == (text == "three"))
            }
        }
        try await afterDamage { cache in
            cache.folder.remove(Self.three)
            cache.folder.remove(CacheLayout.byURL("http://a/3"))
            try #require(mkfifo(cache.path.appending(Self.three).string, 0o444) == 0)
        } _: { cache, missing in
            let left = try cache.folder.status(Self.three)
            #expect(missing == [.of("three")] && left == nil)
        }
    }

    @Test("a file that cannot be removed from staging fails the start")
    func blockedStaging() async throws {
        try await withTemporaryFolder { path in
            let cache = try CacheFixture(path)
            try cache.folder.makeFolder("staging/publication", mode: .ownerReadWriteExecute)
            try cache.folder.write("x".utf8, to: "staging/publication/x", mode: .ownerReadWrite)
            let error = #expect(throws: FileError.self) { try CacheFixture(path) }
            #expect(error?.path == path.appending("staging/publication").string)
        }
    }

    @Test("missing and wrong by-url names are put right")
    func names() async throws {
        try await afterDamage { cache in
            cache.folder.remove(CacheLayout.byURL("http://a/2"))
            cache.folder.remove(CacheLayout.byURL("http://a/3"))
            try cache.folder.write("wrong".utf8, to: CacheLayout.byURL("http://a/3"), mode: .ownerReadWrite)
        } _: { cache, _ in
            for (url, text): (IconURL, String) in [("http://a/2", "two"), ("http://a/3", "three")] {
                let found = try FileBytes.read(cache.path.appending(CacheLayout.byURL(url)))
                #expect(found == Array(text.utf8))
            }
        }
    }

    @Test(
        "a manifest that is gone or damaged is put back from its generation",
        arguments: ["", "{", "{ \"format\": 1 }"])
    func manifest(text: String) async throws {
        try await afterDamage { cache in
            cache.folder.remove("manifest.json")
            if !text.isEmpty { try cache.folder.write(text.utf8, to: "manifest.json", mode: .ownerReadWrite) }
        } _: { cache, _ in
            #expect(cache.restored.manifests.map(\.generation) == [1, 2])
            let manifest = try IconCache(at: cache.path).manifest()
            #expect(manifest.generation == 2)
        }
    }

    @Test("a list with a damaged document is as it was before, and the rest of the generation counts")
    func damagedDocument() async throws {
        try await afterDamage { cache in
            let document = try #require(try IconCache(at: cache.path).manifest().lists["apps.plist"]).document
            cache.folder.remove(document)
            try cache.folder.write("{}".utf8, to: document, mode: .ownerReadWrite)
        } _: { cache, missing in
            #expect(cache.restored.manifests.map(\.generation) == [1, 2])
            #expect(cache.restored.manifests[1].lists == cache.restored.manifests[0].lists)
            #expect(cache.restored.isDamaged)
            #expect(missing.isEmpty)
        }
    }

    @Test("a file of an absurd length is damaged, and is not read", arguments: ["manifest", "document", "image"])
    func sparse(file: String) async throws {
        try await afterDamage { cache in
            let document = try #require(try IconCache(at: cache.path).manifest().lists["apps.plist"]).document
            let name = ["manifest": "manifest.json", "document": document][file] ?? Self.three
            let path = cache.path.appending(name).string
            try #require(chmod(path, 0o644) == 0 && truncate(path, 1 << 40) == 0)
            if file == "image" { try #require(chmod(path, 0o444) == 0) }
        } _: { cache, missing in
            // The manifest is the file of generation 2.
            #expect(cache.restored.manifests.map(\.generation) == (file == "manifest" ? [1] : [1, 2]))
            #expect(cache.restored.isDamaged == (file == "document"))
            #expect(missing == (file == "image" ? [.of("three")] : []))
        }
    }

    @Test(
        "a manifest with one of the last numbers is damaged: readers would refuse the next one",
        arguments: [0, 999_999])
    func lastNumbers(below: Int) async throws {
        try await afterDamage { cache in
            var manifest = try IconCache(at: cache.path).manifest()
            manifest.generation = 1 << 53 - below
            let name = CacheLayout.generation(manifest.generation)
            cache.folder.remove(CacheLayout.manifest)
            try cache.folder.write(manifest.text, to: name, mode: .ownerReadWrite)
            try cache.folder.link(name, to: CacheLayout.manifest)
        } _: { cache, missing in
            #expect(cache.restored.manifests.map(\.generation) == [1, 2])
            #expect(cache.restored.nextGeneration == 3 && missing.isEmpty)
        }
    }

    @Test("a document that a manifest names for another list than its own counts as damaged")
    func documentOfAnotherList() async throws {
        try await afterDamage { cache in
            var manifest = try IconCache(at: cache.path).manifest()
            manifest.lists["b.plist"] = manifest.lists["apps.plist"]
            for name in [CacheLayout.manifest, "generations/2.json"] { cache.folder.remove(name) }
            try cache.folder.write(manifest.text, to: "generations/2.json", mode: .ownerReadWrite)
            try cache.folder.link("generations/2.json", to: CacheLayout.manifest)
        } _: { cache, missing in
            #expect(cache.restored.manifests.last?.generation == 2)
            #expect(cache.restored.manifests.last?.lists.keys.sorted() == ["apps.plist"])
            #expect(cache.restored.isDamaged)
            #expect(missing.isEmpty)
        }
    }

    @Test("damaged pins are as they were before, and the log says so", arguments: [true, false])
    func damagedPins(isDamaged: Bool) async throws {
        try await withTemporaryFolder { path in
            let cache = try CacheFixture(path)
            try await cache.publish(1, ["http://a/1": "one", "http://a/2": "two"], list: "pins")
            try await cache.publish(2, ["http://a/1": "one"], new: [], list: "pins")
            if isDamaged {
                cache.folder.remove(try #require(try IconCache(at: path).manifest().lists["pins"]).document)
            }
            let log = RecordedLog()
            let restored = try StartUpRecovery.run(try CacheFolder(path), logger: log.logger)
            #expect(restored.manifests.last?.lists["pins"]?.apps == (isDamaged ? 2 : 1))
            #expect(log.messages.contains { $0.hasPrefix("pins damaged") } == isDamaged)
        }
    }

    @Test("a generation with the number of another one is none")
    func otherNumber() async throws {
        try await afterDamage { cache in
            cache.folder.remove("generations/1.json")
            try cache.folder.link("generations/2.json", to: "generations/1.json")
        } _: { cache, missing in
            #expect(cache.restored.manifests.map(\.generation) == [2])
            #expect(missing.isEmpty && !cache.exists("generations/1.json"))
        }
    }

    @Test("images are verified by their digests at a start without a manifest")
    func doubtful() async throws {
        try await afterDamage { cache in
            cache.folder.remove("manifest.json")
            cache.folder.remove(Self.three)
            try cache.folder.write("THREE".utf8, to: Self.three, mode: .ownerReadWrite)
        } _: { cache, missing in
            #expect(missing == [.of("three")])
            #expect(!cache.exists(Self.three))
            #expect(!cache.exists("manifest.json"), "readers would find what is not there")
        }
    }

    @Test("the tag of a cache folder is whole, or written again")
    func tag() async throws {
        try await afterDamage { cache in
            cache.folder.remove("CACHEDIR.TAG")
            try cache.folder.write([], to: "CACHEDIR.TAG", mode: .ownerReadWrite)
        } _: { cache, _ in
            let tag = try FileBytes.read(cache.path.appending("CACHEDIR.TAG"))
            #expect(tag.starts(with: "Signature: ".utf8))
        }
    }

    @Test("a file that cannot be read, or is of a later version, fails the start, and nothing is removed")
    func unreadable() async throws {
        for name in ["manifest.json", "generations/1.json", "generations/2.json", "list document"] {
            try await withTemporaryFolder { path in
                let cache = try CacheFixture(path)
                let manifest = try await cache.publish(1, ["http://a/1": "one"])
                try await cache.publish(2, ["http://a/1": "one", "http://a/2": "two"], new: ["http://a/2"])
                let name = name == "list document" ? try #require(manifest.lists["apps.plist"]).document : name
                cache.folder.remove(name)
                try cache.folder.makeFolder(name, mode: .ownerReadWriteExecute)
                #expect(throws: FileError.self) { try CacheFixture(path) }
                #expect(cache.exists(CacheLayout.image(.of("one"), suffix: "png")))
            }
        }
        try await withTemporaryFolder { path in
            let cache = try CacheFixture(path)
            try await cache.publish(1, ["http://a/1": "one"])
            cache.folder.remove("manifest.json")
            try cache.folder.write("{ \"format\": 2 }".utf8, to: "manifest.json", mode: .ownerReadWrite)
            #expect(throws: IconCacheError.unknownFormat(path: path.appending("manifest.json").string, format: 2)) {
                try CacheFixture(path)
            }
            #expect(cache.exists(CacheLayout.image(.of("one"), suffix: "png")))
        }
    }

    @Test("files that have no name of the agent's form stay in lists and staging")
    func others() async throws {
        try await withTemporaryFolder { path in
            let cache = try CacheFixture(path)
            let own = ["lists/\(Digest.of("x").hex).json", "staging/7", "staging/inspection"]
            let others = ["lists/apps.plist", "staging/mine"]
            for name in own + others { try cache.folder.write("x".utf8, to: name, mode: .ownerReadWrite) }
            _ = try CacheFixture(path)
            #expect(own.allSatisfy { !cache.exists($0) } && others.allSatisfy(cache.exists))
        }
    }

    @Test("a folder full of nonsense is an empty cache")
    func nonsense() async throws {
        try await withTemporaryFolder { path in
            let folder = try CacheFolder(path)
            try folder.makeFolder("generations", mode: .ownerReadWriteExecute)
            try folder.write("nonsense".utf8, to: "manifest.json", mode: .ownerReadWrite)
            try folder.write("nonsense".utf8, to: "generations/7.json", mode: .ownerReadWrite)
            let cache = try CacheFixture(path)
            #expect(cache.restored.manifests.isEmpty)
            #expect(cache.restored.nextGeneration == 8)
            #expect(!cache.exists("manifest.json"))
        }
    }
}
