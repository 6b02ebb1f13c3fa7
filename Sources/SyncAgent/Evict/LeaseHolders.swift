// SPDX-License-Identifier: Apache-2.0
import CLinux
import Glibc
import IconCache
import SystemPackage

/// The holders of leases and other `flock(2)` locks, from `proc_locks(5)`.
enum LeaseHolders {
    enum Kind: Substring {
        case shared = "READ"
        case exclusive = "WRITE"
    }

    struct Holder: Equatable {
        var process: Int
        /// The file's device in the list of locks; on some file systems `stat(2)` reports another one.
        var device: dev_t
    }

    /// The processes that hold a `flock(2)` lock of a kind, or of any, by the file's inode number; a lease is a shared lock.
    ///
    /// A holder in another container can have a process ID of 0, or one without meaning here.
    static func all(of kind: Kind? = .shared) -> [UInt64: [Holder]] {
        guard let bytes = try? FileBytes.read("/proc/locks") else { return [:] }
        return parse(String(decoding: bytes, as: UTF8.self), kind)
    }

    static func parse(_ text: String, _ kind: Kind? = .shared) -> [UInt64: [Holder]] {
        var holders: [UInt64: [Holder]] = [:]
        for line in text.split(atByte: "\n") {
            // 3: FLOCK  ADVISORY  READ 4321 08:01:123456 0 EOF
            let words = line.split(atByte: " ")
            guard words.count >= 6, words[1] == "FLOCK", kind.map({ words[3] == $0.rawValue }) ?? true,
                let process = Int(words[4])
            else { continue }
            let file = words[5].split(atByte: ":")
            guard file.count == 3, let major = UInt32(file[0], radix: 16), let minor = UInt32(file[1], radix: 16),
                let inode = UInt64(file[2])
            else { continue }
            holders[inode, default: []].append(Holder(process: process, device: gnu_dev_makedev(major, minor)))
        }
        return holders
    }
}
