// SPDX-License-Identifier: Apache-2.0
import AppLists
import CLinux
import Glibc

extension FolderIdentity {
    /// Identifies an open folder; `nil` if the system call fails, with the reason in `errno`.
    ///
    /// Without file handles (name_to_handle_at(2)), the inode number is used.
    init?(ofFolder descriptor: Int32) {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { return nil }
        var fileSystem = statfs()
        // If the call fails, the file system's identifier stays 0.
        fstatfs(descriptor, &fileSystem)
        var handle = open_file_handle()
        let bytes =
            get_file_handle(descriptor, &handle) == 0
            ? withUnsafeBytes(of: handle.bytes) { Array($0.prefix(Int(handle.length))) }
            : withUnsafeBytes(of: UInt64(status.st_ino)) { Array($0) }
        let identifier = withUnsafeBytes(of: fileSystem.f_fsid) { $0.loadUnaligned(as: UInt64.self) }
        self.init(fileSystem: identifier, device: UInt64(status.st_dev), handle: bytes)
    }
}
