// SPDX-License-Identifier: Apache-2.0
import CLinux
import Glibc
import SystemPackage

/// Opens files of a cache folder, and none outside of it: a copied folder may have links that lead anywhere.
enum Beneath {
    /// Opens a file below a folder for reading; links are followed if they stay in the folder.
    ///
    /// The path is relative, and has plain components only. Without `openat2(2)`, which Linux has since 5.6 and some
    /// sandboxes refuse, no link is followed. It fails with `EXDEV` or `ELOOP` if the path leads out of the folder, and
    /// with ``FileBytes/notAFile`` if it is not a regular file.
    static func open(_ path: FilePath, in folder: FilePath) throws(Errno) -> FileDescriptor {
        let root = try descriptor(folder.withPlatformString { Glibc.open($0, O_RDONLY | O_DIRECTORY | O_CLOEXEC) })
        defer { try? root.close() }
        var file: CInt = -1
        var attempts = 0
        repeat {
            file = path.withPlatformString { open_beneath(root.rawValue, $0, O_NONBLOCK) }
            attempts += 1
            // EAGAIN: a name in the path was moved meanwhile, and the kernel asks the caller to retry.
        } while file < 0 && errno == EAGAIN && attempts <= 10
        if file < 0, errno == EAGAIN {
            // Another process holds a lease of the kernel on the file (`F_SETLEASE`, fcntl(2)), and gives it up in a moment.
            var status = stat()
            let isFile = path.withPlatformString { fstatat(root.rawValue, $0, &status, 0) } == 0
            guard isFile, status.st_mode & S_IFMT == S_IFREG else { throw .wouldBlock }
            file = path.withPlatformString { open_beneath(root.rawValue, $0, 0) }
        }
        if file < 0, [ENOSYS, EPERM, EINVAL].contains(errno) { return try openWithoutLinks(path, in: root) }
        return try FileBytes.only([S_IFREG], descriptor(file))
    }

    private static func openWithoutLinks(_ path: FilePath, in root: FileDescriptor) throws(Errno) -> FileDescriptor {
        var folder = try descriptor(dup(root.rawValue))
        defer { try? folder.close() }
        for name in path.removingLastComponent().components {
            let next = try descriptor(
                openat(folder.rawValue, name.string, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC))
            try? folder.close()
            folder = next
        }
        let name = path.lastComponent?.string ?? ""
        return try FileBytes.only(
            [S_IFREG], descriptor(openat(folder.rawValue, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK)))
    }

    private static func descriptor(_ result: CInt) throws(Errno) -> FileDescriptor {
        guard result >= 0 else { throw Errno(rawValue: errno) }
        return FileDescriptor(rawValue: result)
    }
}
