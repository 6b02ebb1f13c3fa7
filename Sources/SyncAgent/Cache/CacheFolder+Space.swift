// SPDX-License-Identifier: Apache-2.0
import Glibc
import SyncPlan
import SystemPackage

extension CacheFolder {
    /// The free space of the file system; `nil` if the file system does not report it.
    var space: DiskSpace? {
        var status = statvfs()
        guard fstatvfs(descriptor.rawValue, &status) == 0, status.f_blocks > 0 else { return nil }
        let unit = status.f_frsize > 0 ? status.f_frsize : status.f_bsize
        func bytes(_ blocks: UInt) -> Int {
            let (bytes, overflow) = blocks.multipliedReportingOverflow(by: unit)
            return overflow ? .max : Int(clamping: bytes)
        }
        // File systems that create inodes on demand report a total of 0, or more free than there are.
        let (free, total) = (Int(clamping: status.f_favail), Int(clamping: status.f_files))
        return DiskSpace(
            folder: path.string, bytes: DiskSpace.Amount(free: bytes(status.f_bavail), total: bytes(status.f_blocks)),
            inodes: total == 0 || free > total ? nil : DiskSpace.Amount(free: free, total: total),
            isReadOnly: status.f_flag & UInt(ST_RDONLY) != 0)
    }
}
