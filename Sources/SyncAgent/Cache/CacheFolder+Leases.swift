// SPDX-License-Identifier: Apache-2.0
import CLinux
import Glibc
package import SyncPlan
import Synchronization
import SystemPackage

extension CacheFolder {
    /// Why leases of readers may be unseen here; `nil` if all are seen.
    package var leaseDoubt: LeaseDoubt? { knownLeaseDoubt.withLock(\.self) }

    /// Looks at what file system the folder is on.
    func noteFileSystem() {
        var status = statfs()
        let isKnown = fstatfs(descriptor.rawValue, &status) == 0
        let doubt = isKnown ? LeaseDoubt.of(fileSystem: UInt32(truncatingIfNeeded: status.f_type)) : nil
        knownLeaseDoubt.withLock { $0 = doubt }
    }

    /// Tries whether a reader holds a lease on a file, and keeps others from taking one until the file is closed.
    ///
    /// - Parameter file: The file, open.
    /// - Returns: What came of it, and the error if the file could not be locked.
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
    /// What the error of a lock that is not waited for says (flock(2), fcntl(2)).
    ///
    /// - Parameters:
    ///   - error: The error.
    ///   - isRemote: Whether the file system is one of several hosts.
    init(refusedWith error: Errno, isRemote: Bool) {
        self =
            switch error {
            case .wouldBlock, .permissionDenied: .held
            // NFS locks exclusively only what is open for writing, and nobody may write to what was published.
            case .badFileDescriptor: .untestable
            case .notSupported, .noFunction, .invalidArgument: .untestable
            // No lock service answers; on a file system of this host alone, there is no memory for one more lock.
            case .noLocks: isRemote ? .untestable : .failed
            default: .failed
            }
    }
}
