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

    /// Runs the body with an overlayfs that has a folder as its lower layer; skips it, with a message, where that is not
    /// allowed.
    ///
    /// - Parameters:
    ///   - lower: The folder that the overlay shows at first.
    ///   - folder: Where the other folders of the overlay are made.
    ///   - body: Called with the path of the overlay while it is mounted.
    /// - Throws: What the body throws, or an error if a folder cannot be made.
    package static func overlaid(
        _ lower: FilePath, in folder: FilePath, _ body: (FilePath) async throws -> Void
    ) async throws {
        let (upper, work, merged) = (folder.appending("upper"), folder.appending("work"), folder.appending("merged"))
        for path in [upper, work, merged] { try makeFolder(path) }
        let options = "lowerdir=\(lower),upperdir=\(upper),workdir=\(work)"
        guard mount("overlay", merged.string, "overlay", 0, options) == 0 else {
            print("skipped: no overlayfs can be mounted here: \(Errno(rawValue: errno))")
            return
        }
        defer { umount2(merged.string, Int32(MNT_DETACH)) }
        try await body(merged)
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
