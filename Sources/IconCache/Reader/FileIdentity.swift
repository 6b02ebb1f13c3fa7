// SPDX-License-Identifier: Apache-2.0
import Glibc
package import SystemPackage

/// Identifies a file and its version: files with different bytes have different identities.
///
/// It includes the time of the last change (`st_ctim`): no program can set that, and a new file that gets the inode
/// number of a removed one has a later time.
package struct FileIdentity: Equatable, Sendable {
    private let device: DeviceID
    private let inode: Inode
    private let size: Int64
    private let seconds: Int
    private let nanoseconds: Int

    package init(_ status: Stat) {
        device = status.deviceID
        inode = status.inode
        size = status.size
        seconds = status.st_ctim.tv_sec
        nanoseconds = status.st_ctim.tv_nsec
    }
}
