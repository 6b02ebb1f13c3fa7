// SPDX-License-Identifier: Apache-2.0
import Glibc
import IconCache
import SyncPlan
import SystemPackage
import TestSupport
import Testing

@testable import SyncAgent

@Suite("Inspections of the cache")
struct CacheInspectorTests {
    private static let a: IconURL = "http://a/one"
    private static let b: IconURL = "http://a/two"

    private static func image(_ word: String) -> AppListDocument.Image {
        let digest = Digest.of(word)
        return AppListDocument.Image(
            path: CacheLayout.image(digest, suffix: "png"), sha256: digest, bytes: word.utf8.count, type: "image/png",
            width: 1, height: 1)
    }

    private static func naming(_ word: String, _ url: IconURL) -> CacheExpectation.Naming {
        CacheExpectation.Naming(image: image(word), url: url)
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
            let inspector = CacheInspector(cache.publisher, lock: lock, logger: .silent)
            try await body(
                cache, inspector,
                CacheExpectation(
                    generation: 1, documents: manifest.lists.mapValues(\.sha256),
                    images: [Self.naming("one", Self.a), Self.naming("two", Self.b)]))
        }
    }

    private func isSuspicious(_ inspector: CacheInspector, _ expected: CacheExpectation) async -> Bool {
        var quick = expected
        quick.images = nil
        return await inspector.inspect(quick).isSuspicious
    }

    @Test(
        "an inspection finds removed files, and reports them as lost",
        arguments: [
            ("true", nil),
            ("rm -rf *", "the manifest, 1 list document, 2 images"),
            ("rm -rf icons", "2 images, 2 names"),
            ("rm -rf icons/*", "2 images, 2 names"),
            ("rm -rf by-url", "2 names"),
            ("rm -rf lists", "1 list document"),
            ("rm lists/*", "1 list document"),
            ("rm -rf generations", "the manifest"),
            ("rm manifest.json", "1 name"),
            ("chmod u+w manifest.json; printf '{' > manifest.json; chmod 444 manifest.json", "the manifest"),
            ("touch -d 2020-01-01 manifest.json", "1 name"),
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
            // An image whose other name is left is put back from there, as it is where its own file is damaged.
            let isPutBack = script.hasPrefix("rm -rf icons")
            #expect(found.summary == (isPutBack ? "2 names" : summary), "\(script)")
            #expect(found.trouble == nil)
            for name in ["generations", "lists", "icons/00", "by-url/ff", "staging", "CACHEDIR.TAG", "lock"] {
                #expect(access(cache.path.appending(name).string, F_OK) == 0, "\(script): \(name)")
            }
            #expect(script != "rm manifest.json" || !found.lacksManifest)
            if found.summary == nil || !found.lacksManifest && found.lostDocuments.isEmpty {
                #expect(await !isSuspicious(inspector, expected), "\(script)")
            }
        }
    }

    @Test(
        "images whose owner or mode was changed are the agent's and readable again, and lost only if their bytes differ",
        arguments: [
            "chmod -R g+w icons", "chmod -R a+w by-url", "chmod 400 icons/*/*", "chmod 0 icons/*/*",
            "chown 1 icons/*/*",
            "chown 1:1 icons/*/* by-url/*/*; chmod 600 icons/*/*",
            "chmod a+w icons/*/*; sed -i s/one/eno/ icons/*/*",
            "chmod a+w icons/*/*; for i in icons/*/*; do printf eno > $i; done",
        ])
    func changedModes(script: String) async throws {
        if script.hasPrefix("chown") && geteuid() != 0 { return }
        try await withCache { cache, _, expected in
            var expected = expected
            expected.sample = [Self.naming("one", Self.a), Self.naming("two", Self.b)]
            try #require(chmod(cache.path.string, 0o755) == 0)
            let inspector = CacheInspector(cache.publisher, lock: nil, logger: .silent)
            #expect(await !isSuspicious(inspector, expected))
            let result = try await Program.run("sh", "-ec", "cd '\(cache.path)'; \(script)")
            try #require(result.code == 0, "\(result.messages)")
            #expect(await isSuspicious(inspector, expected))
            let found = await inspector.inspect(expected)
            #expect(found.trouble == nil)
            let isPrinted = script.contains("printf")
            #expect(found.lostImages == (isPrinted ? [.of("one"), .of("two")] : []))
            guard !isPrinted else { return }
            #expect(await !isSuspicious(inspector, expected))
            for naming in expected.sample {
                let image = try #require(try cache.folder.entry(naming.image.path))
                #expect(image.isOwn && image.readMode == CacheFolder.imageMode)
                for name in naming.names { #expect(try cache.folder.entry(name) == image) }
            }
        }
    }

    @Test(
        "the manifest and documents whose mode was changed are readable again",
        arguments: ["chmod -R go-r .", "chmod 0 manifest.json lists/*", "chmod g+w,o-r manifest.json lists/*"])
    func hiddenDocuments(script: String) async throws {
        try await withCache { cache, _, expected in
            try #require(chmod(cache.path.string, 0o755) == 0)
            let inspector = CacheInspector(cache.publisher, lock: nil, logger: .silent)
            let result = try await Program.run("sh", "-ec", "cd '\(cache.path)'; \(script)")
            try #require(result.code == 0, "\(result.messages)")
            #expect(await isSuspicious(inspector, expected))
            let found = await inspector.inspect(expected)
            #expect(found.trouble == nil && found.lostDocuments.isEmpty && !found.lacksManifest)
            for name in [CacheLayout.manifest] + expected.documents.values.map(CacheLayout.document) {
                #expect(try cache.folder.entry(name)?.readMode == CacheFolder.imageMode)
            }
            #expect(await !isSuspicious(inspector, expected))
        }
    }

    @Test("a document that others could write to, and did, is written again")
    func changedDocument() async throws {
        try await withCache { cache, inspector, expected in
            for digest in expected.documents.values {
                let file = cache.path.appending(CacheLayout.document(digest))
                try #require(chmod(file.string, 0o664) == 0)
                let writer = try FileDescriptor.open(file, .writeOnly)
                try writer.closeAfter { _ = try writer.writeAll("x".utf8) }
            }
            let found = await inspector.inspect(expected)
            #expect(found.trouble == nil && found.restoredNames == 0)
            #expect(found.lostDocuments == Set(expected.documents.keys) && !found.lostDocuments.isEmpty)
        }
    }

    @Test("an image that a program has open for writing is replaced by a copy, for all of its names")
    func openForWriting() async throws {
        try await withCache { cache, inspector, expected in
            let file = cache.path.appending(Self.image("one").path)
            try #require(chmod(file.string, 0o666) == 0)
            let writer = try FileDescriptor.open(file, .writeOnly)
            let found = await inspector.inspect(expected)
            #expect(found.lostImages.isEmpty && found.trouble == nil)
            try writer.closeAfter { _ = try writer.writeAll("eno".utf8) }
            for name in [Self.image("one").path, CacheLayout.byURL(Self.a)] {
                #expect(try cache.folder.read(name) == Array("one".utf8))
            }
        }
    }

    @Test("images need the permissions that readers had at the start, whatever mode the folder gets")
    func widerFolder() async throws {
        try await withCache { cache, _, expected in
            var expected = expected
            expected.sample = [Self.naming("one", Self.a)]
            try #require(chmod(cache.path.string, 0o750) == 0)
            try #require(chmod(cache.path.appending(Self.image("one").path).string, 0o440) == 0)
            let inspector = CacheInspector(cache.publisher, lock: nil, logger: .silent)
            try #require(chmod(cache.path.string, 0o777) == 0)
            #expect(await !isSuspicious(inspector, expected))
            #expect(await inspector.inspect(expected).trouble == nil)
        }
    }

    @Test(
        "leases on a manifest from before and after it was replaced by a copy, or touched, keep its generation",
        arguments: ["cp manifest.json copy; mv copy manifest.json", "touch -d 2020-01-01 manifest.json"], [0, 1])
    func leased(script: String, first: Int) async throws {
        try await withCache { cache, inspector, expected in
            let before = try IconCache(at: cache.path).snapshot()
            #expect(await !isSuspicious(inspector, expected))
            try #require(try await Program.run("sh", "-ec", "cd '\(cache.path)'; \(script)").code == 0)
            let after = try IconCache(at: cache.path).snapshot()
            #expect(await inspector.inspect(expected).summary == "1 name")
            #expect(await !isSuspicious(inspector, expected))
            try await cache.publish(2, [Self.a: "newer"])
            let release = [GenerationRelease(generation: 1, isPastGrace: true)]
            #expect(await cache.evictor.release(release).kept == [1])
            [before, after][first].end()
            #expect(await cache.evictor.release(release).kept == [1])
            [after, before][first].end()
            #expect(await cache.evictor.release(release).removed == [1])
        }
    }

    @Test("another cache folder at the path is adopted with its lock, one that is no cache is not")
    func replaced() async throws {
        try await withCache { cache, inspector, expected in
            let script = "cd '\(cache.path)/..'; mv cache aside; mkdir cache; touch cache/letters"
            try #require(try await Program.run("sh", "-ec", script).code == 0)
            #expect(await inspector.inspect(expected).trouble?.contains("is not a syncagent cache") == true)
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
            let held = FolderError.held(cache.path, by: Int(getpid()))
            #expect(throws: held) { try FolderLock(in: there.descriptor, at: cache.path) }
            // The one that was there before is free.
            let aside = try CacheFolder(cache.path.removingLastComponent().appending("aside"))
            _ = try FolderLock(in: aside.descriptor, at: aside.path)
            try await cache.publish(2, [Self.a: "one"])
            #expect(try IconCache(at: cache.path).manifest().generation == 2)
        }
    }

    @Test(
        "a file that is removed singly is noticed by a quick look, if it is in the sample",
        arguments: [
            "rm icons/*/\(Digest.of("one").hex)*", "rm $(ls by-url/*/* | head -n 1)",
            "f=$(ls icons/*/* | head -n 1); rm $f; echo > $f",
        ])
    func singly(script: String) async throws {
        try await withCache { cache, inspector, expected in
            var quick = expected
            (quick.images, quick.sample) = (nil, Array(expected.images ?? []))
            #expect(await !inspector.inspect(quick).isSuspicious)
            try #require(try await Program.run("sh", "-ec", "cd '\(cache.path)'; \(script)").code == 0)
            #expect(await inspector.inspect(quick).isSuspicious)
            #expect(await inspector.inspect(expected).restoredNames == 1)
            #expect(await !inspector.inspect(quick).isSuspicious)
        }
    }

    @Test("a name that cannot be corrected is told, and neither holds up the others nor a publication")
    func refusedName() async throws {
        try await withCache { cache, inspector, expected in
            let names = [Self.a, Self.b].map(CacheLayout.byURL)
            for name in names { cache.folder.remove(name) }
            try cache.folder.makeFolder(names[0], mode: .ownerReadWriteExecute)
            try cache.folder.write("text".utf8, to: names[0] + "/file", mode: .ownerReadWrite)
            let found = await inspector.inspect(expected)
            #expect(found.refusal?.contains(names[0]) == true && found.trouble == nil && found.lostImages.isEmpty)
            #expect(found.restoredNames == 1 && cache.exists(names[1]))
            cache.folder.remove(names[0] + "/file")
            #expect(await inspector.inspect(expected).refusal == nil)
        }
    }

    @Test("files that cannot be inspected are not lost: the inspection is repeated later")
    func unreadable() async throws {
        try await withCache { cache, inspector, expected in
            // As without descriptors or memory, nobody can say what there is of this name.
            let one = Self.image("one")
            let odd = AppListDocument.Image(
                path: "icons/00/" + String(repeating: "x", count: 300), sha256: one.sha256, bytes: one.bytes,
                type: one.type, width: one.width, height: one.height)
            var more = expected
            more.images = [.init(image: odd, url: Self.a), Self.naming("two", Self.b)]
            let found = await inspector.inspect(more)
            #expect(found.trouble?.contains("File name too long") == true && found.lostImages.isEmpty)
            for word in ["one", "two"] { #expect(cache.exists(Self.image(word).path)) }
            let whole = await inspector.inspect(expected)
            #expect(whole.trouble == nil && whole.summary == nil)
        }
    }

    @Test("an image that cannot be put back keeps no other from being put back")
    func blocked() async throws {
        try await withCache { cache, inspector, expected in
            let (blocked, other) = (Self.image("two").path, Self.image("one").path)
            let script = "cd '\(cache.path)'; rm '\(blocked)' '\(other)'; mkdir -p '\(blocked)/full'"
            try #require(try await Program.run("sh", "-ec", script).code == 0)
            #expect(await inspector.inspect(expected).trouble?.contains(blocked) == true)
            #expect(cache.exists(other))
            try #require(try await Program.run("rm", "-r", cache.path.appending(blocked).string).code == 0)
            let found = await inspector.inspect(expected)
            #expect(found.trouble == nil && found.summary == "1 name")
        }
    }

    @Test("a document or an image of another folder that cannot be read stays, and is no loss")
    func unreadableElsewhere() async throws {
        try await withCache { cache, inspector, expected in
            let script = "cd '\(cache.path)/..'; mv cache aside; cp -a aside cache"
            try #require(try await Program.run("sh", "-ec", script).code == 0)
            let image = cache.path.appending(Self.image("one").path).string
            let document = cache.path.appending(CacheLayout.document(try #require(expected.documents["apps.plist"])))
            // Nobody but root reads them.
            for name in [image, document.string] { try #require(chmod(name, 0) == 0) }
            let found = await inspector.inspect(expected)
            #expect(found.lostDocuments.isEmpty && found.lostImages.isEmpty)
            #expect((found.trouble == nil) == (geteuid() == 0))
            for name in [image, document.string] { #expect(access(name, F_OK) == 0) }
        }
    }

    @Test("an older copy of the cache keeps its generations and what they name, and tells what they are")
    func olderCopy() async throws {
        try await withCache { cache, inspector, expected in
            let script = "cd '\(cache.path)/..'; cp -a cache copy"
            try #require(try await Program.run("sh", "-ec", script).code == 0)
            var newer = expected
            for number in 2...3 {
                newer.documents = try await cache.publish(number, [Self.a: "newer"]).lists.mapValues(\.sha256)
            }
            newer.generation = 3
            newer.images = [Self.naming("newer", Self.a), Self.naming("two", Self.b)]
            let replace = "cd '\(cache.path)/..'; mv cache aside; mv copy cache"
            try #require(try await Program.run("sh", "-ec", replace).code == 0)
            let found = await inspector.inspect(newer)
            #expect(found.trouble == nil)
            let adopted = try #require(found.adopted)
            #expect(adopted.manifests.map(\.generation) == [1] && adopted.missing.isEmpty)
            #expect(adopted.documents.count == 1 && !found.lacksManifest)
            #expect(found.lostDocuments == ["apps.plist"] && found.lostImages == [.of("newer")])
            for word in ["one", "two"] { #expect(cache.exists(Self.image(word).path)) }
            #expect(try IconCache(at: cache.path).manifest().generation == 1)
            // It is told once.
            #expect(await inspector.inspect(expected).adopted == nil)
        }
    }

    @Test("a folder that a start would refuse is not adopted, and is tried again")
    func refused() async throws {
        try await withCache { cache, inspector, expected in
            let script = """
                cd '\(cache.path)/..'; mv cache aside; cp -a aside cache
                rm cache/manifest.json; echo '{ "format": 2 }' > cache/manifest.json
                """
            try #require(try await Program.run("sh", "-ec", script).code == 0)
            for _ in 0..<2 {
                let trouble = await inspector.inspect(expected).trouble
                #expect(trouble?.contains("format") == true, "\(trouble ?? "nothing")")
            }
            try #require(try await Program.run("rm", cache.path.appending("manifest.json").string).code == 0)
            #expect(await inspector.inspect(expected).adopted?.manifests.map(\.generation) == [1])
        }
    }
}
