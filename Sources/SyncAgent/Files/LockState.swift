// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import Glibc
import IconCache
package import SystemPackage

/// Whether an agent holds a folder, as far as whoever asks may know.
package enum LockState: Equatable, Sendable {
    case free
    /// A process holds it; `nil` if its number is not known.
    case held(Int?)
    /// The folder is closed to whoever asks.
    case unknown(Errno)

    /// Looks whether a cache or state folder is held, without ever holding it.
    ///
    /// Only its owner can open the lock, so that nobody else can take it; but the system lists all locks to everybody
    /// (proc_locks(5)), those excepted that processes outside of the own PID namespace hold.
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
            // Some file systems have another device there; files of the same number on others are held by others.
            self = Self.tried(path) ?? holders.first.map { .held($0.process) } ?? .free
        }
    }

    /// Whether a process may be an agent.
    private static func isAgent(_ process: Int) -> Bool {
        guard let name = try? FileBytes.read(FilePath("/proc/\(process)/comm")) else { return true }
        return String(decoding: name, as: UTF8.self).starts(withBytes: "syncagent")
    }

    /// Takes the lock for a moment, together with all others who do.
    ///
    /// - Returns: `nil` if it cannot be opened.
    private static func tried(_ path: FilePath) -> LockState? {
        guard let file = try? FileDescriptor.open(path, .readOnly, options: [.closeOnExec, .noFollow, .nonBlocking])
        else { return nil }
        defer { try? file.close() }
        return flock(file.rawValue, LOCK_SH | LOCK_NB) == 0 ? .free : .held(FolderLock.holder(of: file))
    }
}
