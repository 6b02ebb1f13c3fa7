// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import Glibc
import IconCache
package import SystemPackage

/// Whether an agent holds a folder, as far as the caller may know.
package enum LockState: Equatable, Sendable {
    case free
    /// A process holds the folder; its ID, if known.
    case held(Int?)
    /// The caller may not access the folder.
    case unknown(Errno)

    /// Checks whether a cache or state folder is locked, without taking the lock exclusively.
    ///
    /// Only the owner can open the lock file, so that nobody else can take the lock; but the system lists all locks to
    /// everybody (proc_locks(5)), except those held by processes outside the PID namespace.
    package init(ofFolder folder: FilePath) {
        let path = folder.appending(CacheLayout.lock)
        var status = stat()
        guard stat(path.string, &status) == 0 else {
            let error = Errno(rawValue: errno)
            self = [.noSuchFileOrDirectory, .notDirectory].contains(error) ? .free : .unknown(error)
            return
        }
        let holders = LeaseHolders.all(of: .exclusive)[UInt64(status.st_ino)]?.filter { Self.isAgent($0.process) } ?? []
        if let holder = holders.first(where: { $0.device == status.st_dev }) {
            self = .held(holder.process)
        } else {
            // Some file systems report another device in this list, so a file elsewhere with the same inode number may
            // be the locked one.
            self = Self.tried(path) ?? holders.first.map { .held($0.process) } ?? .free
        }
    }

    private static func isAgent(_ process: Int) -> Bool {
        guard let name = try? FileBytes.read(FilePath("/proc/\(process)/comm")) else { return true }
        return String(decoding: name, as: UTF8.self).starts(withBytes: "syncagent")
    }

    /// Tries a shared lock for a moment.
    ///
    /// - Returns: `nil` if the file cannot be opened.
    private static func tried(_ path: FilePath) -> LockState? {
        guard let file = try? FileDescriptor.open(path, .readOnly, options: [.closeOnExec, .noFollow, .nonBlocking])
        else { return nil }
        defer { try? file.close() }
        return flock(file.rawValue, LOCK_SH | LOCK_NB) == 0 ? .free : .held(FolderLock.holder(of: file))
    }
}
