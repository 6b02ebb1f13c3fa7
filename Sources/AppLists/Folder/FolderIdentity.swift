// SPDX-License-Identifier: Apache-2.0

/// Distinguishes folders that are or were at the same path.
package struct FolderIdentity: Codable, Equatable, Sendable {
    /// The file system's identifier (`f_fsid`; statfs(2)); 0 if it has none.
    package var fileSystem: UInt64
    /// The device number, which may change with a new mount.
    package var device: UInt64
    /// The file handle, which is unique in the file system (name_to_handle_at(2)).
    package var handle: [UInt8]

    package init(fileSystem: UInt64, device: UInt64, handle: [UInt8]) {
        self.fileSystem = fileSystem
        self.device = device
        self.handle = handle
    }

    /// Whether both are the same folder, possibly after a new mount.
    package func isSame(as other: FolderIdentity) -> Bool {
        guard handle == other.handle else { return false }
        return fileSystem == 0 || other.fileSystem == 0 ? device == other.device : fileSystem == other.fileSystem
    }
}
