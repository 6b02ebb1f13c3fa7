// SPDX-License-Identifier: Apache-2.0
import SyncPlan
import SystemPackage
import Testing

@testable import SyncAgent

@Suite("Leases by the error of a lock")
struct LeaseErrorTests {
    @Test(
        "the error of a lock says that a lease is held, or unknown here or now",
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
