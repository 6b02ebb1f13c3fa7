// SPDX-License-Identifier: Apache-2.0
import Glibc
import SystemPackage

/// Which file it is, and since when it is as it is: files that differ in their bytes differ in this.
///
/// The time is that of the last change (`st_ctim`): no program can set it, and a new file that gets the inode number of a
/// removed one has a later one.
struct FileIdentity: Equatable, Sendable {
    private let device: DeviceID
    private let inode: Inode
    private let size: Int64
    private let seconds: Int
    private let nanoseconds: Int

    init(_ status: Stat) {
        device = status.deviceID
        inode = status.inode
        size = status.size
        seconds = status.st_ctim.tv_sec
        nanoseconds = status.st_ctim.tv_nsec
    }
}
