// SPDX-License-Identifier: Apache-2.0
import Glibc
import IconCache
import SyncPlan
import SystemPackage
import TestSupport
import Testing

@testable import SyncAgent

@Suite("Looking at whether the cache has what it should")
struct CacheInspectorTests {
    private static let a: IconURL = "http://a/one"
    private static let b: IconURL = "http://a/two"

    private static func image(_ word: String) -> AppListDocument.Image {
        let digest = Digest.of(word)
        return AppListDocument.Image(
            path: CacheLayout.image(digest, suffix: "png"), sha256: digest, bytes: word.utf8.count, type: "image/png",
            width: 1, height: 1)
    }

    /// Runs the body with a cache of a list of two icons, and with what is expected of it.
    private func withCache(
        _ body: (CacheFixture, CacheInspector, CacheExpectation) async throws -> Void
    ) async throws {
        try await withTemporaryFolder { folder in
            let path = folder.appending("cache")
            try AgentFolders.make(path, mode: .ownerReadWriteExecute)
            let cache = try CacheFixture(path)
            let manifest = try await cache.publish(1, [Self.a: "one", Self.b: "two"])
            let lock = try FolderLock(in: cache.folder.descriptor, at: path)
            let inspector = CacheInspector(
                cache.folder, lock: lock, thread: FileThread("tests"), logger: CacheFixture.logger)
            try await body(
                cache, inspector,
                CacheExpectation(
                    generation: 1, documents: manifest.lists.mapValues(\.sha256),
                    images: [Self.image("one"): [Self.a], Self.image("two"): [Self.b]]))
        }
    }

    private func isSuspicious(_ inspector: CacheInspector, _ expected: CacheExpectation) async -> Bool {
        var quick = expected
        quick.images = nil
        return await inspector.inspect(quick).isSuspicious
    }

    @Test(
        "what was removed is noticed, and told as lost",
        arguments: [
            ("true", nil),
            ("rm -rf *", "the manifest, 1 list document, 2 images"),
            ("rm -rf icons", "2 images, 2 names"),
            ("rm -rf icons/*", "2 images, 2 names"),
            ("rm -rf by-url", "2 names"),
            ("rm -rf lists", "1 list document"),
            ("rm lists/*", "1 list document"),
            ("rm -rf generations", "the manifest"),
            ("rm manifest.json", "the manifest"),
            ("rm -rf staging", nil),
            ("rm lock", nil),
            ("d=$PWD; cd ..; rm -rf $d", "the manifest, 1 list document, 2 images"),
            ("d=$PWD; cd ..; mv $d aside; mkdir $d", "the manifest, 1 list document, 2 images"),
            ("d=$PWD; cd ..; mv $d aside; cp -a aside $d; sed -i s/one/eno/ $d/icons/*/*", "1 name"),
        ] as [(String, String?)])
    func removed(script: String, summary: String?) async throws {
        try await withCache { cache, inspector, expected in
            #expect(await !isSuspicious(inspector, expected))
            let result = try await Program.run("sh", "-ec", "cd '\(cache.path)'; \(script)")
            try #require(result.code == 0, "\(result.messages)")
            let isHarmless = script == "true" || script == "rm lock"
            #expect(await isSuspicious(inspector, expected) == !isHarmless, "\(script)")
            let found = await inspector.inspect(expected)
            // An image whose other name is left is put back from there.
            let isPutBack = script.hasPrefix("rm -rf icons")
            #expect(found.summary == (isPutBack ? "2 names" : summary), "\(script)")
            #expect(found.trouble == nil)
            for name in ["generations", "lists", "icons/00", "by-url/ff", "staging", "CACHEDIR.TAG", "lock"] {
                #expect(access(cache.path.appending(name).string, F_OK) == 0, "\(script): \(name)")
            }
            if found.summary == nil || !found.lacksManifest && found.lostDocuments.isEmpty {
                #expect(await !isSuspicious(inspector, expected), "\(script)")
            }
        }
    }

    @Test("another folder at the path is taken up with its lock, one that is no cache is not")
    func replaced() async throws {
        try await withCache { cache, inspector, expected in
            let script = "cd '\(cache.path)/..'; mv cache aside; mkdir cache; touch cache/letters"
            try #require(try await Program.run("sh", "-ec", script).code == 0)
            #expect(await inspector.inspect(expected).trouble?.contains("is no cache of syncagent") == true)
            try #require(unlink(cache.path.appending("letters").string) == 0)
            // A copy of a cache, say, that was published to for longer.
            for number in ["7", "40", "x"] {
                let file = cache.path.appending("generations/\(number).json")
                let script = "mkdir -p '\(file.removingLastComponent())'; touch '\(file)' '\(cache.path)/CACHEDIR.TAG'"
                try #require(try await Program.run("sh", "-ec", script).code == 0)
            }
            let found = await inspector.inspect(expected)
            #expect(found.lostImages.count == 2 && found.latestGeneration == 40)
            let there = try CacheFolder(cache.path)
            #expect(throws: FolderLock.Held.self) { try FolderLock(in: there.descriptor, at: cache.path) }
            // The one that was there before is free.
            let aside = try CacheFolder(cache.path.removingLastComponent().appending("aside"))
            _ = try FolderLock(in: aside.descriptor, at: aside.path)
            try await cache.publish(2, [Self.a: "one"])
            #expect(try IconCache(at: cache.path).manifest().generation == 2)
        }
    }
}
