// SPDX-License-Identifier: Apache-2.0
import AppLists
import CacheFormat
import Glibc
import SystemPackage

extension CacheFolder {
    /// Identifies the cache folder and its subfolders, to detect that they were replaced.
    struct Shape: Equatable {
        var root: FolderIdentity?
        var folders: [String: Folder] = [:]

        struct Folder: Equatable {
            var identity: FolderIdentity
            /// When an entry was last added or removed; `nil` where that is normal.
            var modified: Duration?
        }
    }

    /// The shape of the folder at the cache folder's path, which need not be the one this object has open.
    ///
    /// The entries of `icons/` and `by-url/` never change: they are always the same folders.
    var shape: Shape {
        guard let root = try? FileDescriptor.openFolder(path) else { return Shape() }
        defer { try? root.close() }
        var shape = Shape(root: FolderIdentity(ofFolder: root.rawValue))
        let fans = [CacheLayout.icons, CacheLayout.byURL]
        for name in fans + [CacheLayout.generations, CacheLayout.lists, CacheLayout.staging] {
            let flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC
            let folder = openat(root.rawValue, name, flags)
            guard folder >= 0 else { continue }
            defer { Glibc.close(folder) }
            var status = stat()
            guard let identity = FolderIdentity(ofFolder: folder), fstat(folder, &status) == 0 else { continue }
            shape.folders[name] = Shape.Folder(
                identity: identity, modified: fans.contains(name) ? Duration(status.st_mtim) : nil)
        }
        return shape
    }

    /// Whether this object has the folder at its path open.
    var isAtItsPath: Bool {
        guard let there = shape.root else { return false }
        return there == FolderIdentity(ofFolder: descriptor.rawValue)
    }
}
