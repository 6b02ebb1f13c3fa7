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

    /// Gives a mounted file system another size.
    ///
    /// - Throws: `Errno` if it has more in it than that.
    package static func resize(_ folder: FilePath, _ options: String) throws {
        guard mount("tmpfs", folder.string, "tmpfs", UInt(MS_REMOUNT), options) == 0 else {
            throw Errno(rawValue: errno)
        }
    }
}
