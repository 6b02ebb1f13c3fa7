// SPDX-License-Identifier: Apache-2.0
import Glibc
import IconCache
package import SystemPackage

/// The lock on an agent's folder, held for the life of the process: one agent a folder.
///
/// Only the owner can open it: whoever can, could keep the agent from starting.
package final class FolderLock: Sendable {
    private let file: FileDescriptor

    /// Takes the lock.
    ///
    /// - Parameters:
    ///   - folder: The folder, open.
    ///   - path: What its name is.
    /// - Throws: ``Held`` if another process has it, or a ``FileError``.
    package init(in folder: FileDescriptor, at path: FilePath) throws {
        let flags = O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW
        let path = path.appending(CacheLayout.lock)
        let descriptor = openat(folder.rawValue, CacheLayout.lock, flags, FilePermissions.ownerReadWrite.rawValue)
        guard descriptor >= 0 else { throw FileError("open", path.string, Errno(rawValue: errno)) }
        file = FileDescriptor(rawValue: descriptor)
        guard flock(file.rawValue, LOCK_EX | LOCK_NB) == 0 else {
            let holder = Self.holder(of: file)
            throw Held(path: path, pid: holder)
        }
        _ = ftruncate(file.rawValue, 0)
        _ = try? file.writeAll(toAbsoluteOffset: 0, "\(getpid())\n".utf8)
    }

    deinit {
        try? file.close()
    }

    /// The process that the file of a lock names.
    static func holder(of file: FileDescriptor) -> Int? {
        var text = [UInt8](repeating: 0, count: 32)
        let count = (try? text.withUnsafeMutableBytes { try file.read(fromAbsoluteOffset: 0, into: $0) }) ?? 0
        return Int(String(decoding: text.prefix(count), as: UTF8.self).prefix { $0.isNumber })
    }

    /// Another agent holds the folder.
    package struct Held: Error, CustomStringConvertible {
        package var path: FilePath
        package var pid: Int?

        package var description: String {
            let holder = pid.map { "process \($0)" } ?? "another process"
            return
                "\(holder) holds \(path.removingLastComponent()): stop it, or name another folder."
        }
    }
}
