// SPDX-License-Identifier: Apache-2.0
import Glibc
import SyncPlan
import SystemPackage

extension CacheFolder {
    /// What is free on the file system; `nil` if it does not say.
    var space: DiskSpace? {
        var status = statvfs()
        guard fstatvfs(descriptor.rawValue, &status) == 0, status.f_blocks > 0 else { return nil }
        let unit = status.f_frsize > 0 ? status.f_frsize : status.f_bsize
        func bytes(_ blocks: UInt) -> Int {
            let (bytes, overflow) = blocks.multipliedReportingOverflow(by: unit)
            return overflow ? .max : Int(clamping: bytes)
        }
        // Where inodes are made as they are needed, there are none in all, or more are free than there are.
        let (free, total) = (Int(clamping: status.f_favail), Int(clamping: status.f_files))
        return DiskSpace(
            folder: path.string, bytes: DiskSpace.Amount(free: bytes(status.f_bavail), total: bytes(status.f_blocks)),
            inodes: total == 0 || free > total ? nil : DiskSpace.Amount(free: free, total: total))
    }
}
