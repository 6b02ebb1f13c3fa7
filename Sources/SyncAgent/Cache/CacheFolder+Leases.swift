// SPDX-License-Identifier: Apache-2.0
import CLinux
import Glibc
package import SyncPlan
import Synchronization
import SystemPackage

extension CacheFolder {
    /// Why leases of readers may be invisible here; `nil` if all are visible.
    package var leaseDoubt: LeaseDoubt? { knownLeaseDoubt.withLock(\.self) }

    /// Determines ``leaseDoubt`` from the type of the file system.
    func updateLeaseDoubt() {
        var status = statfs()
        let isKnown = fstatfs(descriptor.rawValue, &status) == 0
        let doubt = isKnown ? LeaseDoubt.of(fileSystem: UInt32(truncatingIfNeeded: status.f_type)) : nil
        knownLeaseDoubt.withLock { $0 = doubt }
    }

    /// Tests whether a reader holds a lease on an open file; if not, blocks new leases until the file is closed.
    ///
    /// - Returns: The result, and the error if the file could not be locked.
    func testLease(on file: FileDescriptor) -> (test: LeaseTest, error: Errno?) {
        guard flock(file.rawValue, LOCK_EX | LOCK_NB) != 0 else { return (.free, nil) }
        let error = Errno(rawValue: errno)
        return knownLeaseDoubt.withLock { doubt in
            let test = LeaseTest(refusedWith: error, isRemote: doubt != nil)
            if test == .untestable, doubt == nil { doubt = .refused("\(error)") }
            return (test, error)
        }
    }
}

extension LeaseTest {
    /// Interprets the error of a non-blocking lock (flock(2), fcntl(2)).
    ///
    /// `isRemote` tells whether several hosts share the file system.
    init(refusedWith error: Errno, isRemote: Bool) {
        self =
            switch error {
            case .wouldBlock, .permissionDenied: .held
            // NFS locks exclusively only files open for writing, and published files are read-only.
            case .badFileDescriptor: .untestable
            case .notSupported, .noFunction, .invalidArgument: .untestable
            // No lock service responds; on a local file system, there is no memory for another lock.
            case .noLocks: isRemote ? .untestable : .failed
            default: .failed
            }
    }
}
