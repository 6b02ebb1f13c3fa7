// SPDX-License-Identifier: Apache-2.0

/// What tells one folder from another that is or was at the same path.
package struct FolderIdentity: Equatable, Sendable {
    /// The file system's own identifier (`f_fsid`; statfs(2)); 0 if it has none.
    package var fileSystem: UInt64
    /// The number of its device, which may be another one after it was mounted anew.
    package var device: UInt64
    /// What the file system knows the folder by, and gives to no other one (name_to_handle_at(2)).
    package var handle: [UInt8]

    package init(fileSystem: UInt64, device: UInt64, handle: [UInt8]) {
        self.fileSystem = fileSystem
        self.device = device
        self.handle = handle
    }

    /// Whether both are the same folder, mounted anew or not.
    package func isSame(as other: FolderIdentity) -> Bool {
        guard handle == other.handle else { return false }
        return fileSystem == 0 || other.fileSystem == 0 ? device == other.device : fileSystem == other.fileSystem
    }
}
