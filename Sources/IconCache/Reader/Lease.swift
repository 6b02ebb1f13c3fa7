// SPDX-License-Identifier: Apache-2.0
import Glibc
import SystemPackage

/// A shared lock on the newest generation: while it is held, no file that the generation names is removed.
struct Lease: ~Copyable {
    /// The leased manifest, open; its name may belong to another file by now.
    let manifest: FileDescriptor
    /// Whether the lock is held.
    ///
    /// The lock is not held if the file system has no locks, or if another program holds an exclusive one. Then only
    /// the grace period protects the files that the generation names. On network file systems, the agent's host may not
    /// see a lock that is held.
    let isHeld: Bool

    /// The number of attempts to lock a manifest before it is read without a lock.
    ///
    /// On file systems without stable inode numbers, every opened file looks like a replaced one.
    private static let attempts = 100

    private init(manifest: FileDescriptor, isHeld: Bool) {
        self.manifest = manifest
        self.isHeld = isHeld
    }

    deinit {
        try? manifest.close()
    }

    /// Opens and locks the file at a path; it is still at the path when the lock is held.
    static func take(onFileAt path: FilePath) throws(Errno) -> Lease {
        for _ in 1..<attempts {
            let lease = try open(path)
            // The agent releases a generation only after a newer manifest has its name. So a file that is still at the
            // path once it is locked was locked in time.
            do {
                if try lease.isStill(at: path) { return lease }
            } catch  where error.mayMeanReplaced {
                continue
            }
        }
        return Lease(manifest: try FileBytes.open(path), isHeld: false)
    }

    private static func open(_ path: FilePath) throws(Errno) -> Lease {
        let file = try FileBytes.open(path)
        return Lease(manifest: file, isHeld: lock(file))
    }

    private static func lock(_ file: FileDescriptor) -> Bool {
        while flock(file.rawValue, LOCK_SH | LOCK_NB) != 0 {
            guard errno == EINTR else { return false }
        }
        return true
    }

    private func isStill(at path: FilePath) throws(Errno) -> Bool {
        let mine = try manifest.stat()
        let newest = try path.stat()
        return mine.deviceID == newest.deviceID && mine.inode == newest.inode
    }
}
