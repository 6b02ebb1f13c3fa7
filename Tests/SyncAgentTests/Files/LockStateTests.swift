// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import Glibc
import SystemPackage
import TestSupport
import Testing

@testable import SyncAgent

@Suite("The lock state of a folder")
struct LockStateTests {
    @Test("a folder that is missing, has no lock, or a lock of an ended agent is not held")
    func free() async throws {
        try await withTemporaryFolder { folder in
            #expect(LockState(ofFolder: folder.appending("none")) == .free)
            #expect(LockState(ofFolder: folder) == .free)
            try Self.hold(folder) {}
            #expect(LockState(ofFolder: folder) == .free)
        }
    }

    @Test(
        "while a process holds the lock, it is named; to look takes nothing away from others who look, or from agents")
    func held() async throws {
        try await withTemporaryFolder { folder in
            try Self.hold(folder) {
                #expect(LockState(ofFolder: folder) == .held(Int(getpid())))
                #expect(LockState(ofFolder: folder) == .held(Int(getpid())))
            }
            try Self.hold(folder) {}
        }
    }

    @Test("a lock on a file of the same inode number on another file system is another's")
    func otherFileSystem() async throws {
        try await withTemporaryFolder { folder in
            let folders = [folder.appending("one"), folder.appending("other")]
            for folder in folders { try makeFolder(folder) }
            try await SmallDisk.mounted("size=1m", at: folders[0]) {
                try await SmallDisk.mounted("size=1m", at: folders[1]) {
                    try Self.hold(folders[0]) {}
                    try Self.hold(folders[1]) {
                        let locks = try folders.map { try inode(of: $0.appending(CacheLayout.lock)) }
                        #expect(locks[0] == locks[1])
                        #expect(LockState(ofFolder: folders[0]) == .free)
                        #expect(LockState(ofFolder: folders[1]) == .held(Int(getpid())))
                    }
                }
            }
        }
    }

    @Test(
        "the lock state of a folder that cannot be searched is unknown",
        .enabled(if: geteuid() != 0, "root can look into every folder"))
    func closed() async throws {
        try await withTemporaryFolder { folder in
            let inner = folder.appending("cache")
            try #require(mkdir(inner.string, 0) == 0)
            #expect(LockState(ofFolder: inner) == .unknown(.permissionDenied))
        }
    }

    private func inode(of path: FilePath) throws -> UInt64 {
        let file = try FileDescriptor.open(path, .readOnly)
        return try file.closeAfter { UInt64(try file.stat().inode.rawValue) }
    }

    private static func hold(_ folder: FilePath, _ body: () throws -> Void) throws {
        let descriptor = try FileDescriptor.openFolder(folder)
        defer { try? descriptor.close() }
        let lock = try FolderLock(in: descriptor, at: folder)
        try body()
        withExtendedLifetime(lock) {}
    }
}
