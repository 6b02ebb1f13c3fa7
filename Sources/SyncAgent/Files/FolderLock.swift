// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import Glibc
import Synchronization
package import SystemPackage

/// The lock on one of the agent's folders, held for the life of the process: one agent per folder.
///
/// Both the folder itself and a file in it are locked. The file says which process holds the lock, but can be removed;
/// the folder cannot be replaced while it is locked, but some network file systems cannot lock folders.
///
/// Only the owner can open the file: any other user who could would be able to lock it, and so keep the agent from
/// starting.
package final class FolderLock: Sendable {
    private let path: FilePath
    private let held: Mutex<Locked>

    private struct Locked {
        /// The folder's descriptor; `nil` if the file system cannot lock folders.
        var folder: FileDescriptor?
        var file: FileDescriptor

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

    /// Recreates the lock file if it was removed or replaced.
    func renewFile(in folder: FileDescriptor) throws {
        try held.withLock { held in
            var (ours, there) = (stat(), stat())
            let isThere =
                fstat(held.file.rawValue, &ours) == 0
                && fstatat(folder.rawValue, CacheLayout.lock, &there, AT_SYMLINK_NOFOLLOW) == 0
                && ours.st_ino == there.st_ino && ours.st_dev == there.st_dev
            guard !isThere else { return }
            let file = try Self.acquireFile(in: folder, at: path)
            try? held.file.close()
            held.file = file
        }
    }

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
        throw FolderError.held(path, by: holder(ofFolder: folder) ?? holder(namedIn: folder))
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
        _ = ftruncate(descriptor, 0)
        _ = try? file.writeAll(toAbsoluteOffset: 0, "\(getpid())\n".utf8)
        return file
    }

    /// The process that holds the lock on the folder itself, if the system reports it.
    private static func holder(ofFolder folder: FileDescriptor) -> Int? {
        var status = stat()
        guard fstat(folder.rawValue, &status) == 0 else { return nil }
        return LeaseHolders.all(of: .exclusive)[UInt64(status.st_ino)]?.map(\.process).first { $0 > 0 }
    }

    /// The process named in a folder's lock file, if the file can be read.
    private static func holder(namedIn folder: FileDescriptor) -> Int? {
        let flags = O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK
        let descriptor = openat(folder.rawValue, CacheLayout.lock, flags)
        guard descriptor >= 0 else { return nil }
        let file = FileDescriptor(rawValue: descriptor)
        defer { try? file.close() }
        return holder(of: file)
    }

    /// The process named in an open lock file.
    static func holder(of file: FileDescriptor) -> Int? {
        var text = [UInt8](repeating: 0, count: 32)
        let count = (try? text.withUnsafeMutableBytes { try file.read(fromAbsoluteOffset: 0, into: $0) }) ?? 0
        return Int(String(decoding: text.prefix(count), as: UTF8.self).prefix { $0.isNumber })
    }
}
