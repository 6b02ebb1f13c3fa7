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
            try lock.renewFile(in: folder)
            #expect(LockState(ofFolder: path) == .held(Int(getpid())))
            withExtendedLifetime(lock) {}
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
