// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import Glibc
import SyncPlan
import SystemPackage

extension CacheFolder {
    /// What tells the cache folder and the folders in it from others that take their place.
    struct Shape: Equatable {
        var root: FolderIdentity?
        var folders: [String: Folder] = [:]

        struct Folder: Equatable {
            var identity: FolderIdentity
            /// When an entry came or went; `nil` for folders in which that is nothing special.
            var modified: Duration?
        }
    }

    /// The shape of what is at the cache folder's path now, whatever this object has open.
    ///
    /// In `icons/` and `by-url/` there are always the same folders.
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

    /// Whether this object has open what is at its path.
    var isAtItsPath: Bool {
        guard let there = shape.root else { return false }
        return there == FolderIdentity(ofFolder: descriptor.rawValue)
    }
}
