// SPDX-License-Identifier: Apache-2.0
import Glibc
import Synchronization
import SystemPackage

/// A datagram socket in the place of a service manager's, which keeps what it is told (sd_notify(3)).
package final class NotifyListener: Sendable {
    /// The value of `NOTIFY_SOCKET`.
    package let name: String
    private let descriptor: FileDescriptor
    private let received = Mutex<[(time: ContinuousClock.Instant, message: String)]>([])

    /// - Parameter name: A path, or the name of an abstract socket after an `@`.
    /// - Throws: An `Errno` if it cannot listen there.
    package init(at name: String) throws {
        self.name = name
        let raw = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0)
        guard raw >= 0 else { throw Errno(rawValue: errno) }
        descriptor = FileDescriptor(rawValue: raw)
        var bytes = Array(name.utf8)
        if bytes.first == UInt8(ascii: "@") { bytes[0] = 0 }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        let length = socklen_t(MemoryLayout<sa_family_t>.size + bytes.count)
        let result = withUnsafePointer(to: address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(raw, $0, length) }
        }
        guard result == 0 else { throw Errno(rawValue: errno) }
    }

    deinit {
        try? descriptor.close()
    }

    /// Everything that was told so far, a message each.
    package var messages: [String] { timed.map(\.message) }

    /// The same with the times at which it was read.
    package var timed: [(time: ContinuousClock.Instant, message: String)] {
        received.withLock { received in
            var buffer = [UInt8](repeating: 0, count: 1 << 16)
            while true {
                let count = recv(descriptor.rawValue, &buffer, buffer.count, 0)
                guard count > 0 else { return received }
                received.append((.now, String(decoding: buffer[..<count], as: UTF8.self)))
            }
        }
    }

    /// How often the watchdog was fed.
    package var beats: Int { messages.count { $0 == "WATCHDOG=1" } }

    /// The states that were told, in their order: `READY`, `RELOADING`, `STOPPING`.
    package var states: [String] {
        messages.flatMap { $0.split(separator: "\n") }.compactMap { line in
            ["READY", "RELOADING", "STOPPING"].first { line == "\($0)=1" }
        }
    }

    /// The texts of the status, in their order.
    package var statuses: [String] {
        messages.flatMap { $0.split(separator: "\n") }.filter { $0.hasPrefix("STATUS=") }.map {
            String($0.dropFirst("STATUS=".count))
        }
    }
}
