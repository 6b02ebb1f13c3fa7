// SPDX-License-Identifier: Apache-2.0
import Glibc
package import SystemPackage

/// The service manager's socket, which takes one datagram per message (sd_notify(3)).
package struct NotifySocket: Sendable {
    /// How long a message may wait for room in the service manager's queue, in seconds.
    private static let patience = 1

    private let address: sockaddr_un
    private let length: socklen_t

    /// Creates the address; `nil` if the name is invalid or too long.
    ///
    /// - Parameter text: The value of `NOTIFY_SOCKET`: an absolute path, or `@` and the name of an abstract socket.
    package init?(_ text: String) {
        var name = Array(text.utf8)
        guard name.count > 1, name[0] == UInt8(ascii: "/") || name[0] == UInt8(ascii: "@"), !name.contains(0) else {
            return nil
        }
        if name[0] == UInt8(ascii: "@") { name[0] = 0 }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        guard name.count < MemoryLayout.size(ofValue: address.sun_path) else { return nil }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: name) }
        self.address = address
        // The name of an abstract socket has no terminator: it ends with the address.
        let path = MemoryLayout<sockaddr_un>.offset(of: \.sun_path) ?? 0
        length = socklen_t(path + name.count + (name[0] == 0 ? 0 : 1))
    }

    /// Sends a message; blocks for up to a second if the service manager does not read.
    package func send(_ message: String) throws(Errno) {
        let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw Errno(rawValue: errno) }
        defer { close(descriptor) }
        // The layout of a timeval: with a static standard library, the compiler does not find that type's members.
        var patience = (seconds: Self.patience, microseconds: 0)
        setsockopt(
            descriptor, SOL_SOCKET, SO_SNDTIMEO, &patience, socklen_t(MemoryLayout.size(ofValue: patience)))
        let bytes = Array(message.utf8)
        let sent = withUnsafePointer(to: address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                sendto(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL), $0, length)
            }
        }
        guard sent == bytes.count else { throw Errno(rawValue: errno) }
    }
}
