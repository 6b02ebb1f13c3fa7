// SPDX-License-Identifier: Apache-2.0
import CLinux
import CacheFormat
package import Fleet
import Glibc
import IconCache
import SyncPlan
package import SystemPackage

/// A folder that a cache is exported to.
///
/// Files are copied, and never linked: a link would share what happens to the file in the cache, and a copy that is read
/// and compared with its digest outlives damage there.
package final class ExportFolder: ExportTarget {
    let folder: CacheFolder
    private let barrier: Barrier
    private let lock: FolderLock

    /// How many files are flushed together: an export that is interrupted goes on after them.
    private static let batch = 256
    private static let openMode = FilePermissions(rawValue: 0o755)

    /// Opens the folder, or makes it, and keeps other exports out.
    ///
    /// - Parameters:
    ///   - path: Where it is; all but the last name must exist.
    ///   - cache: The cache, which the folder must not be in.
    /// - Throws: ``ExportError`` if it is not a folder for exports, or another export uses it; and ``FileError`` if it
    ///   cannot be used.
    package init(_ path: FilePath, apartFrom cache: FilePath) throws {
        try Self.make(path, apartFrom: cache)
        folder = try CacheFolder(path)
        barrier = Barrier(folder)
        guard try !Self.isInside(folder.descriptor, cache) else { throw ExportError.insideCache(path, cache: cache) }
        // A file system of its own has `lost+found` in its root.
        let names = Set(try folder.names(in: ".").map(\.name)).subtracting(["lost+found"])
        guard names.isEmpty || names.contains(ExportLayout.own) else { throw ExportError.foreign(path) }
        // Nobody but the next export needs what is in it.
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
        try note(CacheLayout.manifest, &contents)
        try folder.keepingFoldersOpen { () throws(FileError) in
            for part in try names(in: CacheLayout.icons) where part.utf8.count == 2 {
                try noteFiles(in: "\(CacheLayout.icons)/\(part)", &contents)
            }
            try noteFiles(in: CacheLayout.lists, &contents)
            try noteFiles(in: CacheLayout.signatures, &contents)
        }
        return contents
    }

    private func names(in name: String) throws(FileError) -> [String] {
        do {
            return try folder.names(in: name).map(\.name)
        } catch {
            // Something else at its place is said when it is written to.
            guard error.saysMissing else { throw error }
            return []
        }
    }

    private func noteFiles(in name: String, _ contents: inout ExportContents) throws(FileError) {
        for file in try names(in: name) {
            let path = "\(name)/\(file)"
            if ExportLayout.isNamed(path) {
                try note(path, &contents)
            } else if ExportLayout.isTemporary(path), try folder.entry(path) != nil {
                contents.leftovers.append(path)
            }
        }
    }

    private func note(_ path: String, _ contents: inout ExportContents) throws(FileError) {
        guard let status = try folder.status(path) else { return }
        switch status.st_mode & S_IFMT {
        case S_IFREG: contents.sizes[path] = Int(status.st_size)
        case S_IFLNK: contents.others[path] = "a symbolic link"
        case S_IFDIR: contents.others[path] = "a folder"
        default: contents.others[path] = "a special file"
        }
    }

    package func read(_ path: String) throws -> [UInt8]? {
        do {
            return try folder.read(path)
        } catch {
            guard error.saysMissing else { throw error }
            return nil
        }
    }

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

    /// Writes files under temporary names, flushes them together, and then gives them their names.
    ///
    /// If something fails, the temporary files are removed: they may be what fills the disk.
    private func write(
        _ paths: [String], after older: stat? = nil, bytes: (Int) throws -> [UInt8]
    ) throws {
        let temporary = paths.map(ExportLayout.temporary)
        do {
            try folder.keepingFoldersOpen { () throws(FileError) in
                for name in temporary { if let error = folder.remove(name) { throw error } }
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

    /// Gives a file another time of modification, in whole seconds, than the file that it replaces.
    ///
    /// Web servers make the validator of a file of its time in seconds and its size. Two manifests of one second often have
    /// the same size, and clients would be told that nothing changed.
    private func makeLater(_ name: String, than older: stat) throws(FileError) {
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        let second = timespec(tv_sec: max(now.tv_sec, older.st_mtim.tv_sec + 1), tv_nsec: 0)
        try folder.inFolder(of: name) { (parent, last) throws(FileError) in
            guard utimensat(parent, last, [second, second], AT_SYMLINK_NOFOLLOW) == 0 else {
                throw folder.failure("set the time of", name, Errno(rawValue: errno))
            }
        }
    }

    private func makeFolders(for paths: [String]) throws(FileError) {
        let parents = Set(
            paths.flatMap { path in
                let names = path.split(atByte: "/").dropLast()
                return names.indices.map { names[...$0].joined(separator: "/") }
            })
        for parent in parents.sorted() { try folder.makeFolder(parent, mode: Self.openMode) }
    }

    package func remove(_ paths: [String]) throws {
        for path in paths { if let error = folder.remove(path) { throw error } }
    }

    package func damaged(among files: [ExportFile], of source: ExportSource) throws -> [ExportFile] {
        try files.filter { try read($0.path).map { Digest.of($0) } != $0.sha256 }
    }
}

extension ExportFolder {
    /// Makes the folder if it is not there, and the one that it is in outlasts a power loss.
    private static func make(_ path: FilePath, apartFrom cache: FilePath) throws {
        guard access(path.string, F_OK) != 0, errno == ENOENT else { return }
        let parent = try FileDescriptor.openFolder(path.removingLastComponent())
        defer { try? parent.close() }
        guard try !isInside(parent, cache) else { throw ExportError.insideCache(path, cache: cache) }
        guard mkdir(path.string, openMode.rawValue) == 0 || errno == EEXIST else {
            throw FileError("create the folder", path.string, Errno(rawValue: errno))
        }
        guard fsync(parent.rawValue) == 0 else {
            let error = FileError("fsync", path.removingLastComponent().string, Errno(rawValue: errno))
            // The next export makes it again, and flushes that.
            rmdir(path.string)
            throw error
        }
    }

    /// Whether an open folder is another one, or somewhere in it, whatever links lead there.
    private static func isInside(_ descriptor: FileDescriptor, _ other: FilePath) throws(FileError) -> Bool {
        var (outer, here) = (stat(), stat())
        guard stat(other.string, &outer) == 0 else { return false }
        var (way, below) = (".", stat())
        repeat {
            below = here
            guard fstatat(descriptor.rawValue, way, &here, 0) == 0 else {
                throw FileError("search", way, Errno(rawValue: errno))
            }
            if here.st_dev == outer.st_dev, here.st_ino == outer.st_ino { return true }
            way += "/.."
        } while here.st_dev != below.st_dev || here.st_ino != below.st_ino
        return false
    }
}
