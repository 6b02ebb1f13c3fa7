// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import Glibc
import SystemPackage

/// Keeps other exports of this machine from writing to the same remote.
///
/// Buckets have no locks. This is a socket without a file (unix(7), “abstract”): it goes with its process, needs no folder
/// that all users can write to, and nobody connects to it.
final class RemoteLock: Sendable {
    private let descriptor: FileDescriptor

    /// Takes the lock; `nil` if another process has it.
    ///
    /// - Parameter remote: What it is for.
    /// - Throws: `Errno` if there can be no socket.
    init?(for remote: String) throws {
        let socket = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard socket >= 0 else { throw Errno(rawValue: errno) }
        descriptor = FileDescriptor(rawValue: socket)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let name = Array("\0syncagent-export-\(Digest.of(remote).hex)".utf8)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: name) }
        let size = (MemoryLayout<sockaddr_un>.offset(of: \.sun_path) ?? 0) + name.count
        let isBound = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(socket, $0, socklen_t(size)) == 0 }
        }
        guard !isBound else { return }
        let error = Errno(rawValue: errno)
        guard error == .addressInUse else { throw error }
        return nil
    }

    deinit {
        try? descriptor.close()
    }
}
