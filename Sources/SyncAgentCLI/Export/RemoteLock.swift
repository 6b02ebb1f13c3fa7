// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import Glibc
import SyncAgent
import SystemPackage

/// Excludes other exports of this user on this machine from writing to the same remote.
///
/// Buckets have no locks. The lock is an abstract Unix socket (unix(7)), which ends with its process. A file would not
/// do: a service and its user's shell have no common folder that only both can write to.
final class RemoteLock: Sendable {
    /// Held, not read: the lock ends when it is closed.
    private let socket: OwnedDescriptor

    /// Takes the lock for a remote; in the name, slashes and colons are equivalent, and repeated ones count once.
    ///
    /// Any user can bind any name. A name bound by another user is ignored, so that nobody can block exports.
    ///
    /// - Throws: ``ExportError/busy(target:by:)`` if another export has the lock, or `FileError` if no socket can be
    ///   made.
    init(for remote: String, user: uid_t = geteuid()) throws {
        // Non-blocking: the holder never accepts connections.
        let kind = SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue
        let number = try FileError.check("lock", remote, Glibc.socket(AF_UNIX, Int32(kind), 0))
        socket = OwnedDescriptor(number)
        let place = remote.split { $0 == "/" || $0 == ":" }.joined(separator: "/")
        let name = "\0syncagent-export-\(user)-\(Digest.of(place).hex)"
        // If bind(2) fails, connecting tells who listens. It is refused if the holder has just ended, or does not
        // listen yet.
        for _ in 0..<Self.attempts {
            if Self.call(bind, number, name), listen(number, SOMAXCONN) == 0 { return }
            guard errno == EADDRINUSE else { throw FileError("lock", remote, Errno(rawValue: errno)) }
            if Self.call(connect, number, name) {
                guard let holder = Self.peer(of: number), holder.user == user else { return }
                throw ExportError.busy(target: remote, by: holder.process > 0 ? Int(holder.process) : nil)
            }
            guard errno == ECONNREFUSED else { return }
            sched_yield()
        }
    }

    /// The most attempts while connecting is refused.
    private static let attempts = 100

    private static func call(
        _ function: (Int32, UnsafePointer<sockaddr>, socklen_t) -> Int32, _ socket: Int32, _ name: String
    ) -> Bool {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: name.utf8) }
        let size = (MemoryLayout<sockaddr_un>.offset(of: \.sun_path) ?? 0) + name.utf8.count
        return withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { function(socket, $0, socklen_t(size)) == 0 }
        }
    }

    /// The process that listens at the other end (`SO_PEERCRED`).
    private static func peer(of socket: Int32) -> (process: pid_t, user: uid_t)? {
        var credentials: (process: pid_t, user: uid_t, group: gid_t) = (0, 0, 0)
        var size = socklen_t(MemoryLayout.size(ofValue: credentials))
        guard getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &credentials, &size) == 0 else { return nil }
        return (credentials.process, credentials.user)
    }
}
