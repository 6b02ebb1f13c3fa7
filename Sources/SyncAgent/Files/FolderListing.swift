// SPDX-License-Identifier: Apache-2.0
import CLinux
import Glibc
import SystemPackage

/// The names in a folder (`readdir(3)`).
enum FolderListing {
    /// Reads all names, `.` and `..` excepted; in no order, hidden ones included.
    ///
    /// - Parameter folder: A descriptor of the folder, which is closed by this.
    /// - Returns: Each name with its inode number.
    /// - Throws: An error if the folder could not be read to its end: a part of a folder is no folder.
    static func names(in folder: Int32) throws(Errno) -> [(name: String, inode: UInt64)] {
        guard let stream = fdopendir(folder) else {
            let error = Errno(rawValue: errno)
            Glibc.close(folder)
            throw error
        }
        defer { closedir(stream) }
        var names: [(name: String, inode: UInt64)] = []
        while true {
            errno = 0
            guard let entry = readdir(stream) else {
                if errno != 0 { throw Errno(rawValue: errno) }
                return names
            }
            let name = String(cString: entry_name(entry))
            if name != ".", name != ".." { names.append((name, UInt64(entry.pointee.d_ino))) }
        }
    }
}
