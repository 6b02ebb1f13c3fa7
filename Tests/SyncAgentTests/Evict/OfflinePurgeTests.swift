// SPDX-License-Identifier: Apache-2.0
import AppLists
import CacheFormat
import Glibc
import IconCache
import SyncPlan
import SystemPackage
import TestSupport
import Testing

@testable import SyncAgent

@Suite("A purge without an agent")
struct OfflinePurgeTests {
    @Test(
        "a purge keeps the last good version of each list, and which folder had the lists, but neither images nor pins",
        arguments: [false, true])
    func lists(isPrivate: Bool) async throws {
        try await withTemporaryFolder { folder in
            let (cache, state) = (folder.appending("cache"), folder.appending("state"))
            for path in [cache, state] { try AgentFolders.make(path, mode: .ownerReadWriteExecute) }
            let fixture = try CacheFixture(cache)
            try await fixture.publish(1, ["http://a/pin": "pin"], list: Reconciler.pinList)
            try await fixture.publish(2, ["http://a/one": "one"], isPrivate: isPrivate)
            let identity = FolderIdentity(fileSystem: 1, device: 2, handle: [3])
            let store = try StateStore(folder: state, clock: AgentClock(), logger: .silent)
            var changes = MemoChanges()
            changes.values = RememberedValues(isPaused: true, folder: identity)
            try await store.apply(changes)
            try await store.close()
            // A second purge has nothing to publish.
            for images in [2, 0] {
                #expect(try await OfflinePurge.run(cache: cache, state: state) == OfflinePurge.Result(images: images))
                let manifest = try IconCache(at: cache).manifest()
                // Until the images are gone, the manifest says that some are private.
                #expect(manifest.generation == (isPrivate ? 4 : 3) && !manifest.isPrivate)
                #expect(manifest.lists.keys.map(\.self) == ["apps.plist"] && manifest.lists["apps.plist"]?.pending == 1)
                #expect(try IconCache(at: cache).document(of: "apps.plist")?.apps.map(\.icon) == ["http://a/one"])
                #expect(try fixture.names(in: CacheLayout.generations) == ["\(manifest.generation).json"])
                #expect(try fixture.names(in: CacheLayout.lists).count == 1)
                let values = StateStore.read(folder: state)?.values
                #expect(values?.folder == identity && values?.isPaused == false)
            }
        }
    }

    @Test("a purge of a cache with a damaged document leaves a manifest whose documents are there")
    func damaged() async throws {
        try await withTemporaryFolder { folder in
            let cache = folder.appending("cache")
            try AgentFolders.make(cache, mode: .ownerReadWriteExecute)
            let fixture = try CacheFixture(cache)
            try await fixture.publish(1, ["http://a/one": "one"])
            let document = try #require(try fixture.names(in: CacheLayout.lists).first)
            try write("{", to: cache.appending("\(CacheLayout.lists)/\(document)"))
            let result = try await OfflinePurge.run(cache: cache, state: folder.appending("state"))
            #expect(result == OfflinePurge.Result(images: 1))
            #expect(try IconCache(at: cache).manifest().lists.isEmpty)
            #expect(try fixture.names(in: CacheLayout.lists).isEmpty)
        }
    }

    @Test(
        "a purge on a full disk publishes all lists again once there is room, or fails if it may not do without one",
        arguments: [true, false], [true, false])
    func full(isReadable: Bool, isLeased: Bool) async throws {
        try await withTemporaryFolder { folder in
            let (cache, state) = (folder.appending("cache"), folder.appending("state"))
            for path in [cache, state] { try AgentFolders.make(path, mode: .ownerReadWriteExecute) }
            try await SmallDisk.mounted("size=256k", at: cache) {
                let fixture = try CacheFixture(cache)
                // Its document takes eight pages.
                let long = IconURL("http://a/" + String(repeating: "x", count: 30_000))
                try await fixture.publish(1, [long: "one"])
                let filler = cache.appending("filler")
                let file = try FileDescriptor.open(
                    filler, .writeOnly, options: [.create, .append], permissions: .ownerReadWrite)
                while (try? file.writeAll([UInt8](repeating: 1, count: 4096))) != nil {}
                try #require(ftruncate(file.rawValue, Int(file.seek(offset: -4 * 4096, from: .end))) == 0)
                try file.close()
                let lease = try FileDescriptor.open(cache.appending(CacheLayout.generation(1)), .readOnly)
                defer { try? lease.close() }
                if isLeased { try #require(flock(lease.rawValue, LOCK_SH) == 0) }
                if isReadable {
                    let result = try await OfflinePurge.run(cache: cache, state: state, readable: ["apps.plist"])
                    #expect(result.images == (isLeased ? 0 : 1) && result.failures == 0)
                } else {
                    await #expect(throws: OfflinePurge.PurgeError.self) {
                        try await OfflinePurge.run(cache: cache, state: state)
                    }
                }
                // What a reader keeps takes the room that its list needs.
                let manifest = try IconCache(at: cache).manifest()
                #expect(manifest.lists.isEmpty == (isReadable && isLeased))
                #expect(manifest.generation == (!isReadable ? 1 : isLeased ? 2 : 3))
            }
        }
    }

    @Test(
        "the origins of private icons stay known while a file could not be removed, or a reader keeps an image",
        arguments: [true, false], [true, false])
    func origins(isRemovable: Bool, isLeased: Bool) async throws {
        try await withTemporaryFolder { folder in
            let (cache, state) = (folder.appending("cache"), folder.appending("state"))
            for path in [cache, state] { try AgentFolders.make(path, mode: .ownerReadWriteExecute) }
            try await CacheFixture(cache).publish(1, ["http://a/one": "one"])
            let store = try StateStore(folder: state, clock: AgentClock(), logger: .silent)
            var changes = MemoChanges()
            changes.values = RememberedValues(privateOrigins: ["h.example"])
            try await store.apply(changes)
            try await store.close()
            if !isRemovable {
                let image = CacheLayout.image(.of("two"), suffix: "png")
                try makeFolder(cache.pushing(FilePath(image)))
                try makeFolder(cache.pushing(FilePath(image)).appending("file"))
            }
            let lease = try FileDescriptor.open(cache.appending(CacheLayout.generation(1)), .readOnly)
            defer { try? lease.close() }
            if isLeased { try #require(flock(lease.rawValue, LOCK_SH) == 0) }
            // A second purge has the same result.
            for _ in 0..<2 {
                let result = try await OfflinePurge.run(cache: cache, state: state)
                #expect(result.failures == (isRemovable ? 0 : 1))
                let store = try StateStore(folder: state, clock: AgentClock(), logger: .silent)
                #expect(store.remembered.values.privateOrigins == (isRemovable && !isLeased ? nil : ["h.example"]))
                try await store.close()
            }
        }
    }
}
