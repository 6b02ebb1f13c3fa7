// SPDX-License-Identifier: Apache-2.0
import SyncPlan
import SystemPackage
import Testing

@testable import SyncAgent

@Suite("What the error of a lock says of leases")
struct LeaseErrorTests {
    @Test(
        "held, not to be told here, or not to be told now",
        arguments: [
            (Errno.wouldBlock, LeaseTest.held, LeaseTest.held),
            (.permissionDenied, .held, .held),
            // NFS, for a file that is not open for writing.
            (.badFileDescriptor, .untestable, .untestable),
            (.notSupported, .untestable, .untestable),
            (.noFunction, .untestable, .untestable),
            (.invalidArgument, .untestable, .untestable),
            // No lock service; of a file system of one host, no memory.
            (.noLocks, .untestable, .failed),
            (.ioError, .failed, .failed),
            (.interrupted, .failed, .failed),
            (.staleNFSFileHandle, .failed, .failed),
            (.noMemory, .failed, .failed),
        ])
    func errors(error: Errno, onRemote: LeaseTest, onLocal: LeaseTest) {
        #expect(LeaseTest(refusedWith: error, isRemote: true) == onRemote)
        #expect(LeaseTest(refusedWith: error, isRemote: false) == onLocal)
    }
}
