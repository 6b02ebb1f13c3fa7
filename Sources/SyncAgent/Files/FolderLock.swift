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

    /// The lock on the folder itself.
    private enum OwnLock {
        case taken(FileDescriptor)
        /// Another process has one.
        case refused
        /// The file system cannot lock folders.
        case unsupported

        func close() { if case .taken(let folder) = self { try? folder.close() } }
    }

    private struct Locked {
        /// Refused only if another user has locked the folder.
        var folder: OwnLock
        var file: FileDescriptor
        var loss: FolderError?

        func close() {
            folder.close()
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

    /// Takes the lock as on a file system that cannot lock folders.
    init(onlyOfFileIn folder: FileDescriptor, at path: FilePath) throws {
        self.path = path
        held = Mutex(Locked(folder: .unsupported, file: try Self.acquireFile(in: folder, at: path)))
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
    /// - Throws: ``FolderError`` if another agent holds the file, or may have come because the folder's lock is another
    ///   user's: then the lock is lost for good. ``FileError`` if the file cannot be created.
    func renew(in folder: FileDescriptor) throws {
        try held.withLock { held in
            if let loss = held.loss { throw loss }
            var isPassedBy: Bool { if case .refused = held.folder { true } else { false } }
            if Self.isThere(held.file, in: folder) {
                if isPassedBy, let own = try? Self.lockFolder(folder, at: path) { held.folder = own }
                return
            }
            do {
                if isPassedBy, !Self.isRemoved(folder) { throw FolderError.lost(path) }
                let file = try Self.acquireFile(in: folder, at: path, attempts: 10)
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
            guard case .refused = own else { return Locked(folder: own, file: try acquireFile(in: folder, at: path)) }
            let refusal = FolderError.held(path, by: holder(of: folder) ?? holder(namedIn: folder))
            // A missing file can be that of an agent that did not get the folder's lock either; a new cache has none. The
            // file of another agent that is starting is left alone.
            guard has(CacheLayout.lock, in: folder) || isNew(folder), mayBeOthers(folder) else { throw refusal }
            let file = try acquireFile(in: folder, at: path)
            if isOthers(folder, beside: file) { return Locked(folder: own, file: file) }
            try? file.close()
            throw refusal
        } catch {
            own.close()
            throw error
        }
    }

    private static func lockFolder(_ folder: FileDescriptor, at path: FilePath) throws -> OwnLock {
        // The lock belongs to this open file description, and is released with its last descriptor.
        let flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC
        let descriptor = try FileError.check("open", path.string, openat(folder.rawValue, ".", flags))
        let own = FileDescriptor(rawValue: descriptor)
        if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { return .taken(own) }
        let isHeld = errno == EWOULDBLOCK
        try? own.close()
        return isHeld ? .refused : .unsupported
    }

    /// Locks the file, which is created if it is missing; tries again every 20 ms if others have locked it: commands such as
    /// `status` do for a moment.
    private static func acquireFile(
        in folder: FileDescriptor, at path: FilePath, attempts: Int = 1
    ) throws -> FileDescriptor {
        let flags = O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW
        let descriptor = try FileError.check(
            "open", path.appending(CacheLayout.lock).string,
            openat(folder.rawValue, CacheLayout.lock, flags, FilePermissions.ownerReadWrite.rawValue))
        let file = FileDescriptor(rawValue: descriptor)
        let isLocked = flock(descriptor, LOCK_EX | LOCK_NB) == 0
        if isLocked, isThere(file, in: folder) {
            _ = ftruncate(descriptor, 0)
            _ = try? file.writeAll(toAbsoluteOffset: 0, "\(getpid())\n".utf8)
            return file
        }
        let holder = isLocked || attempts > 1 ? nil : holder(of: file)
        try? file.close()
        // The file was removed before it was locked, so its lock excludes nobody.
        if isLocked { return try acquireFile(in: folder, at: path, attempts: attempts) }
        guard attempts > 1 else { throw FolderError.held(path, by: holder) }
        usleep(20_000)
        return try acquireFile(in: folder, at: path, attempts: attempts - 1)
    }

    private static func has(_ name: String, in folder: FileDescriptor) -> Bool {
        faccessat(folder.rawValue, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0
    }

    /// Whether no agent has published in a cache.
    private static func isNew(_ folder: FileDescriptor) -> Bool {
        if has(CacheLayout.manifest, in: folder) { return false }
        let flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW
        let generations = openat(folder.rawValue, CacheLayout.generations, flags)
        guard generations >= 0 else { return errno == ENOENT }
        let names = try? FolderListing.names(in: generations).compactMap(\.name.text)
        return names?.allSatisfy { CacheLayout.generationNumber(fileName: $0) == nil } ?? false
    }

    private static func isThere(_ file: FileDescriptor, in folder: FileDescriptor) -> Bool {
        var (ours, there) = (stat(), stat())
        return fstat(file.rawValue, &ours) == 0
            && fstatat(folder.rawValue, CacheLayout.lock, &there, AT_SYMLINK_NOFOLLOW) == 0
            && ours.st_ino == there.st_ino && ours.st_dev == there.st_dev
    }

    /// Whether the folder itself was removed: then no other agent has it.
    private static func isRemoved(_ folder: FileDescriptor) -> Bool {
        var status = stat()
        return fstat(folder.rawValue, &status) == 0 && status.st_nlink == 0
    }
}
