// SPDX-License-Identifier: Apache-2.0
import Glibc
import Synchronization
import SystemPackage

extension CacheFolder {
    /// Calls the body with the open folder that a path leads to, and the last name of the path.
    ///
    /// Each folder is opened by its name in the one before. `O_NOFOLLOW` alone is about the last name of a path only; and
    /// `openat2(2)`, which can refuse links all along the path, there is neither before Linux 5.6 nor in many containers,
    /// and not for renaming, linking and removing.
    @discardableResult
    func inFolder<R>(of path: String, _ body: (Int32, String) throws(FileError) -> R) throws(FileError) -> R {
        let slash = path.utf8.lastIndex(of: UInt8(ascii: "/"))
        let last = slash.map { path[path.utf8.index(after: $0)...] } ?? path[...]
        guard Self.isName(last) || path == "." else { throw failure("open", path, .invalidArgument) }
        guard let slash else { return try body(descriptor.rawValue, path) }
        let folder = try openFolder(path[..<slash])
        return try withExtendedLifetime(folder) { () throws(FileError) in try body(folder.raw, String(last)) }
    }

    /// The same for two paths.
    @discardableResult
    func inFolders<R>(
        of path: String, _ other: String, _ body: (Int32, String, Int32, String) throws(FileError) -> R
    ) throws(FileError) -> R {
        try inFolder(of: path) { (folder, last) throws(FileError) in
            try inFolder(of: other) { (otherFolder, otherLast) throws(FileError) in
                try body(folder, last, otherFolder, otherLast)
            }
        }
    }

    /// Does something that goes to the same folders again and again, which stay open meanwhile.
    ///
    /// No longer than that: who removes a folder, or puts another in its place, must not have files written nowhere.
    func keepingFoldersOpen<R>(_ body: () throws(FileError) -> R) throws(FileError) -> R {
        kept.withLock { $0 = [:] }
        defer { kept.withLock { $0 = nil } }
        return try body()
    }

    private func openFolder(_ path: Substring) throws(FileError) -> OwnedDescriptor {
        if let folder = kept.withLock({ $0?[path] }) { return folder }
        let slash = path.utf8.lastIndex(of: UInt8(ascii: "/"))
        let name = slash.map { path[path.utf8.index(after: $0)...] } ?? path
        guard Self.isName(name) else { throw failure("open", String(path), .invalidArgument) }
        let parent = try slash.map { (slash) throws(FileError) in try openFolder(path[..<slash]) }
        let flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC
        let opened = withExtendedLifetime(parent) {
            openat(parent?.raw ?? descriptor.rawValue, String(name), flags)
        }
        guard opened >= 0 else { throw failure("open the folder", String(path), Errno(rawValue: errno)) }
        let folder = OwnedDescriptor(opened)
        kept.withLock { folders in
            if folders?.count == keptLimit { folders = [:] }
            folders?[path] = folder
        }
        return folder
    }

    /// Whether it is the name of an entry, and not a way.
    private static func isName(_ name: Substring) -> Bool { !["", ".", ".."].contains(name) }
}
