// SPDX-License-Identifier: Apache-2.0
import Glibc
import SystemPackage

/// A shared lock on the newest generation: while it is held, nothing that the generation names is removed.
struct Lease: ~Copyable {
    /// The manifest that is leased: the file itself, whatever its names are by now.
    let manifest: FileDescriptor
    /// Whether the lock is held.
    ///
    /// It is not where the file system has no locks, and while a stranger holds an exclusive one; then only the grace period
    /// keeps what the generation names.
    let isHeld: Bool

    /// How often a manifest may be replaced while it is being opened, before it is read without a lock.
    ///
    /// On file systems whose inode numbers do not last, every opened file looks like a replaced one.
    private static let attempts = 100

    private init(manifest: FileDescriptor, isHeld: Bool) {
        self.manifest = manifest
        self.isHeld = isHeld
    }

    deinit {
        try? manifest.close()
    }

    /// Opens the file at the path and locks it, so that it still is the one at the path when it is locked.
    static func take(onFileAt path: FilePath) throws(Errno) -> Lease {
        for _ in 1..<attempts {
            let lease = try open(path)
            // The agent releases a generation only after another one has the name. So one that has it and is locked,
            // was locked in time.
            if try lease.isStill(at: path) { return lease }
        }
        return Lease(manifest: try openFile(path), isHeld: false)
    }

    private static func open(_ path: FilePath) throws(Errno) -> Lease {
        let file = try openFile(path)
        return Lease(manifest: file, isHeld: lock(file))
    }

    private static func openFile(_ path: FilePath) throws(Errno) -> FileDescriptor {
        do {
            return try FileDescriptor.open(path, .readOnly, options: [.closeOnExec])
        } catch {
            throw error as? Errno ?? .ioError
        }
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
