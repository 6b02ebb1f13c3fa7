// SPDX-License-Identifier: Apache-2.0
import CLinux
import Glibc
import IconCache
import SyncPlan
import Synchronization
package import SystemPackage

/// The cache folder, and every change made to it: paths are relative to its open descriptor.
///
/// On the way along a path no symbolic link is followed, and nothing leads out of the folder.
///
/// All calls block for as long as the file system takes; their callers run on a ``FileThread``.
package final class CacheFolder: Sendable {
    /// What `stat(2)` says of an entry.
    package struct Entry: Equatable, Sendable {
        package var inode: UInt64
        package var size: Int64
        /// Whether it belongs to the agent, and nobody else may write to it.
        package var isOwn: Bool
    }

    package let path: FilePath
    let descriptor: FileDescriptor
    /// Why the last flush failed, until the next publication takes it; see ``Barrier``.
    private let failedFlush = Mutex<FileError?>(nil)
    /// The folders inside that are kept open, by their paths; `nil` if none are to be.
    let kept = Mutex<[Substring: OwnedDescriptor]?>(nil)
    /// How many folders are kept open at once.
    let keptLimit: Int
    /// See ``leaseDoubt``.
    let knownLeaseDoubt = Mutex<LeaseDoubt?>(nil)

    /// Opens the folder, which must be there.
    ///
    /// - Parameters:
    ///   - path: Where it is.
    ///   - keptLimit: How many folders inside are kept open at once, each with a descriptor. The default is 300.
    /// - Throws: ``FileError`` if it cannot be opened.
    package init(_ path: FilePath, keepingOpen keptLimit: Int = 300) throws(FileError) {
        self.path = path
        self.keptLimit = keptLimit
        descriptor = try FileDescriptor.openFolder(path)
        noteFileSystem()
    }

    deinit {
        try? descriptor.close()
    }

    /// Whether the folder is empty, or an agent has used it as a cache.
    ///
    /// A file system of its own has `lost+found` in its root (`mke2fs(8)`).
    var isOurs: Bool {
        get throws(FileError) {
            let names = Set(try names(in: ".").map(\.name)).subtracting(["lost+found"])
            return names.isEmpty || names.contains(CacheLayout.tag) || names.contains(CacheLayout.lock)
        }
    }

    /// Makes a new file to be written; one of that name must not be there.
    package func create(_ name: String, mode: FilePermissions) throws(FileError) -> FileDescriptor {
        let flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW
        return try inFolder(of: name) { (folder, last) throws(FileError) in
            FileDescriptor(rawValue: try check("create", name, openat(folder, last, flags, mode.rawValue)))
        }
    }

    /// Makes a new file with the bytes.
    package func write(_ bytes: some Sequence<UInt8>, to name: String, mode: FilePermissions) throws(FileError) {
        let file = try create(name, mode: mode)
        do {
            try file.closeAfter { _ = try file.writeAll(bytes) }
        } catch {
            remove(name)
            throw failure("write", name, error as? Errno ?? .ioError)
        }
    }

    /// Opens a file for reading; one that is a pipe is not waited for.
    package func open(_ name: String) throws(FileError) -> FileDescriptor {
        let flags = O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK
        return try inFolder(of: name) { (folder, last) throws(FileError) in
            FileDescriptor(rawValue: try check("open", name, openat(folder, last, flags)))
        }
    }

    /// Opens a file to write on at its end.
    func openToAppend(_ name: String) throws(FileError) -> FileDescriptor {
        let flags = O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW
        return try inFolder(of: name) { (folder, last) throws(FileError) in
            FileDescriptor(rawValue: try check("open", name, openat(folder, last, flags)))
        }
    }

    /// Reads a whole file.
    func read(_ name: String) throws(FileError) -> [UInt8] {
        let file = try open(name)
        defer { try? file.close() }
        do {
            return try FileBytes.read(file)
        } catch {
            throw failure("read", name, error)
        }
    }

    /// Takes everybody's right to write to a file.
    func makeReadOnly(_ name: String) throws(FileError) {
        try inFolder(of: name) { (folder, last) throws(FileError) in
            var status = stat()
            try check("stat", name, fstatat(folder, last, &status, AT_SYMLINK_NOFOLLOW))
            try check("change the mode of", name, fchmodat(folder, last, status.st_mode & 0o444, 0))
        }
    }

    /// Gives a file another name, in place of whatever has that name, be it an empty folder.
    package func rename(_ name: String, to newName: String) throws(FileError) {
        func rename() throws(FileError) {
            try inFolders(of: name, newName) { (folder, last, newFolder, newLast) throws(FileError) in
                try check("rename", name, renameat(folder, last, newFolder, newLast))
            }
        }
        do throws(FileError) {
            try rename()
        } catch  where error.errno == .isDirectory {
            if let error = remove(newName) { throw error }
            try rename()
        }
    }

    /// Gives a file one more name; there must be none of that name.
    package func link(_ name: String, to newName: String) throws(FileError) {
        try inFolders(of: name, newName) { (folder, last, newFolder, newLast) throws(FileError) in
            try check("link", name, linkat(folder, last, newFolder, newLast, 0))
        }
    }

    /// Gives a file one more name, in place of whatever has that name, by way of a temporary one.
    ///
    /// Where the file has all the links that its file system allows, the new name gets a copy of it.
    package func replaceLink(_ name: String, at newName: String, temporary: String) throws(FileError) {
        do {
            try link(name, to: temporary)
        } catch  where error.errno == .tooManyLinks {
            try copy(name, to: temporary)
        }
        do {
            try rename(temporary, to: newName)
            // rename(2) does nothing where both names are links of one file already.
            remove(temporary)
        } catch {
            remove(temporary)
            throw error
        }
    }

    private func copy(_ name: String, to newName: String) throws(FileError) {
        try write(read(name), to: newName, mode: CacheFolder.imageMode)
        // The barrier of the publication was before this.
        try flushing { () throws(FileError) in try sync(newName) }
    }

    /// Puts another folder in the place of this one, for all who use it: what is at the path now.
    func become(_ other: CacheFolder) throws(FileError) {
        try check("open", ".", dup3(other.descriptor.rawValue, descriptor.rawValue, O_CLOEXEC))
        noteFileSystem()
    }

    /// Flushes something, and remembers if that fails.
    ///
    /// The system tells of an error once: a later flush that succeeds says nothing of what this one lost.
    func flushing(_ flush: () throws(FileError) -> Void) throws(FileError) {
        do {
            try flush()
        } catch {
            failedFlush.withLock { $0 = error }
            throw error
        }
    }

    /// The error of a flush that failed since this was last asked: nothing that was written before may be published.
    func takeFailedFlush() -> FileError? {
        failedFlush.withLock { $0.take() }
    }

    /// Removes a file, if it is there.
    ///
    /// - Returns: Why it could not be removed.
    @discardableResult
    package func remove(_ name: String) -> FileError? {
        do throws(FileError) {
            return try inFolder(of: name) { folder, last in
                guard unlinkat(folder, last, 0) != 0, errno != ENOENT else { return nil }
                if errno == EISDIR, unlinkat(folder, last, AT_REMOVEDIR) == 0 { return nil }
                return failure("remove", name, Errno(rawValue: errno))
            }
        } catch {
            return error.errno == .noSuchFileOrDirectory ? nil : error
        }
    }

    /// Makes a folder, if it is not there.
    package func makeFolder(_ name: String, mode: FilePermissions) throws(FileError) {
        try inFolder(of: name) { (folder, last) throws(FileError) in
            if mkdirat(folder, last, mode.rawValue) != 0, errno != EEXIST {
                throw failure("create the folder", name, Errno(rawValue: errno))
            }
        }
    }

    /// Makes the folders that are missing of those that a cache has.
    func makeTree() throws(FileError) {
        let open: FilePermissions = [.ownerReadWriteExecute, .groupRead, .groupExecute, .otherRead, .otherExecute]
        for name in [CacheLayout.generations, CacheLayout.lists, CacheLayout.icons, CacheLayout.byURL] {
            try makeFolder(name, mode: open)
        }
        try keepingFoldersOpen { () throws(FileError) in
            for name in CacheLayout.fanOut {
                try makeFolder("\(CacheLayout.icons)/\(name)", mode: open)
                try makeFolder("\(CacheLayout.byURL)/\(name)", mode: open)
            }
        }
        try makeFolder(CacheLayout.staging, mode: [.ownerReadWriteExecute])
    }

    /// What there is of a file, without following a link; `nil` if there is none, or it is something else.
    ///
    /// - Throws: ``FileError`` if that cannot be told, as without a free descriptor: then the file may well be there.
    package func entry(_ name: String) throws(FileError) -> Entry? {
        guard let status = try status(name), status.st_mode & S_IFMT == S_IFREG else { return nil }
        return Entry(
            inode: UInt64(status.st_ino), size: Int64(status.st_size),
            isOwn: status.st_uid == geteuid() && status.st_mode & 0o022 == 0)
    }

    /// Whether a generation is the one that readers find: its file and the manifest are one.
    func isInForce(_ generation: Int) throws(FileError) -> Bool {
        guard let manifest = try entry(CacheLayout.manifest) else { return false }
        return try entry(CacheLayout.generation(generation))?.inode == manifest.inode
    }

    /// What `stat(2)` says of a name, without following a link; `nil` if there is nothing of that name.
    func status(_ name: String) throws(FileError) -> stat? {
        do throws(FileError) {
            return try inFolder(of: name) { (folder, last) throws(FileError) in
                var status = stat()
                try check("stat", name, fstatat(folder, last, &status, AT_SYMLINK_NOFOLLOW))
                return status
            }
        } catch {
            guard error.saysMissing else { throw error }
            return nil
        }
    }

    /// The names in a folder, each with its inode number; in no order, hidden ones included.
    package func names(in name: String) throws(FileError) -> [(name: String, inode: UInt64)] {
        let flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW
        let folder = try inFolder(of: name) { (folder, last) throws(FileError) in
            try check("open", name, openat(folder, last, flags))
        }
        do {
            // A name that is not UTF-8 is none of ours, and can be said only in part.
            return try FolderListing.names(in: folder).map { ($0.name.text ?? $0.name.escaped, $0.inode) }
        } catch {
            throw failure("list", name, error)
        }
    }

    /// The numbers of the files in `generations/`, in no order.
    var generationNumbers: [Int] {
        get throws(FileError) {
            try names(in: CacheLayout.generations).compactMap { CacheLayout.generationNumber(fileName: $0.name) }
        }
    }

    /// Flushes a file or a folder (`fsync(2)`).
    package func sync(_ name: String) throws(FileError) {
        let file = try open(name)
        defer { try? file.close() }
        try check("fsync", name, fsync(file.rawValue))
    }

    /// The mode of every published file that never changes.
    package static let imageMode = FilePermissions(rawValue: 0o444)

    /// What failed, with the whole path.
    func failure(_ operation: String, _ name: String, _ errno: Errno) -> FileError {
        FileError(operation, path.appending(name).string, errno)
    }

    @discardableResult
    private func check(_ operation: String, _ name: String, _ result: Int32) throws(FileError) -> Int32 {
        guard result < 0 else { return result }
        throw failure(operation, name, Errno(rawValue: errno))
    }
}
