// SPDX-License-Identifier: Apache-2.0
import CLinux
import CacheFormat
import Glibc
import IconCache
import SystemPackage

/// Who holds leases and other locks of `flock(2)`, as `proc_locks(5)` tells it.
enum LeaseHolders {
    /// What a `flock(2)` lock lets others do.
    enum Kind: Substring {
        case shared = "READ"
        case exclusive = "WRITE"
    }

    /// A process that holds a lock.
    struct Holder: Equatable {
        var process: Int
        /// The device that the file is on, as the system lists locks; some file systems have another one in `stat(2)`.
        var device: dev_t
    }

    /// The processes that hold a `flock(2)` lock, by the file's inode number; a lease is a shared one.
    ///
    /// A lock that is held in another container may have a process number of 0, or none that means anything here.
    static func all(of kind: Kind = .shared) -> [UInt64: [Holder]] {
        guard let bytes = try? FileBytes.read("/proc/locks") else { return [:] }
        return parse(String(decoding: bytes, as: UTF8.self), kind)
    }

    static func parse(_ text: String, _ kind: Kind = .shared) -> [UInt64: [Holder]] {
        var holders: [UInt64: [Holder]] = [:]
        for line in text.split(atByte: "\n") {
            // 3: FLOCK  ADVISORY  READ 4321 08:01:123456 0 EOF
            let words = line.split(atByte: " ")
            guard words.count >= 6, words[1] == "FLOCK", words[3] == kind.rawValue, let process = Int(words[4]) else {
                continue
            }
            let file = words[5].split(atByte: ":")
            guard file.count == 3, let major = UInt32(file[0], radix: 16), let minor = UInt32(file[1], radix: 16),
                let inode = UInt64(file[2])
            else { continue }
            holders[inode, default: []].append(Holder(process: process, device: gnu_dev_makedev(major, minor)))
        }
        return holders
    }
}
