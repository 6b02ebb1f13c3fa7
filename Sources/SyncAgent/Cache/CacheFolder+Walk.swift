// SPDX-License-Identifier: Apache-2.0
import Glibc
import Synchronization
import SystemPackage

extension CacheFolder {
    /// Calls the body with the open parent folder and the last component of a path.
    ///
    /// Each folder is opened by its name in its parent: `O_NOFOLLOW` alone covers only the last component.
    /// `openat2(2)`, which can refuse links in a whole path, is missing before Linux 5.6 and in many containers, and
    /// does not rename, link or remove.
    @discardableResult
    func inFolder<R>(
        of path: String, _ body: (Int32, UnsafePointer<CChar>) throws(FileError) -> R
    ) throws(FileError) -> R {
        try path.withCString { text in
            Result { () throws(FileError) -> R in
                var length = strlen(text)
                while length > 0, text[length - 1] != CChar(bitPattern: UInt8(ascii: "/")) { length -= 1 }
                let last = text + length
                guard Self.isName(last) || path == "." else { throw failure("open", path, .invalidArgument) }
                guard length > 0 else { return try body(descriptor.rawValue, last) }
                let parent = UnsafeRawBufferPointer(start: text, count: length - 1)
                let folder = try openFolder(String(decoding: parent, as: UTF8.self))
                return try withExtendedLifetime(folder) { () throws(FileError) in try body(folder.raw, last) }
            }
        }.get()
    }

    /// As ``inFolder(of:_:)``, for two paths.
    @discardableResult
    func inFolders<R>(
        of path: String, _ other: String,
        _ body: (Int32, UnsafePointer<CChar>, Int32, UnsafePointer<CChar>) throws(FileError) -> R
    ) throws(FileError) -> R {
        try inFolder(of: path) { (folder, last) throws(FileError) in
            try inFolder(of: other) { (otherFolder, otherLast) throws(FileError) in
                try body(folder, last, otherFolder, otherLast)
            }
        }
    }

    /// Keeps the subfolders used by the body open while it runs.
    ///
    /// They close afterwards: if somebody removes or replaces a folder, later files must not be written to the old one.
    func keepingFoldersOpen<R>(_ body: () throws(FileError) -> R) throws(FileError) -> R {
        kept.withLock { $0 = [:] }
        defer { kept.withLock { $0 = nil } }
        return try body()
    }

    /// Keeps the subfolders used from now on open until the next ``keepingFoldersOpen(_:)``, which opens them anew.
    ///
    /// If somebody replaces such a folder, changes still go to the old one. A publication checks that its images are
    /// there.
    func keepFoldersOpen() {
        kept.withLock { if $0 == nil { $0 = [:] } }
    }

    private func openFolder(_ path: String) throws(FileError) -> OwnedDescriptor {
        if let folder = kept.withLock({ $0?[path] }) { return folder }
        guard path != "." else { throw failure("open", path, .invalidArgument) }
        let folder = try inFolder(of: path) { (parent, name) throws(FileError) in
            let flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC
            return OwnedDescriptor(try check("open the folder", path, openat(parent, name, flags)))
        }
        kept.withLock { folders in
            if folders?.count == keptLimit { folders = [:] }
            folders?[path] = folder
        }
        return folder
    }

    /// Whether a path component is the name of an entry.
    private static func isName(_ name: UnsafePointer<CChar>) -> Bool {
        name.pointee != 0 && strcmp(name, ".") != 0 && strcmp(name, "..") != 0
    }
}
