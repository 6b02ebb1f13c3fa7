// SPDX-License-Identifier: Apache-2.0
import CLinux
import CacheFormat
import Glibc
package import SyncPlan
import Synchronization
import SystemPackage

extension CacheFolder {
    /// Why leases of readers may be invisible here; `nil` if all are visible.
    package var leaseDoubt: LeaseDoubt? { knownLeaseDoubt.withLock(\.self) }

    /// Determines ``leaseDoubt`` from the type of the file system.
    func updateLeaseDoubt() {
        let doubt = fileSystem.flatMap { LeaseDoubt.of(fileSystem: $0) }
        knownLeaseDoubt.withLock { $0 = doubt }
    }

    /// The type of the file system (statfs(2)); `nil` if it is unknown.
    var fileSystem: UInt32? {
        var status = statfs()
        return fstatfs(descriptor.rawValue, &status) == 0 ? UInt32(truncatingIfNeeded: status.f_type) : nil
    }

    /// Whether each name of a file can have a lock of its own: on overlayfs, each name in a lower layer has.
    var mayHaveLocksPerName: Bool { fileSystem == 0x794C_7630 }

    /// Makes the manifest and the file of its generation one file: readers lock the former, the agent tests the latter.
    ///
    /// Of two files with the same bytes, as in a copied folder, the manifest stays, with the leases on it, unless the other
    /// one is leased. If the replaced file is leased, ``testLease(on:of:)`` finds that, too, for as long as this object
    /// exists.
    func putInForce(_ generation: Int, temporary: String) throws(FileError) {
        let name = CacheLayout.generation(generation)
        var (kept, replaced) = (name, CacheLayout.manifest)
        if try entry(replaced)?.isOwn == true, let bytes = try? read(replaced), try bytes == read(name),
            isUnleased(name, beside: replaced)
        {
            swap(&kept, &replaced)
            // The program that made the copy may have left out readers, and may not have flushed it.
            try makeReadOnly(kept, like: replaced)
            try flushing { () throws(FileError) in try sync(kept) }
        }
        let (inode, file) = (try entry(replaced)?.inode, opened(replaced))
        try replaceLink(kept, at: replaced, temporary: temporary)
        // The test of the manifest in force would refuse a lease. A reader that locks a replaced one later opens it again.
        guard try entry(replaced)?.inode != inode, let file, isHeld(file) else { return }
        _ = isReplacedFileLeased(of: generation)
        replacedFiles.withLock { $0[generation, default: []].append(file) }
    }

    /// Whether no reader holds a lease on a file; false if it is the manifest, whose test would refuse a reader's lease.
    private func isUnleased(_ name: String, beside manifest: String) -> Bool {
        guard let lease = opened(manifest), let file = opened(name) else { return false }
        // If both names have the same lock, this shared one makes the test fail.
        _ = flock(lease.raw, LOCK_SH | LOCK_NB)
        return withExtendedLifetime(lease) { !isHeld(file) }
    }

    private func opened(_ name: String) -> OwnedDescriptor? {
        (try? open(name)).map { OwnedDescriptor($0.rawValue) }
    }

    /// Whether a file of a generation is leased that ``putInForce(_:temporary:)`` replaced; closes those that are not.
    func isReplacedFileLeased(of generation: Int) -> Bool {
        replacedFiles.withLock { files in
            // A free file is closed, which ends the lock of this test.
            files[generation]?.removeAll { [.free, .untestable].contains(test($0)) }
            if files[generation]?.isEmpty == true { files[generation] = nil }
            return files[generation] != nil
        }
    }

    /// The inodes of the files of a generation on which readers may hold leases.
    func leasableInodes(of generation: Int) -> [UInt64] {
        let replaced = replacedFiles.withLock { $0[generation] ?? [] }.compactMap { file in
            var status = stat()
            return fstat(file.raw, &status) == 0 ? UInt64(status.st_ino) : nil
        }
        return [try? entry(CacheLayout.generation(generation))?.inode].compactMap(\.self) + replaced
    }

    private func isHeld(_ file: OwnedDescriptor) -> Bool { test(file) == .held }

    private func test(_ file: OwnedDescriptor) -> LeaseTest { testLease(on: FileDescriptor(rawValue: file.raw)).test }

    /// Tests whether a reader holds a lease on a generation, whose file is open; if not, blocks new leases until the file
    /// is closed.
    ///
    /// - Returns: The result, and the error if the file could not be locked.
    func testLease(on file: FileDescriptor, of generation: Int) -> (test: LeaseTest, error: Errno?) {
        isReplacedFileLeased(of: generation) ? (.held, .wouldBlock) : testLease(on: file)
    }

    private func testLease(on file: FileDescriptor) -> (test: LeaseTest, error: Errno?) {
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
