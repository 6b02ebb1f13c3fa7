// SPDX-License-Identifier: Apache-2.0
import IconCache
import SystemPackage

/// Who holds leases and other locks of `flock(2)`, as `proc_locks(5)` tells it.
enum LeaseHolders {
    /// What a `flock(2)` lock lets others do.
    enum Kind: Substring {
        case shared = "READ"
        case exclusive = "WRITE"
    }

    /// The processes that hold a `flock(2)` lock, by the file's inode number; a lease is a shared one.
    ///
    /// A lock that is held in another container may have a process number of 0, or none that means anything here.
    static func all(of kind: Kind = .shared) -> [UInt64: [Int]] {
        guard let bytes = try? FileBytes.read("/proc/locks") else { return [:] }
        return parse(String(decoding: bytes, as: UTF8.self), kind)
    }

    static func parse(_ text: String, _ kind: Kind = .shared) -> [UInt64: [Int]] {
        var holders: [UInt64: [Int]] = [:]
        for line in text.split(separator: "\n") {
            // 3: FLOCK  ADVISORY  READ 4321 08:01:123456 0 EOF
            let words = line.split(separator: " ")
            guard words.count >= 6, words[1] == "FLOCK", words[3] == kind.rawValue, let pid = Int(words[4]),
                let inode = words[5].split(separator: ":").last.flatMap({ UInt64($0) })
            else { continue }
            holders[inode, default: []].append(pid)
        }
        return holders
    }
}
