// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import Glibc
import SyncAgent
import SystemPackage

/// Keeps other exports of this user, on this machine, from writing to the same remote.
///
/// Buckets have no locks. This is a socket without a file (unix(7), “abstract”): it goes with its process. A service and
/// a shell of its user have no folder in common that both can write to, and nobody else.
final class RemoteLock: Sendable {
    private let socket: FileDescriptor

    /// Takes the lock.
    ///
    /// Any user can bind any name: one that another user has bound is ignored, so that nobody can keep exports away.
    ///
    /// - Parameters:
    ///   - remote: What it is for. Names that differ in slashes alone are the same.
    ///   - user: Whose exports exclude each other; the user of this process, except in tests.
    /// - Throws: ``ExportError/busy(target:by:)`` if another export has it, and `FileError` if there can be no socket.
    init(for remote: String, user: uid_t = geteuid()) throws {
        // Nobody accepts connections: one that is not made at once is not waited for.
        let kind = SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue
        let number = Glibc.socket(AF_UNIX, Int32(kind), 0)
        guard number >= 0 else { throw FileError("lock", remote, Errno(rawValue: errno)) }
        socket = FileDescriptor(rawValue: number)
        let place = remote.split { $0 == "/" || $0 == ":" }.joined(separator: "/")
        let name = "\0syncagent-export-\(user)-\(Digest.of(place).hex)"
        // Between a failed bind and a connection the holder may end, and before it listens it refuses.
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

    /// How often the name is tried while nobody listens there.
    private static let attempts = 100

    deinit {
        try? socket.close()
    }

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

    /// Who listens at the other end (`SO_PEERCRED`).
    private static func peer(of socket: Int32) -> (process: pid_t, user: uid_t)? {
        var credentials: (process: pid_t, user: uid_t, group: gid_t) = (0, 0, 0)
        var size = socklen_t(MemoryLayout.size(ofValue: credentials))
        guard getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &credentials, &size) == 0 else { return nil }
        return (credentials.process, credentials.user)
    }
}
