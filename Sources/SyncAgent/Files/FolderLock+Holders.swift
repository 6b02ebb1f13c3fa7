// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import Glibc
import IconCache
import SystemPackage

// Who holds a lock that was refused.
extension FolderLock {
    /// Whether an agent may hold a folder whose lock was refused.
    ///
    /// Everybody who can read the folder can lock it, but such a lock must not keep the agent from starting: then the
    /// lock file decides. A missing file can have been removed while its agent, perhaps in another container, runs.
    static func mayBeAgents(_ folder: FileDescriptor) -> Bool {
        if holders(of: folder, .exclusive).contains(where: isOwnAgent) { return true }
        guard faccessat(folder.rawValue, CacheLayout.lock, F_OK, AT_SYMLINK_NOFOLLOW) != 0 else { return false }
        return holders(of: folder, .exclusive).isEmpty && holders(of: folder, .shared).isEmpty
    }

    /// The agent that holds the lock on an open folder, if the system reports it.
    static func holder(ofFolder folder: FileDescriptor) -> Int? {
        holders(of: folder, .exclusive).first(where: isOwnAgent)
    }

    /// The process that holds the lock on an open lock file.
    ///
    /// The number in the file can be that of an earlier agent. It counts only if it is this process's own: the holder is
    /// then in another container, or on another host.
    static func holder(ofFile file: FileDescriptor) -> Int? {
        holders(of: file, .exclusive).first ?? holder(of: file).flatMap { $0 == Int(getpid()) ? $0 : nil }
    }

    private static func holders(of file: FileDescriptor, _ kind: LeaseHolders.Kind) -> [Int] {
        var status = stat()
        guard fstat(file.rawValue, &status) == 0 else { return [] }
        let holders = LeaseHolders.all(of: kind)[UInt64(status.st_ino)]?.filter { $0.process > 0 } ?? []
        let exact = holders.filter { $0.device == status.st_dev }
        return (exact.isEmpty ? holders : exact).map(\.process)
    }

    /// Whether a process is an agent of this process's user; others may hold locks on folders that they can read.
    private static func isOwnAgent(_ process: Int) -> Bool {
        guard let bytes = try? FileBytes.read(FilePath("/proc/\(process)/status")) else { return false }
        var facts: [Substring: [Substring]] = [:]
        for line in String(decoding: bytes, as: UTF8.self).split(atByte: "\n") {
            let words = line.split { $0 == "\t" || $0 == " " }
            if let key = words.first { facts[key] = Array(words.dropFirst()) }
        }
        // The second user is the effective one.
        return facts["Name:"]?.first?.starts(withBytes: "syncagent") == true
            && facts["Uid:"]?.dropFirst().first == "\(geteuid())"
    }
}
