// SPDX-License-Identifier: Apache-2.0
import Glibc
import SystemPackage
import TestSupport
import Testing

@testable import AgentServer
@testable import SyncAgent

@Suite("The file of the control socket")
struct BoundSocketTests {
    @Test(
        "the file of the control socket is removed if it is ours, and not if it is another agent's by then",
        arguments: [false, true])
    func removal(isReplaced: Bool) async throws {
        try await withTemporaryFolder { folder in
            let path = folder.appending("control.sock")
            // To the file system a socket that is made like this is the same.
            try #require(mknod(path.string, S_IFSOCK | 0o600, 0) == 0)
            let socket = BoundSocket(at: path)
            socket.recordBound()
            if isReplaced {
                try #require(unlink(path.string) == 0)
                try #require(mknod(path.string, S_IFSOCK | 0o600, 0) == 0)
            }
            socket.remove()
            #expect((access(path.string, F_OK) == 0) == isReplaced)
        }
    }

    @Test("the file of the control socket is left alone if it was never bound")
    func unbound() async throws {
        try await withTemporaryFolder { folder in
            let path = folder.appending("control.sock")
            try #require(mknod(path.string, S_IFSOCK | 0o600, 0) == 0)
            BoundSocket(at: path).remove()
            #expect(access(path.string, F_OK) == 0)
        }
    }
}
