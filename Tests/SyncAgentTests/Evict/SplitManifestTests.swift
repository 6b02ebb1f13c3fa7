// SPDX-License-Identifier: Apache-2.0
import Glibc
import IconCache
import Reports
import SyncPlan
import SystemPackage
import TestSupport
import Testing

@testable import SyncAgent

@Suite("Leases on a manifest that shares no lock with its generation's file")
struct SplitManifestTests {
    private static let one: KeyValuePairs<IconURL, String> = ["http://a/1": "one"]
    private static let manifest = FilePath(CacheLayout.manifest)

    /// Runs the body with a copied cache of one generation: its manifest and the file in `generations/` are two files.
    private func withCopy(_ body: (FilePath) async throws -> Void) async throws {
        try await withTemporaryFolder { folder in
            let cache = folder.appending("cache")
            try AgentFolders.make(cache, mode: .ownerReadWriteExecute)
            try await CacheFixture(cache).publish(1, Self.one)
            let copy = folder.appending("copy")
            try await Tool.run("cp", "-r", cache.string, copy.string)
            #expect(try !CacheFolder(copy).isInForce(1))
            try await body(copy)
        }
    }

    private static func lease(_ file: FilePath) throws -> FileDescriptor {
        let file = try FileDescriptor.open(file, .readOnly)
        try #require(flock(file.rawValue, LOCK_SH | LOCK_NB) == 0)
        return file
    }

    private static func isReleased(in cache: CacheFixture) async -> Bool {
        await cache.evictor.release([GenerationRelease(generation: 1, isPastGrace: true)]).removed == [1]
    }

    /// Starts an agent twice on a cache whose manifest a reader leases before the first start, or after it.
    private func expectLeaseCounts(in path: FilePath, isEarly: Bool = true) async throws {
        let early = try isEarly ? Self.lease(path.pushing(Self.manifest)) : nil
        let first = try CacheFixture(path)
        #expect(try first.folder.isInForce(1) && first.names(in: "staging").isEmpty)
        let lease = try early ?? Self.lease(path.pushing(Self.manifest))
        try await first.publish(2, ["http://a/1": "two"])
        #expect(await !Self.isReleased(in: first))
        let second = try CacheFixture(path)
        #expect(await !Self.isReleased(in: second) && second.exists(CacheFixture.image("one").path))
        try lease.close()
        #expect(await Self.isReleased(in: second))
    }

    @Test(
        "a lease on the manifest of a copied cache counts for each agent on it, also if the first start is killed",
        arguments: [false, true])
    func copied(isKilled: Bool) async throws {
        try await withCopy { copy in
            // Between its two steps, a start leaves this link.
            if isKilled { try CacheFolder(copy).link(CacheLayout.manifest, to: StagingPath.of("recovery")) }
            try await expectLeaseCounts(in: copy)
        }
    }

    @Test("a lease on the generation's file of a copied cache counts for each agent that starts on it, and is reported")
    func generation() async throws {
        try await withCopy { copy in
            let lease = try Self.lease(copy.pushing(FilePath(CacheLayout.generation(1))))
            let cache = try CacheFixture(copy)
            try await cache.publish(2, ["http://a/1": "two"])
            #expect(await !Self.isReleased(in: cache))
            #expect(await cache.evictor.leases(on: [1]).flatMap(\.pids) == [Int(getpid())])
            let next = try CacheFixture(copy)
            #expect(await !Self.isReleased(in: next))
            try lease.close()
            #expect(await Self.isReleased(in: next))
        }
    }

    @Test("a lease on a replaced manifest is reported, and the manifest that stays has the readers of the other file")
    func replaced() async throws {
        try await withCopy { copy in
            let manifest = copy.pushing(Self.manifest)
            try #require(chmod(manifest.string, 0o600) == 0)
            let cache = try CacheFixture(copy)
            var status = stat()
            #expect(stat(manifest.string, &status) == 0 && status.st_mode & 0o7777 == 0o444)
            let lease = try Self.lease(manifest)
            try await Tool.run("cp", manifest.string, copy.appending("x").string)
            try await Tool.run("mv", "-f", copy.appending("x").string, manifest.string)
            let other = try Self.lease(manifest)
            try cache.folder.putInForce(1, temporary: StagingPath.of("recovery"))
            try await cache.publish(2, ["http://a/1": "two"])
            try lease.close()
            #expect(await cache.evictor.leases(on: [1]).flatMap(\.pids) == [Int(getpid())])
            #expect(await !Self.isReleased(in: cache))
            try other.close()
            #expect(await Self.isReleased(in: cache))
        }
    }

    @Test("a purge without an agent sees a lease on the manifest of a copied cache")
    func purge() async throws {
        try await withCopy { copy in
            let lease = try Self.lease(copy.pushing(Self.manifest))
            let state = copy.removingLastComponent().appending("state")
            #expect(try await OfflinePurge.run(cache: copy, state: state).kept == [1])
            try lease.close()
            let result = try await OfflinePurge.run(cache: copy, state: state)
            #expect(result.kept.isEmpty && result.images == 1)
        }
    }

    @Test("a damaged manifest does not replace its generation's file, whoever has locked it")
    func damaged() async throws {
        try await withCopy { copy in
            let manifest = copy.pushing(Self.manifest)
            try #require(chmod(manifest.string, 0o644) == 0 && truncate(manifest.string, 1) == 0)
            let lease = try Self.lease(manifest)
            defer { try? lease.close() }
            #expect(try CacheFixture(copy).restored.manifests.map(\.generation) == [1])
            #expect(try IconCache(at: copy).manifest().generation == 1)
        }
    }

    @Test("a lease on the manifest of a cache in a lower layer of overlayfs counts", arguments: [true, false])
    func layered(isEarly: Bool) async throws {
        try await withTemporaryFolder { folder in
            try await SmallDisk.mounted("size=16m", at: folder) {
                let lower = folder.appending("lower")
                try AgentFolders.make(lower, mode: .ownerReadWriteExecute)
                try await CacheFixture(lower).publish(1, Self.one)
                try await SmallDisk.overlaid(lower, in: folder) { cache in
                    try await expectLeaseCounts(in: cache, isEarly: isEarly)
                }
            }
        }
    }
}
