// SPDX-License-Identifier: Apache-2.0
import Glibc
import IconCache
import SystemPackage
import TestSupport
import Testing

@Suite("A snapshot", .timeLimit(.minutes(5)))
struct SnapshotTests {
    @Test("a snapshot keeps others from locking its generation until it ends")
    func lease() async throws {
        try await withCache { published in
            try published.publish(1, ["1.plist": ["http://a/1": "one"]])
            let first = try published.cache.snapshot()
            let second = try published.cache.snapshot()
            #expect(first.isLeased && second.isLeased)
            #expect(try !published.canLock("manifest.json"))
            #expect(try !published.canLock("generations/1.json"))
            first.end()
            first.end()
            #expect(try !published.canLock("generations/1.json"))
            second.end()
            // A process that another test has just started has our files open until it runs its own program.
            try await waitUntil { try published.canLock("generations/1.json") }
        }
    }

    @Test("a snapshot ends when nothing refers to it any more")
    func unreferenced() async throws {
        try await withCache { published in
            try published.publish(1, [:])
            var snapshot: Snapshot? = try published.cache.snapshot()
            #expect(try OpenFiles(folder: published.folder).count() == 1)
            #expect(snapshot?.isLeased == true)
            snapshot = nil
            #expect(try OpenFiles(folder: published.folder).count() == 0)
        }
    }

    @Test("a snapshot stays what it was while newer generations are published")
    func stillness() async throws {
        try await withCache { published in
            let old = try published.publish(1, ["1.plist": ["http://a/1": "one"]])
            let snapshot = try published.cache.snapshot()
            defer { snapshot.end() }
            let new = try published.publish(2, ["2.plist": ["http://a/1": "two"]])
            #expect(try !published.retire(old))
            #expect(snapshot.manifest == old)
            #expect(try snapshot.document(of: "1.plist") == Sample.document("1.plist", ["http://a/1": "one"]))
            #expect(try snapshot.document(of: "2.plist") == nil)
            #expect(try FileBytes.read(snapshot.path(of: Sample.image("one"))) == Array("one".utf8))
            #expect(try published.cache.manifest() == new)
            // Another generation is not held by it.
            try await waitUntil { try published.canLock("generations/2.json") }
        }
    }

    @Test("a snapshot gives all documents, sorted by the lists' names")
    func documents() async throws {
        try await withCache { published in
            try published.publish(1, ["b": ["http://a/1": "one"], "c": [:], "a": ["http://a/1": "one"]])
            let snapshot = try published.cache.snapshot()
            defer { snapshot.end() }
            #expect(try snapshot.documents().map(\.list) == ["a", "b", "c"])
        }
    }

    @Test("a snapshot without a lease, because another process locks the manifest, says so and reads")
    func stranger() async throws {
        try await withCache { published in
            let manifest = try published.publish(1, ["1.plist": ["http://a/1": "one"]])
            let stranger = try FileDescriptor.open(
                published.path("manifest.json"), .readOnly, options: [.closeOnExec])
            try stranger.closeAfter {
                try check(flock(stranger.rawValue, LOCK_EX | LOCK_NB))
                let snapshot = try published.cache.snapshot()
                #expect(!snapshot.isLeased && snapshot.manifest == manifest)
                #expect(try snapshot.documents().count == 1)
            }
        }
    }

    @Test(
        "a snapshot is of the newer manifest if the older one is replaced while it is opened",
        .enabled(if: OpeningGate.isSupported, "this file system has no leases on files"))
    func opening() async throws {
        try await withCache { published in
            let old = try published.publish(1, ["1.plist": [:]])
            let gate = try OpeningGate(at: published.path("manifest.json"))
            async let snapshot = onThread { try published.cache.snapshot() }
            try await onThread {
                try gate.whileOneWaits {
                    try published.publish(2, ["1.plist": ["http://a/1": nil]])
                    for list in old.lists.values { try published.remove(list.document) }
                }
            }
            #expect(try await snapshot.isLeased)
            #expect(try await snapshot.manifest.generation == 2)
            #expect(try await snapshot.documents().count == 1)
        }
    }

    @Test("a snapshot misses no document, although the manifest is replaced without grace")
    func replacement() async throws {
        try await withCache { published in
            // No two generations have a document in common, so that what was superseded can go at once.
            func publish(_ generation: Int) throws -> Manifest {
                try published.publish(generation, documents: [Sample.document("1.plist", ["\(generation)": nil])])
            }
            try await withThrowingTaskGroup(of: Void.self) { group in
                let first = try publish(1)
                group.addTask {
                    var superseded = [first]
                    for generation in 2...100 {
                        let newest = try publish(generation)
                        superseded = try superseded.filter { try !published.retire($0) }
                        superseded.append(newest)
                    }
                }
                group.addTask {
                    var generation = 0
                    while generation < 100 {
                        let snapshot = try published.cache.snapshot()
                        defer { snapshot.end() }
                        #expect(snapshot.isLeased && snapshot.manifest.generation >= generation)
                        generation = snapshot.manifest.generation
                        #expect(try snapshot.documents().first?.apps.first?.icon == "\(generation)")
                        await Task.yield()
                    }
                }
                try await group.waitForAll()
            }
            #expect(try OpenFiles(folder: published.folder).count() == 0)
        }
    }

    @Test(
        "an unreadable manifest gives no snapshot, and leaves no file open",
        arguments: [
            ("", false), ("{ \"format\": 2 }", true), ("{ \"format\": 1, \"generation\": 1 }", false),
        ])
    func damagedManifest(text: String, isUnknownFormat: Bool) async throws {
        try await withCache { published in
            let path = published.path("manifest.json")
            try write(text, to: path)
            for read in [{ _ = try published.cache.manifest() }, { _ = try published.cache.snapshot() }] {
                switch #expect(throws: IconCacheError.self, performing: read) {
                case .unknownFormat(path.string, 2): #expect(isUnknownFormat)
                case .damaged(path.string, _): #expect(!isUnknownFormat)
                case let error: Issue.record("\(String(describing: error))")
                }
            }
            #expect(try OpenFiles(folder: published.folder).count() == 0)
        }
    }

    @Test("a snapshot gives no document but the one that the manifest names")
    func damagedDocument() async throws {
        try await withCache { published in
            var manifest = try published.publish(1, ["1.plist": ["http://a/1": "one"]])
            let list = try #require(manifest.lists["1.plist"])
            let path = published.path(list.document)
            let snapshot = try published.cache.snapshot()
            defer { snapshot.end() }

            try write(Sample.document("1.plist", [:]).json, to: path)
            #expect(
                throws: IconCacheError.damaged(
                    path: path.string, reason: "its digest differs from the one in the manifest")
            ) { try snapshot.document(of: "1.plist") }

            try published.remove(list.document)
            let missing = IconCacheError.unreadable(path: path.string, errno: .noSuchFileOrDirectory)
            #expect(throws: missing) { try snapshot.document(of: "1.plist") }
            #expect(throws: missing) { try snapshot.documents() }
            #expect(throws: missing) { try published.cache.entry(forIcon: "http://a/1") }

            let text = "{ \"format\": 2 }"
            manifest.generation = 2
            manifest.lists = ["1.plist": .init(sha256: .of(text), apps: 0, ready: 0, pending: 0, failed: 0)]
            let later = published.path(CacheLayout.document(.of(text)))
            try write(text, to: later)
            try published.publish(manifest)
            #expect(throws: IconCacheError.unknownFormat(path: later.string, format: 2)) {
                try published.cache.document(of: "1.plist")
            }

            manifest = try published.publish(3, ["a.plist": [:]])
            manifest.generation = 4
            manifest.lists["b.plist"] = manifest.lists["a.plist"]
            try published.publish(manifest)
            #expect(try published.cache.apps(in: "a.plist") == [])
            let error = #expect(throws: IconCacheError.self) { try published.cache.apps(in: "b.plist") }
            #expect("\(String(describing: error))".contains("another list than b.plist"))
            #expect(try OpenFiles(folder: published.folder).count() == 1)
        }
    }

    @Test("a snapshot leaves no file open, however many there were")
    func descriptors() async throws {
        try await withCache { published in
            try published.publish(1, ["1.plist": ["http://a/1": "one"]])
            let files = OpenFiles(folder: published.folder)
            for _ in 0..<20 {
                _ = try published.cache.document(of: "1.plist")
                _ = try published.cache.entry(forIcon: "http://a/1")
                _ = try published.cache.manifest()
                try published.cache.snapshot().end()
            }
            #expect(try files.count() == 0)
            let snapshots = try (0..<20).map { _ in try published.cache.snapshot() }
            #expect(try files.count() == 20)
            for snapshot in snapshots { snapshot.end() }
            #expect(try files.count() == 0)
        }
    }
}
