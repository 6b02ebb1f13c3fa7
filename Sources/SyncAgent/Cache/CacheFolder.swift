// SPDX-License-Identifier: Apache-2.0
import CLinux
import Glibc
import IconCache
import SyncPlan
import Synchronization
package import SystemPackage

/// The cache folder, and all changes to it; paths are relative to its open descriptor.
///
/// Symbolic links in paths are not followed, and no path leads out of the folder.
///
/// All calls may block; their callers run on a ``FileThread``.
package final class CacheFolder: Sendable {
    /// The `stat(2)` result for a regular file.
    package struct Entry: Equatable, Sendable {
        package var inode: UInt64
        package var size: Int64
        /// Whether the agent owns it, and nobody else may write to it.
        package var isOwn: Bool
        /// The permissions to read it.
        var readMode: FilePermissions
    }

    package let path: FilePath
    let descriptor: FileDescriptor
    /// The user that the agent runs as.
    private let user = geteuid()
    /// The last failed flush, until a publication takes it; see ``Barrier``.
    private let failedFlush = Mutex<FileError?>(nil)
    /// The subfolders kept open, by path; `nil` while none is kept open.
    let kept = Mutex<[String: OwnedDescriptor]?>(nil)
    /// The limit on ``kept``.
    let keptLimit: Int
    /// The value of ``leaseDoubt``.
    let knownLeaseDoubt = Mutex<LeaseDoubt?>(nil)
    /// The leased files that ``putInForce(_:temporary:)`` replaced, by their generations.
    let replacedFiles = Mutex<[Int: [OwnedDescriptor]]>([:])

    /// Opens an existing cache folder; keeps up to `keptLimit` subfolders open at once, with one descriptor each.
    ///
    /// - Throws: ``FileError`` if it cannot be opened.
    package init(_ path: FilePath, keepingOpen keptLimit: Int = 520) throws(FileError) {
        self.path = path
        self.keptLimit = keptLimit
        descriptor = try FileDescriptor.openFolder(path)
        updateLeaseDoubt()
    }

    deinit {
        try? descriptor.close()
    }

    /// Creates a file for writing; fails if the name exists.
    package func create(_ name: String, mode: FilePermissions) throws(FileError) -> FileDescriptor {
        FileDescriptor(rawValue: try open(name, O_WRONLY | O_CREAT | O_EXCL, mode: mode, as: "create"))
    }

    /// Creates a file with these bytes; fails if the name exists.
    package func write(_ bytes: some Sequence<UInt8>, to name: String, mode: FilePermissions) throws(FileError) {
        let file = try create(name, mode: mode)
        do {
            try file.closeAfter { _ = try file.writeAll(bytes) }
        } catch {
            remove(name)
            throw failure("write", name, error as? Errno ?? .ioError)
        }
    }

    /// Opens a file for reading; does not block on pipes.
    package func open(_ name: String) throws(FileError) -> FileDescriptor {
        FileDescriptor(rawValue: try open(name, O_RDONLY | O_NONBLOCK))
    }

    func openToAppend(_ name: String) throws(FileError) -> FileDescriptor {
        FileDescriptor(rawValue: try open(name, O_WRONLY | O_APPEND))
    }

    private func open(
        _ name: String, _ flags: Int32, mode: FilePermissions = [], as operation: String = "open"
    ) throws(FileError) -> Int32 {
        try inFolder(of: name) { (folder, last) throws(FileError) in
            try check(operation, name, openat(folder, last, flags | O_CLOEXEC | O_NOFOLLOW, mode.rawValue))
        }
    }

    func read(_ name: String, upTo limit: Int = FileBytes.longest) throws(FileError) -> [UInt8] {
        let file = try open(name)
        defer { try? file.close() }
        return try contents(of: file, named: name, upTo: limit)
    }

    func contents(of file: FileDescriptor, named name: String, upTo limit: Int) throws(FileError) -> [UInt8] {
        do {
            return try FileBytes.read(file, upTo: limit)
        } catch {
            throw failure("read", name, error)
        }
    }

    /// Reads a file; `nil` if it is missing, or damaged because it has more bytes than `limit`.
    func readIfPresent(_ name: String, upTo limit: Int = FileBytes.longest) throws(FileError) -> [UInt8]? {
        do {
            return try read(name, upTo: limit)
        } catch {
            guard error.saysMissing || error.errno == .fileTooLarge else { throw error }
            return nil
        }
    }

    /// Removes all write permissions from a file, and adds the read permissions of another one.
    func makeReadOnly(_ name: String, like other: String? = nil) throws(FileError) {
        var mode = try self.mode(of: name)
        if let other { mode |= try self.mode(of: other) }
        try inFolder(of: name) { (folder, last) throws(FileError) in
            try check("change the mode of", name, fchmodat(folder, last, mode & 0o444, 0))
        }
    }

    private func mode(of name: String) throws(FileError) -> mode_t {
        var status = stat()
        try inFolder(of: name) { (folder, last) throws(FileError) in
            try check("stat", name, fstatat(folder, last, &status, AT_SYMLINK_NOFOLLOW))
        }
        return status.st_mode
    }

    /// Renames a file; replaces an existing file or empty folder of the new name.
    package func rename(_ name: String, to newName: String) throws(FileError) {
        func rename() throws(FileError) {
            try inFolders(of: name, newName) { (folder, last, newFolder, newLast) throws(FileError) in
                guard renameat(folder, last, newFolder, newLast) != 0 else { return }
                throw failure(of: newFolder, "rename", name, to: newName, Errno(rawValue: errno))
            }
        }
        do throws(FileError) {
            try rename()
        } catch  where error.errno == .isDirectory {
            try discard(newName)
            try rename()
        }
    }

    /// Switches this object to the folder that is now at the path, for all its users.
    func become(_ other: CacheFolder) throws(FileError) {
        try check("open", ".", dup3(other.descriptor.rawValue, descriptor.rawValue, O_CLOEXEC))
        updateLeaseDoubt()
        let replaced = other.replacedFiles.withLock(\.self)
        replacedFiles.withLock { $0 = replaced }
    }

    /// Runs a flush, and remembers its failure.
    ///
    /// The kernel reports a write error once: a later successful flush does not mean that nothing was lost.
    func flushing(_ flush: () throws(FileError) -> Void) throws(FileError) {
        do {
            try flush()
        } catch {
            failedFlush.withLock { $0 = error }
            throw error
        }
    }

    /// Returns and clears the last flush error; after one, nothing written before may be published.
    func clearFailedFlush() -> FileError? {
        failedFlush.withLock { $0.take() }
    }

    /// Removes a file or an empty folder, if it exists.
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

    /// Removes a file or an empty folder, if it exists; fails if it cannot be removed.
    func discard(_ name: String) throws(FileError) {
        if let error = remove(name) { throw error }
    }

    /// Creates a folder, unless it exists.
    package func makeFolder(_ name: String, mode: FilePermissions) throws(FileError) {
        try inFolder(of: name) { (folder, last) throws(FileError) in
            if mkdirat(folder, last, mode.rawValue) != 0, errno != EEXIST {
                throw failure("create the folder", name, Errno(rawValue: errno))
            }
        }
    }

    /// Sets the time of a file or folder to now, or to one whole second after its present time if that is later.
    ///
    /// GTK reads a theme again if the time of its folder, in whole seconds, has changed; a wrong clock may have set a
    /// later time before.
    func touch(_ name: String) throws(FileError) {
        try inFolder(of: name) { (folder, last) throws(FileError) in
            var status = stat()
            try check("stat", name, fstatat(folder, last, &status, AT_SYMLINK_NOFOLLOW))
            var time = timespec()
            clock_gettime(CLOCK_REALTIME, &time)
            let present = status.st_mtim.tv_sec
            if time.tv_sec <= present, present < .max { time = timespec(tv_sec: present + 1, tv_nsec: 0) }
            try check("touch", name, utimensat(folder, last, [time, time], AT_SYMLINK_NOFOLLOW))
        }
    }

    /// Inspects a file without following links; `nil` if it is missing or not a regular file.
    ///
    /// - Throws: ``FileError`` if the file cannot be inspected, for example without a free descriptor: it may exist.
    package func entry(_ name: String) throws(FileError) -> Entry? {
        guard let status = try status(name), status.st_mode & S_IFMT == S_IFREG else { return nil }
        return Entry(
            inode: UInt64(status.st_ino), size: Int64(status.st_size),
            isOwn: status.st_uid == user && status.st_mode & 0o022 == 0,
            readMode: Self.imageMode.intersection(FilePermissions(rawValue: status.st_mode)))
    }

    /// Whether readers find this generation: its file and the manifest are the same inode.
    func isInForce(_ generation: Int) throws(FileError) -> Bool {
        guard let manifest = try entry(CacheLayout.manifest) else { return false }
        return try entry(CacheLayout.generation(generation))?.inode == manifest.inode
    }

    /// Calls `stat(2)` without following links; `nil` if the name does not exist.
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

    /// The names in a folder with their inode numbers, unsorted, hidden ones included.
    package func names(in name: String) throws(FileError) -> [(name: String, inode: UInt64)] {
        let folder = try open(name, O_RDONLY | O_DIRECTORY)
        do {
            // The agent creates no names that are not UTF-8, and the escaped form of such a name does not lead to its file.
            return try FolderListing.names(in: folder).map { ($0.name.text ?? $0.name.escaped, $0.inode) }
        } catch {
            throw failure("list", name, error)
        }
    }

    /// The numbers of the files in `generations/`, unsorted.
    var generationNumbers: [Int] {
        get throws(FileError) {
            try names(in: CacheLayout.generations).compactMap { CacheLayout.generationNumber(fileName: $0.name) }
        }
    }

    package func sync(_ name: String) throws(FileError) {
        let file = try open(name)
        defer { try? file.close() }
        try check("fsync", name, fsync(file.rawValue))
    }

    /// The mode of published files, which never change.
    package static let imageMode = FilePermissions(rawValue: 0o444)

    /// The mode of folders that readers search, as far as the umask permits.
    static let openMode = FilePermissions(rawValue: 0o755)

    func failure(_ operation: String, _ name: String, _ errno: Errno) -> FileError {
        FileError(operation, path.appending(name).string, errno)
    }

    /// The failure to give a file a name in this folder; it names the folder if that refuses new names.
    func failure(
        of folder: Int32, _ operation: String, _ name: String, to newName: String, _ errno: Errno
    ) -> FileError {
        guard faccessat(folder, ".", W_OK | X_OK, AT_EACCESS) != 0 else { return failure(operation, name, errno) }
        var parent = path.appending(newName)
        parent.removeLastComponent()
        return FileError("write to", parent.string, errno)
    }

    @discardableResult
    func check(_ operation: String, _ name: String, _ result: Int32) throws(FileError) -> Int32 {
        guard result < 0 else { return result }
        throw failure(operation, name, Errno(rawValue: errno))
    }
}
