// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import Glibc
import Synchronization
package import SystemPackage

/// The lock on one of the agent's folders, held for the life of the process: one agent per folder.
///
/// Both the folder itself and a file in it are locked. The file says which process holds the lock, but can be removed;
/// the folder cannot be replaced while it is locked, but some network file systems cannot lock folders, and every user
/// who can read it can lock it.
///
/// Only the owner can open the file: any other user who could would be able to lock it, and so keep the agent from
/// starting. So the file alone is locked while the folder's lock is certainly another user's.
package final class FolderLock: Sendable {
    private let path: FilePath
    private let held: Mutex<Locked>
    /// Reached once another agent may have the folder: nothing in it may then be changed.
    let lost = Milestone()

    private struct Locked {
        /// The folder's descriptor; `nil` if the file system cannot lock folders, or another user has locked it.
        var folder: FileDescriptor?
        var file: FileDescriptor
        var loss: FolderError?

        func close() {
            try? folder?.close()
            try? file.close()
        }
    }

    /// Takes the lock on an open folder.
    ///
    /// - Throws: ``FolderError/held(_:by:)`` if another process holds it, or a ``FileError``.
    package init(in folder: FileDescriptor, at path: FilePath) throws {
        self.path = path
        held = Mutex(try Self.acquire(folder, at: path))
    }

    deinit {
        held.withLock { $0.close() }
    }

    /// Locks the folder that is at the path now, and releases the lock on the previous one.
    ///
    /// The body is called while both folders are locked.
    ///
    /// - Throws: The errors of ``init(in:at:)`` and of the body; then the old lock stays, and the new one is released.
    func move(to folder: FileDescriptor, _ body: () throws -> Void) throws {
        let new = try Self.acquire(folder, at: path)
        do {
            try body()
        } catch {
            new.close()
            throw error
        }
        held.withLock { held in
            held.close()
            held = new
        }
    }

    /// Recreates the lock file if it was removed or replaced, and locks the folder if that was refused before.
    ///
    /// - Throws: ``FolderError`` if another agent holds the file, or may have come because nothing else was locked: then
    ///   the lock is lost for good. ``FileError`` if the file cannot be created.
    func renew(in folder: FileDescriptor) throws {
        try held.withLock { held in
            if let loss = held.loss { throw loss }
            if Self.isThere(held.file, in: folder) {
                if held.folder == nil { held.folder = try? Self.lockFolder(folder, at: path) }
                return
            }
            do {
                guard held.folder != nil || Self.isRemoved(folder) else { throw FolderError.lost(path) }
                let file = try Self.acquireFile(in: folder, at: path)
                try? held.file.close()
                held.file = file
            } catch let error as FolderError {
                held.loss = error
                lost.reach()
                throw error
            }
        }
    }

    /// Why nothing in the folder may be changed: another agent may have it; `nil` if this one has it.
    func loss(in folder: FileDescriptor) -> FolderError? {
        let isThere = held.withLock { $0.loss == nil && Self.isThere($0.file, in: folder) }
        if isThere { return nil }
        try? renew(in: folder)
        return loss
    }

    /// Why the lock is lost; `nil` if it is not known to be.
    var loss: FolderError? { held.withLock { $0.loss } }

    private static func acquire(_ folder: FileDescriptor, at path: FilePath) throws -> Locked {
        let own = try lockFolder(folder, at: path)
        do {
            return Locked(folder: own, file: try acquireFile(in: folder, at: path))
        } catch {
            try? own?.close()
            throw error
        }
    }

    private static func lockFolder(_ folder: FileDescriptor, at path: FilePath) throws -> FileDescriptor? {
        // The lock belongs to this open file description, and is released with its last descriptor.
        let descriptor = openat(folder.rawValue, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw FileError("open", path.string, Errno(rawValue: errno)) }
        let own = FileDescriptor(rawValue: descriptor)
        if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { return own }
        let isHeld = errno == EWOULDBLOCK
        try? own.close()
        guard isHeld else { return nil }
        // A missing file can be that of an agent that did not get the folder's lock either; a new cache has none.
        let hasFile = has(CacheLayout.lock, in: folder) || !has(CacheLayout.generations, in: folder)
        if hasFile, isOthers(folder) { return nil }
        throw FolderError.held(path, by: holder(of: folder) ?? holder(namedIn: folder))
    }

    private static func acquireFile(in folder: FileDescriptor, at path: FilePath) throws -> FileDescriptor {
        let flags = O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW
        let descriptor = openat(folder.rawValue, CacheLayout.lock, flags, FilePermissions.ownerReadWrite.rawValue)
        guard descriptor >= 0 else {
            throw FileError("open", path.appending(CacheLayout.lock).string, Errno(rawValue: errno))
        }
        let file = FileDescriptor(rawValue: descriptor)
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            let holder = holder(of: file)
            try? file.close()
            throw FolderError.held(path, by: holder)
        }
        guard isThere(file, in: folder) else {
            // Removed in this moment: the lock on it excludes nobody.
            try? file.close()
            return try acquireFile(in: folder, at: path)
        }
        _ = ftruncate(descriptor, 0)
        _ = try? file.writeAll(toAbsoluteOffset: 0, "\(getpid())\n".utf8)
        return file
    }

    private static func has(_ name: String, in folder: FileDescriptor) -> Bool {
        faccessat(folder.rawValue, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0
    }

    private static func isThere(_ file: FileDescriptor, in folder: FileDescriptor) -> Bool {
        var (ours, there) = (stat(), stat())
        return fstat(file.rawValue, &ours) == 0
            && fstatat(folder.rawValue, CacheLayout.lock, &there, AT_SYMLINK_NOFOLLOW) == 0
            && ours.st_ino == there.st_ino && ours.st_dev == there.st_dev
    }

    /// Whether the folder itself was removed, so that nobody can have come.
    private static func isRemoved(_ folder: FileDescriptor) -> Bool {
        var status = stat()
        return fstat(folder.rawValue, &status) == 0 && status.st_nlink == 0
    }
}
