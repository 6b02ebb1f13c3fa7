// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import Glibc
import SystemPackage
import TestSupport
import Testing

@testable import SyncAgent

@Suite("The lock on a folder")
struct FolderLockTests {
    @Test("holds and names its holder, also when its file is removed", arguments: [false, true])
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

    @Test("is free when its holder is gone")
    func released() async throws {
        try await withTemporaryFolder { path in
            let folder = try FileDescriptor.openFolder(path)
            defer { try? folder.close() }
            for _ in 0..<2 { _ = try FolderLock(in: folder, at: path) }
        }
    }
}
