// SPDX-License-Identifier: Apache-2.0
import Glibc
package import SyncPlan
package import SystemPackage

/// The lists folder as it is at one moment.
package struct ListFolder: Sendable {
    package let path: FilePath

    package init(_ path: FilePath) {
        self.path = path
    }

    /// The app lists in it, each with what tells its versions apart.
    ///
    /// - Throws: A ``FileError`` if the folder is missing or could not be listed to its end. What was seen till then is
    ///   not told: a part of a folder is no folder.
    package func list() throws(FileError) -> [String: FileFingerprint] {
        guard let folder = opendir(path.string) else {
            throw FileError("open the lists folder", path.string, Errno(rawValue: errno))
        }
        defer { closedir(folder) }
        var files: [String: FileFingerprint] = [:]
        while true {
            errno = 0
            guard let entry = readdir(folder) else {
                if errno != 0 { throw FileError("list", path.string, Errno(rawValue: errno)) }
                return files
            }
            let name = withUnsafeBytes(of: entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            guard ListName.isAppList(name) else { continue }
            var status = stat()
            // One that is gone by now, a dangling link, or nothing that can be read: no list.
            guard fstatat(dirfd(folder), name, &status, 0) == 0, status.st_mode & S_IFMT == S_IFREG else { continue }
            files[name] = FileFingerprint(status)
        }
    }
}

extension FileFingerprint {
    init(_ status: stat) {
        self.init(
            device: UInt64(status.st_dev), inode: UInt64(status.st_ino), size: Int64(status.st_size),
            modified: Duration(status.st_mtim), changed: Duration(status.st_ctim))
    }
}

extension Duration {
    fileprivate init(_ time: timespec) {
        self = .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }
}
