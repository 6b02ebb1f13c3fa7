// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import Glibc
import Synchronization
import SystemPackage
import TestSupport
import Testing

@testable import SyncAgent

@Suite("The lock on a folder")
struct FolderLockTests {
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

    @Test(
        "a lock by a program that reads the folder does not keep the agent from its lock",
        arguments: ["--shared", "--exclusive"])
    func reader(kind: String) async throws {
        try await withTemporaryFolder { path in
            let folder = try FileDescriptor.openFolder(path)
            defer { try? folder.close() }
            _ = try FolderLock(in: folder, at: path)
            // The file names this process, which is not the holder.
            let command = ["flock", "--no-fork", kind, path.string, "sh", "-c", "touch '\(path)/held'; exec sleep 30"]
            let reader = Task { _ = try? await Program.run(command) }
            defer { reader.cancel() }
            try await waitUntil { access(path.appending("held").string, F_OK) == 0 }
            let lock = try FolderLock(in: folder, at: path)
            #expect(throws: FolderError.held(path, by: Int(getpid()))) { try FolderLock(in: folder, at: path) }
            try lock.renew(in: folder)
            reader.cancel()
            await reader.value
            // Now the folder is locked as well.
            try lock.renew(in: folder)
            try #require(unlink(path.appending(CacheLayout.lock).string) == 0)
            #expect(throws: FolderError.held(path, by: Int(getpid()))) { try FolderLock(in: folder, at: path) }
            withExtendedLifetime(lock) {}
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
