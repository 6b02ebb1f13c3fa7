// SPDX-License-Identifier: Apache-2.0
import CLinux
import Glibc
import SystemPackage
import TestSupport
import Testing

@testable import SyncAgent

@Suite("Holders of leases")
struct LeaseHoldersTests {
    @Test("shared locks of flock(2) count, by inode; others do not")
    func parse() {
        let text = """
            1: POSIX  ADVISORY  READ 11 08:01:100 0 EOF
            2: FLOCK  ADVISORY  WRITE 12 08:01:100 0 EOF
            3: FLOCK  ADVISORY  READ 13 08:01:100 0 EOF
            3: -> FLOCK  ADVISORY  WRITE 14 08:01:100 0 EOF
            4: FLOCK  ADVISORY  READ 15 fe:10:100 0 EOF
            5: FLOCK  ADVISORY  READ 16 00:2d:200 0 EOF
            nonsense
            """
        let holders = LeaseHolders.parse(text).mapValues { $0.map(\.process) }
        #expect(holders == [100: [13, 15], 200: [16]])
        #expect(LeaseHolders.parse(text, .exclusive) == [100: [.init(process: 12, device: gnu_dev_makedev(8, 1))]])
    }

    @Test("this process holds a lease when it has locked a file")
    func own() async throws {
        try await withTemporaryFolder { folder in
            let file = try FileDescriptor.open(
                folder.appending("file"), .readWrite, options: .create, permissions: .ownerReadWrite)
            defer { try? file.close() }
            try #require(flock(file.rawValue, LOCK_SH) == 0)
            let holders = LeaseHolders.all()[UInt64(try file.stat().inode.rawValue)] ?? []
            guard !holders.isEmpty else {
                try Test.cancel("/proc/locks tells nothing here")
            }
            #expect(holders.contains { $0.process == Int(getpid()) })
        }
    }
}
