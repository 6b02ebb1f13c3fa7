// SPDX-License-Identifier: Apache-2.0
import Glibc
import IconCache
package import SystemPackage

/// The cache folder, and every change made to it: paths are relative to its open descriptor.
///
/// All calls block for as long as the file system takes; their callers run on a ``FileThread``.
package final class CacheFolder: Sendable {
    /// What `stat(2)` says of an entry.
    package struct Entry: Equatable, Sendable {
        package var inode: UInt64
        package var size: Int64
    }

    package let path: FilePath
    let descriptor: FileDescriptor

    /// Opens the folder, which must be there.
    package init(_ path: FilePath) throws(FileError) {
        self.path = path
        do {
            descriptor = try FileDescriptor.open(path, .readOnly, options: [.directory, .closeOnExec])
        } catch {
            throw FileError("open", path.string, error as? Errno ?? .ioError)
        }
    }

    deinit {
        try? descriptor.close()
    }

    /// Makes a new file to be written; one of that name must not be there.
    package func create(_ name: String, mode: FilePermissions) throws(FileError) -> FileDescriptor {
        let flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW
        return FileDescriptor(
            rawValue: try check("create", name, openat(descriptor.rawValue, name, flags, mode.rawValue)))
    }

    /// Makes a new file with the bytes.
    package func write(_ bytes: some Sequence<UInt8>, to name: String, mode: FilePermissions) throws(FileError) {
        let file = try create(name, mode: mode)
        do {
            try file.closeAfter { _ = try file.writeAll(bytes) }
        } catch {
            remove(name)
            throw FileError("write", name, error as? Errno ?? .ioError)
        }
    }

    /// Opens a file for reading.
    package func open(_ name: String) throws(FileError) -> FileDescriptor {
        let flags = O_RDONLY | O_CLOEXEC | O_NOFOLLOW
        return FileDescriptor(rawValue: try check("open", name, openat(descriptor.rawValue, name, flags)))
    }

    /// Gives a file another name, in place of whatever has that name.
    package func rename(_ name: String, to newName: String) throws(FileError) {
        try check("rename", name, renameat(descriptor.rawValue, name, descriptor.rawValue, newName))
    }

    /// Gives a file one more name; there must be none of that name.
    package func link(_ name: String, to newName: String) throws(FileError) {
        try check("link", name, linkat(descriptor.rawValue, name, descriptor.rawValue, newName, 0))
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
        let source = try open(name)
        defer { try? source.close() }
        do {
            try write(FileBytes.read(source), to: newName, mode: CacheFolder.imageMode)
        } catch let error as Errno {
            throw FileError("read", name, error)
        } catch {
            throw error as? FileError ?? FileError("copy", name, .ioError)
        }
    }

    /// Removes a file, if it is there.
    ///
    /// - Returns: Why it could not be removed.
    @discardableResult
    package func remove(_ name: String) -> FileError? {
        guard unlinkat(descriptor.rawValue, name, 0) != 0, errno != ENOENT else { return nil }
        return FileError("remove", name, Errno(rawValue: errno))
    }

    /// Makes a folder, if it is not there.
    package func makeFolder(_ name: String, mode: FilePermissions) throws(FileError) {
        if mkdirat(descriptor.rawValue, name, mode.rawValue) != 0, errno != EEXIST {
            throw FileError("make the folder", name, Errno(rawValue: errno))
        }
    }

    /// What there is of a name, without following a link; `nil` if nothing.
    package func entry(_ name: String) -> Entry? {
        var status = stat()
        guard fstatat(descriptor.rawValue, name, &status, AT_SYMLINK_NOFOLLOW) == 0, status.st_mode & S_IFMT == S_IFREG
        else { return nil }
        return Entry(inode: UInt64(status.st_ino), size: Int64(status.st_size))
    }

    /// The names in a folder, each with its inode number; in no order, hidden ones included.
    package func names(in name: String) throws(FileError) -> [(name: String, inode: UInt64)] {
        let flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW
        let folder = try check("open", name, openat(descriptor.rawValue, name, flags))
        guard let stream = fdopendir(folder) else {
            Glibc.close(folder)
            throw FileError("list", name, Errno(rawValue: errno))
        }
        defer { closedir(stream) }
        var names: [(name: String, inode: UInt64)] = []
        while true {
            errno = 0
            guard let entry = readdir(stream) else {
                if errno != 0 { throw FileError("list", name, Errno(rawValue: errno)) }
                return names
            }
            let text = withUnsafeBytes(of: entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            if text != ".", text != ".." { names.append((text, UInt64(entry.pointee.d_ino))) }
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

    @discardableResult
    private func check(_ operation: String, _ name: String, _ result: Int32) throws(FileError) -> Int32 {
        guard result < 0 else { return result }
        throw FileError(operation, name, Errno(rawValue: errno))
    }
}

/// A call on a file that failed.
package struct FileError: Error, Equatable, Sendable, CustomStringConvertible {
    package var operation: String
    package var path: String
    package var errno: Errno

    package init(_ operation: String, _ path: String, _ errno: Errno) {
        self.operation = operation
        self.path = path
        self.errno = errno
    }

    package var description: String { "Cannot \(operation) \(path): \(errno)" }
}
