// SPDX-License-Identifier: Apache-2.0
import CLinux
import CacheFormat
package import Fleet
import Glibc
package import SystemPackage

/// A local folder as an export target.
///
/// Files are copied, never linked: a link would share later damage to the file in the cache. A copy whose digest was
/// checked does not.
package final class ExportFolder: ExportTarget {
    let folder: CacheFolder
    private let barrier: Barrier
    private let lock: FolderLock

    /// The number of files that are flushed together; a repeated export resumes after complete batches.
    private static let batch = 256

    /// Opens or creates the folder, whose parent must exist outside of the cache, and locks out other exports.
    ///
    /// - Throws: ``ExportError`` if the folder is not for exports or is in use by another export; ``FileError`` if it
    ///   cannot be used.
    package init(_ path: FilePath, apartFrom cache: FilePath) throws {
        try Self.make(path, apartFrom: cache)
        folder = try CacheFolder(path)
        barrier = Barrier(folder: folder)
        guard try !Self.isInside(folder.descriptor, cache) else { throw ExportError.insideCache(path, cache: cache) }
        // The root of a file system may have `lost+found`.
        let names = Set(try folder.names(in: ".").map(\.name)).subtracting(["lost+found"])
        guard names.isEmpty || names.contains(ExportLayout.own) else { throw ExportError.foreign(path) }
        // The folder is private: only the next export needs its contents.
        try folder.makeFolder(ExportLayout.own, mode: .ownerReadWriteExecute)
        do {
            lock = try folder.inFolder(of: ExportLayout.record) { own, _ in
                Result { try FolderLock(in: FileDescriptor(rawValue: own), at: path.appending(ExportLayout.own)) }
            }.get()
        } catch FolderError.held(_, let process) {
            throw ExportError.busy(target: path.string, by: process)
        }
    }

    package var name: String { folder.path.string }

    package func contents() throws -> ExportContents {
        var contents = ExportContents()
        try addFile(CacheLayout.manifest, to: &contents)
        try folder.keepingFoldersOpen { () throws(FileError) in
            for part in try names(in: CacheLayout.icons) where part.utf8.count == 2 {
                try addFiles(in: "\(CacheLayout.icons)/\(part)", to: &contents)
            }
            try addFiles(in: CacheLayout.lists, to: &contents)
            try addFiles(in: CacheLayout.signatures, to: &contents)
        }
        return contents
    }

    private func names(in name: String) throws(FileError) -> [String] {
        do {
            return try folder.names(in: name).map(\.name)
        } catch {
            // An entry of another kind is reported when a file is written in its place.
            guard error.saysMissing else { throw error }
            return []
        }
    }

    private func addFiles(in name: String, to contents: inout ExportContents) throws(FileError) {
        for file in try names(in: name) {
            let path = "\(name)/\(file)"
            if ExportLayout.isNamed(path) {
                try addFile(path, to: &contents)
            } else if ExportLayout.isTemporary(path), try folder.entry(path) != nil {
                contents.leftovers.append(path)
            }
        }
    }

    private func addFile(_ path: String, to contents: inout ExportContents) throws(FileError) {
        guard let status = try folder.status(path) else { return }
        switch status.st_mode & S_IFMT {
        case S_IFREG: contents.sizes[path] = Int(status.st_size)
        case S_IFLNK: contents.others[path] = "a symbolic link"
        case S_IFDIR: contents.others[path] = "a folder"
        default: contents.others[path] = "a special file"
        }
    }

    package func read(_ path: String) throws -> [UInt8]? { try folder.readIfPresent(path) }

    package func add(_ files: [ExportFile], from source: ExportSource) throws {
        for start in stride(from: 0, to: files.count, by: Self.batch) {
            let batch = files[start..<min(start + Self.batch, files.count)]
            try makeFolders(for: batch.map(\.path))
            try write(batch.map(\.path)) { index in try source.bytes(of: batch[start + index]) }
        }
    }

    package func settle(_ paths: [String]) throws { try barrier.pass(names: paths) }

    package func put(_ bytes: [UInt8], at path: String) throws {
        let older = path == CacheLayout.manifest ? try folder.status(path) : nil
        try makeFolders(for: [path])
        try write([path], after: older) { _ in bytes }
        try barrier.pass(names: [path])
    }

    /// Writes files under temporary names, flushes them together, then renames them.
    ///
    /// On failure the temporary files are removed: they may have filled the disk.
    private func write(_ paths: [String], after older: stat? = nil, bytes: (Int) throws -> [UInt8]) throws {
        let temporary = paths.map(ExportLayout.temporary)
        do {
            try folder.keepingFoldersOpen { () throws(FileError) in
                for name in temporary { try folder.discard(name) }
            }
            for (index, name) in temporary.enumerated() {
                try folder.write(try bytes(index), to: name, mode: CacheFolder.imageMode)
            }
            if let older { try makeLater(temporary[0], than: older) }
            try barrier.pass(files: temporary)
            for (name, path) in zip(temporary, paths) { try folder.rename(name, to: path) }
        } catch {
            for name in temporary { folder.remove(name) }
            throw error
        }
    }

    /// Sets a modification time, in whole seconds, later than that of the replaced file.
    ///
    /// Web servers derive validators from a file's time in seconds and its size. Two manifests of the same second often
    /// have the same size, and clients would get "not modified".
    private func makeLater(_ name: String, than older: stat) throws(FileError) {
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        let second = timespec(tv_sec: max(now.tv_sec, older.st_mtim.tv_sec + 1), tv_nsec: 0)
        try folder.inFolder(of: name) { (parent, last) throws(FileError) in
            try folder.check("set the time of", name, utimensat(parent, last, [second, second], AT_SYMLINK_NOFOLLOW))
        }
    }

    private func makeFolders(for paths: [String]) throws(FileError) {
        let parents = Set(
            paths.flatMap { path in
                let names = path.split(atByte: "/").dropLast()
                return names.indices.map { names[...$0].joined(separator: "/") }
            })
        for parent in parents.sorted() { try folder.makeFolder(parent, mode: CacheFolder.openMode) }
    }

    package func remove(_ paths: [String]) throws {
        for path in paths { try folder.discard(path) }
    }

    package func damaged(among files: [ExportFile], of source: ExportSource) throws -> [ExportFile] {
        try files.filter { try read($0.path).map { Digest.of($0) } != $0.sha256 }
    }
}

extension ExportFolder {
    /// Creates the folder if it is missing, and flushes its parent so that it survives a power failure.
    private static func make(_ path: FilePath, apartFrom cache: FilePath) throws {
        guard access(path.string, F_OK) != 0, errno == ENOENT else { return }
        let parent = try FileDescriptor.openFolder(path.removingLastComponent())
        defer { try? parent.close() }
        guard try !isInside(parent, cache) else { throw ExportError.insideCache(path, cache: cache) }
        guard mkdir(path.string, CacheFolder.openMode.rawValue) == 0 || errno == EEXIST else {
            throw FileError("create the folder", path.string, Errno(rawValue: errno))
        }
        guard fsync(parent.rawValue) == 0 else {
            let error = FileError("fsync", path.removingLastComponent().string, Errno(rawValue: errno))
            // Without the folder, the next export creates it again and flushes the parent.
            rmdir(path.string)
            throw error
        }
    }

    /// Whether an open folder is `other` or a folder inside it, whatever links lead there.
    private static func isInside(_ descriptor: FileDescriptor, _ other: FilePath) throws(FileError) -> Bool {
        var (outer, here) = (stat(), stat())
        guard stat(other.string, &outer) == 0 else { return false }
        var (way, below) = (".", stat())
        repeat {
            below = here
            try FileError.check("search", way, fstatat(descriptor.rawValue, way, &here, 0))
            if here.st_dev == outer.st_dev, here.st_ino == outer.st_ino { return true }
            way += "/.."
        } while here.st_dev != below.st_dev || here.st_ino != below.st_ino
        return false
    }
}
