// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import FoundationEssentials
import Glibc
import IconCache
import SyncPlan
import Synchronization
import SystemPackage
import TestSupport
import Testing

@testable import SyncAgent

@Suite("The lock on a folder")
struct FolderLockTests {
    private static let becomesOthers: ConditionTrait = .enabled(
        if: geteuid() == 0 && Tool.areInstalled("setpriv", "flock"), "becoming another user takes root's rights")

    @Test("the lock on a folder holds and names its holder, also when its file is removed", arguments: [false, true])
    func held(isFileRemoved: Bool) async throws {
        try await withTemporaryFolder { path in
            let folder = try FileDescriptor.openFolder(path)
            defer { try? folder.close() }
            let lock = try FolderLock(in: folder, at: path)
            if isFileRemoved { try #require(unlink(path.appending(CacheLayout.lock).string) == 0) }
            #expect(throws: FolderError.held(path, by: Int(getpid()))) { try FolderLock(in: folder, at: path) }
            try lock.renew(in: folder)
            #expect(LockState(ofFolder: path) == .held(Int(getpid())))
            withExtendedLifetime(lock) {}
        }
    }

    /// Runs the body while a program has locked the folder: as root, or as another user.
    private func whileLocked(
        _ path: FilePath, _ kind: String, as user: Int, _ body: (FileDescriptor) async throws -> Void
    ) async throws {
        try #require(chmod(path.string, 0o755) == 0)
        let folder = try FileDescriptor.openFolder(path)
        defer { try? folder.close() }
        let inode = UInt64(try folder.stat().inode.rawValue)
        let command = ["setpriv", "--reuid=\(user)", "--clear-groups", "flock", "--no-fork", kind, path.string]
        let program = Task { _ = try? await Program.run(command + ["sleep", "60"]) }
        try await waitUntil { LeaseHolders.all(of: nil)[inode] != nil }
        try await body(folder)
        program.cancel()
        await program.value
    }

    @Test(
        "another user's lock on the folder keeps no agent from its lock, which no second one gets", Self.becomesOthers,
        arguments: ["--shared", "--exclusive"])
    func others(kind: String) async throws {
        try await withTemporaryFolder { path in
            let held = Mutex<FolderLock?>(nil)
            try await whileLocked(path, kind, as: 65534) { folder in
                let lock = try FolderLock(in: folder, at: path)
                #expect(throws: FolderError.held(path, by: Int(getpid()))) { try FolderLock(in: folder, at: path) }
                try lock.renew(in: folder)
                held.withLock { $0 = lock }
            }
            let folder = try FileDescriptor.openFolder(path)
            defer { try? folder.close() }
            // Now it locks the folder, too.
            try held.withLock { try $0?.renew(in: folder) }
            try #require(unlink(path.appending(CacheLayout.lock).string) == 0)
            #expect(throws: FolderError.held(path, by: Int(getpid()))) { try FolderLock(in: folder, at: path) }
            try held.withLock { try $0?.renew(in: folder) }
        }
    }

    @Test("a lock of the agent's own user on the folder is held, whatever program has it", Self.becomesOthers)
    func own() async throws {
        try await withTemporaryFolder { path in
            try await whileLocked(path, "--shared", as: 0) { folder in
                let error = #expect(throws: FolderError.self) { try FolderLock(in: folder, at: path) }
                #expect(error?.isHeld == true && error != .held(path, by: nil))
            }
        }
    }

    @Test("beside another user's lock, a cache without lock file is held, and its agent ends", Self.becomesOthers)
    func missing() async throws {
        try await withTemporaryFolder { path in
            try await whileLocked(path, "--shared", as: 65534) { folder in
                let lock = try FolderLock(in: folder, at: path)
                try makeFolder(path.appending(CacheLayout.generations))
                try write("{}", to: path.appending(CacheLayout.generation(1)))
                try #require(unlink(path.appending(CacheLayout.lock).string) == 0)
                #expect(throws: FolderError.self) { try FolderLock(in: folder, at: path) }
                for _ in 0..<2 { #expect(throws: FolderError.lost(path)) { try lock.renew(in: folder) } }
                #expect(lock.lost.isReached && access(path.appending(CacheLayout.lock).string, F_OK) != 0)
                // A cache without generations is a new one.
                try #require(unlink(path.appending(CacheLayout.generation(1)).string) == 0)
                _ = try FolderLock(in: folder, at: path)
            }
        }
    }

    @Test("beside another user's lock, an agent whose cache was emptied makes nothing in it", Self.becomesOthers)
    func emptied() async throws {
        try await withTemporaryFolder { path in
            let cache = try CacheFixture(path)
            try await cache.publish(1, ["http://a/one": "one"])
            try write("", to: path.appending(CacheLayout.lock))
            try await whileLocked(path, "--shared", as: 65534) { folder in
                let lock = try FolderLock(in: folder, at: path)
                let publisher = Publisher(
                    cache.folder, lock: lock, staged: cache.staged, thread: FileThread("tests"))
                let inspector = CacheInspector(publisher, lock: lock, logger: .silent)
                for name in try FileManager.default.contentsOfDirectory(atPath: path.string) {
                    try FileManager.default.removeItem(atPath: path.appending(name).string)
                }
                let found = await inspector.inspect(CacheExpectation(generation: 1, documents: [:], images: []))
                #expect(found.trouble == "\(FolderError.lost(path))" && lock.lost.isReached)
                #expect(try FileManager.default.contentsOfDirectory(atPath: path.string) == [])
                _ = try FolderLock(in: folder, at: path)
            }
        }
    }

    @Test("where folders cannot be locked, a removed lock file is made again unless another process holds one")
    func withoutFolders() async throws {
        try await withTemporaryFolder { path in
            let folder = try FileDescriptor.openFolder(path)
            defer { try? folder.close() }
            let lock = try FolderLock(onlyOfFileIn: folder, at: path)
            let file = path.appending(CacheLayout.lock)
            try makeFolder(path.appending(CacheLayout.generations))
            for kind in [nil, LOCK_SH, LOCK_EX] {
                try #require(unlink(file.string) == 0)
                let other = try kind.map { kind in
                    let other = try FileDescriptor.open(
                        file, .readWrite, options: .create, permissions: .ownerReadWrite)
                    try #require(flock(other.rawValue, kind) == 0)
                    return other
                }
                // A command locks the file for a moment only.
                async let _: Void = Task.detached {
                    try await Task.sleep(for: .milliseconds(50))
                    if kind == LOCK_SH { try other?.close() }
                }.value
                if kind == LOCK_EX {
                    #expect(throws: FolderError.held(path, by: Int(getpid()))) { try lock.renew(in: folder) }
                } else {
                    try lock.renew(in: folder)
                }
                #expect(lock.lost.isReached == (kind == LOCK_EX))
                if kind == LOCK_EX { try other?.close() }
            }
        }
    }

    @Test("the number in a lock file is not given as its holder's, unless that holds it")
    func otherHolder() async throws {
        try await withTemporaryFolder { path in
            let file = path.appending(CacheLayout.lock)
            try write("1\n", to: file)
            let folder = try FileDescriptor.openFolder(path)
            defer { try? folder.close() }
            let held = try FileDescriptor.open(file, .readOnly)
            try #require(flock(held.rawValue, LOCK_EX) == 0)
            #expect(throws: FolderError.held(path, by: Int(getpid()))) { try FolderLock(in: folder, at: path) }
            try held.close()
        }
    }

    @Test("nothing is published or removed once another process holds the lock file")
    func lost() async throws {
        try await withTemporaryFolder { path in
            let cache = try CacheFixture(path)
            let manifest = try await cache.publish(1, ["http://a/one": "one"])
            let lock = try FolderLock(in: cache.folder.descriptor, at: path)
            let thread = FileThread("tests")
            let publisher = Publisher(cache.folder, lock: lock, staged: cache.staged, thread: thread)
            let evictor = Evictor(cache.folder, lock: lock, thread: thread, logger: .silent)
            let file = path.appending(CacheLayout.lock)
            try #require(unlink(file.string) == 0)
            let other = try FileDescriptor.open(file, .readWrite, options: .create, permissions: .ownerReadWrite)
            try #require(flock(other.rawValue, LOCK_EX) == 0)
            let reason = "\(FolderError.held(path, by: Int(getpid())))"
            let publication = Publication(generation: 2, published: Timestamp(sinceEpoch: .seconds(2)))
            let result = await publisher.publish(publication)
            guard case .refused(let refusal) = result else {
                Issue.record("\(result)")
                return
            }
            #expect(refusal.reason == reason)
            #expect(await evictor.release([GenerationRelease(generation: 1)]).failed == [1])
            var plan = RetirementPlan()
            plan.images = [CacheFixture.image("one")]
            plan.documents = Set(manifest.lists.values.map(\.sha256))
            let failed = await evictor.remove(plan)
            #expect(failed.images == plan.images && failed.documents == plan.documents && failed.failure == reason)
            #expect(try CacheFixture(path).lookFirst().isEmpty)
            #expect(try IconCache(at: path).manifest().generation == 1)
            // It stays lost.
            try other.close()
            #expect(lock.loss(in: cache.folder.descriptor) != nil && lock.lost.isReached)
        }
    }

    @Test("the lock on a folder is free when its holder is gone")
    func released() async throws {
        try await withTemporaryFolder { path in
            let folder = try FileDescriptor.openFolder(path)
            defer { try? folder.close() }
            for _ in 0..<2 { _ = try FolderLock(in: folder, at: path) }
        }
    }

    @Test("the lock on a folder is waited for, but not for ever")
    func waiting() async throws {
        try await withTemporaryFolder { path in
            let folder = try FileDescriptor.openFolder(path)
            defer { try? folder.close() }
            let log = RecordedLog()
            let held = Mutex<FolderLock?>(try FolderLock(in: folder, at: path))
            await #expect(throws: FolderError.held(path, by: Int(getpid()))) {
                try await FolderLock.locks(on: [(folder, path)], atMost: .milliseconds(100), logger: log.logger)
            }
            #expect(log.messages == ["waiting for a folder that is in use"])
            async let locks = FolderLock.locks(on: [(folder, path)], atMost: .seconds(60), logger: log.logger)
            try await waitUntil { log.messages.count == 2 }
            held.withLock { $0 = nil }
            let count = try await locks.count
            #expect(count == 1)
        }
    }
}
