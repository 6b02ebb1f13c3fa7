// SPDX-License-Identifier: Apache-2.0
import Glibc
package import SystemPackage

/// A tmpfs of its own, mounted over a folder.
package enum SmallDisk {
    /// Runs the body with a file system mounted; skips it, with a message, where that is not allowed.
    ///
    /// - Parameters:
    ///   - options: Its size, as `mount(8)` takes it: `size=1m,nr_inodes=600`.
    ///   - folder: What it is mounted over.
    ///   - body: Called while it is.
    /// - Throws: What the body throws.
    package static func mounted(
        _ options: String, at folder: FilePath, _ body: () async throws -> Void
    ) async throws {
        guard mount("tmpfs", folder.string, "tmpfs", 0, options + ",mode=0755") == 0 else {
            print("skipped: mounting a file system takes root's rights")
            return
        }
        defer { umount2(folder.string, Int32(MNT_DETACH)) }
        try await body()
    }

    /// Gives a mounted file system another size, and makes it read-only or writable.
    ///
    /// - Throws: `Errno` if it has more in it than that, or files are open for writing.
    package static func remount(_ folder: FilePath, _ options: String, isReadOnly: Bool = false) throws {
        let flags = UInt(MS_REMOUNT) | (isReadOnly ? UInt(MS_RDONLY) : 0)
        guard mount("tmpfs", folder.string, "tmpfs", flags, options) == 0 else {
            throw Errno(rawValue: errno)
        }
    }
}
