// SPDX-License-Identifier: Apache-2.0
import Glibc
import SyncAgent
import Testing

@testable import SyncAgentCLI

@Suite("The lock on a remote")
struct RemoteLockTests {
    /// Each test has a remote of its own: all processes of the machine see the locks.
    private func remote(_ name: String) -> String { "test-\(getpid())-\(name)" }

    @Test(
        "the lock on a remote excludes other exports to the same place, however it is written",
        arguments: ["bucket:icons", "bucket:icons/", "bucket:/icons", "bucket:icons//"])
    func same(name: String) throws {
        let (first, second) = (remote("bucket:icons"), remote(name))
        do {
            let lock = try RemoteLock(for: first)
            defer { withExtendedLifetime(lock) {} }
            #expect(throws: ExportError.busy(target: second, by: Int(getpid()))) { try RemoteLock(for: second) }
            _ = try RemoteLock(for: remote("bucket:icons2"))
        }
        _ = try RemoteLock(for: second)
    }

    @Test("the lock on a remote is not taken by other users, whatever names they bind")
    func otherUser() throws {
        // A lock of this process under the name of somebody else's.
        let (name, other) = (remote("taken:icons"), geteuid() + 1)
        let lock = try RemoteLock(for: name, user: other)
        defer { withExtendedLifetime(lock) {} }
        _ = try RemoteLock(for: name, user: other)
    }
}
