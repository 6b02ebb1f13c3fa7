// SPDX-License-Identifier: Apache-2.0
import IconCache
import SystemPackage

/// Who holds leases, as `proc_locks(5)` tells it.
enum LeaseHolders {
    /// The processes that hold a shared `flock(2)` lock, by the file's inode number.
    ///
    /// A lock that is held in another container may have a process number of 0, or none that means anything here.
    static func all() -> [UInt64: [Int]] {
        guard let bytes = try? FileBytes.read("/proc/locks") else { return [:] }
        return parse(String(decoding: bytes, as: UTF8.self))
    }

    static func parse(_ text: String) -> [UInt64: [Int]] {
        var holders: [UInt64: [Int]] = [:]
        for line in text.split(separator: "\n") {
            // 3: FLOCK  ADVISORY  READ 4321 08:01:123456 0 EOF
            let words = line.split(separator: " ")
            guard words.count >= 6, words[1] == "FLOCK", words[3] == "READ", let pid = Int(words[4]),
                let inode = words[5].split(separator: ":").last.flatMap({ UInt64($0) })
            else { continue }
            holders[inode, default: []].append(pid)
        }
        return holders
    }
}
