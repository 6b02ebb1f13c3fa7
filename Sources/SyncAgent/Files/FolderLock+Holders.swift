// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import Glibc
import IconCache
import SystemPackage

// Who holds a lock that was refused.
extension FolderLock {
    /// Whether the lock on a folder is certainly no agent's: all its holders are processes of other users.
    ///
    /// An agent locks its folder exclusively, so that the system's list shows no other holder, and only the folder's owner
    /// runs one. A holder that the list does not show, as in another container, counts as an agent.
    ///
    /// This process has locked `file` in the folder: the list shows its device, which need not be that of `stat(2)`.
    static func isOthers(_ folder: FileDescriptor, beside file: FileDescriptor) -> Bool {
        let locks = LeaseHolders.all(of: nil)
        let own = listed(file, in: locks).filter { $0.process == getpid() }.map(\.device)
        let holders = listed(folder, in: locks).filter { own.contains($0.device) }
        return !holders.isEmpty && holders.allSatisfy { isOthers($0.process) }
    }

    /// Whether ``isOthers(_:beside:)`` is possible.
    static func mayBeOthers(_ folder: FileDescriptor) -> Bool {
        listed(folder, in: LeaseHolders.all(of: nil)).contains { isOthers($0.process) }
    }

    private static func listed(
        _ file: FileDescriptor, in locks: [UInt64: [LeaseHolders.Holder]]
    ) -> [LeaseHolders.Holder] {
        var status = stat()
        return fstat(file.rawValue, &status) == 0 ? locks[UInt64(status.st_ino)] ?? [] : []
    }

    private static func isOthers(_ process: Int) -> Bool {
        guard process > 0, let id = pid_t(exactly: process) else { return false }
        if let users = facts("\(id)")["Uid:"] { return users.allSatisfy { $0 != "\(geteuid())" } }
        // `hidepid` of proc(5) hides processes of others, and own ones that others may not inspect. Signals are permitted by
        // user alone. A process that has ended left its lock to a child, as no agent does. The list may be that of another
        // container, and a sandbox may refuse all signals.
        guard facts("self")["Pid:"] == ["\(getpid())"], kill(getpid(), 0) == 0, kill(id, 0) != 0 else { return false }
        return errno == EPERM || errno == ESRCH
    }

    /// The process that holds the lock on an open file or folder, if the system reports it.
    ///
    /// The number in a lock file can be that of an earlier agent, and by now of another process. Without a certain
    /// holder it counts if it is listed for a file of this inode number: some file systems report another device there. Or
    /// if it is this process's own: then the holder is in another container, or on another host.
    static func holder(of file: FileDescriptor) -> Int? {
        var status = stat()
        guard fstat(file.rawValue, &status) == 0 else { return nil }
        let holders = LeaseHolders.all(of: nil)[UInt64(status.st_ino)]?.filter { $0.process > 0 } ?? []
        if let holder = holders.first(where: { $0.device == status.st_dev })?.process {
            return kill(pid_t(truncatingIfNeeded: holder), 0) == 0 || errno == EPERM ? holder : nil
        }
        var text = [UInt8](repeating: 0, count: 32)
        let count = (try? text.withUnsafeMutableBytes { try file.read(fromAbsoluteOffset: 0, into: $0) }) ?? 0
        let named = Int(String(decoding: text.prefix(count), as: UTF8.self).prefix { $0.isNumber })
        return holders.contains { $0.process == named } || named == Int(getpid()) ? named : nil
    }

    /// The process that holds the lock on a folder's lock file, if the file can be read.
    static func holder(namedIn folder: FileDescriptor) -> Int? {
        let flags = O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK
        let descriptor = openat(folder.rawValue, CacheLayout.lock, flags)
        guard descriptor >= 0 else { return nil }
        let file = FileDescriptor(rawValue: descriptor)
        defer { try? file.close() }
        return holder(of: file)
    }

    /// The lines of a process's `status` in proc(5), by their first word; none if it cannot be read.
    private static func facts(_ process: String) -> [Substring: [Substring]] {
        guard let bytes = try? FileBytes.read(FilePath("/proc/\(process)/status")) else { return [:] }
        var facts: [Substring: [Substring]] = [:]
        for line in String(decoding: bytes, as: UTF8.self).split(atByte: "\n") {
            let words = line.utf8.split { $0 == UInt8(ascii: "\t") || $0 == UInt8(ascii: " ") }.map { Substring($0) }
            if let key = words.first { facts[key] = Array(words.dropFirst()) }
        }
        return facts
    }
}
