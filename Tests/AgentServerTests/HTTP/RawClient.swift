// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Glibc
import SystemPackage

/// A client that sends any bytes to a port of 127.0.0.1, and reads what comes until the connection is closed.
struct RawClient: Sendable {
    var port: Int
    /// What is sent at first.
    var bytes: [UInt8]
    /// What is sent then, again and again, until the server closes the connection.
    var rest: [UInt8] = []
    /// How often it is sent after the end of the answer; the server must not have closed the connection then.
    var isSentAfterwards = 0
    /// The time between two of these.
    var pause: Duration = .milliseconds(20)

    /// How long a client that has sent everything waits, in milliseconds.
    private static let limit: Int32 = 240_000

    init(_ text: String, rest: String = "", to port: Int) {
        (self.port, bytes, self.rest) = (port, Array(text.utf8), Array(rest.utf8))
    }

    /// The answer: all that came.
    func answer() async throws -> String {
        try await withCheckedThrowingContinuation { continuation in
            DispatchQueue(label: "raw client").async { continuation.resume(with: Result { try exchange() }) }
        }
    }

    private func exchange() throws -> String {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw Errno(rawValue: errno) }
        defer { close(descriptor) }
        // A `sockaddr_in` in bytes: by which module its members are known depends on the build.
        let family = withUnsafeBytes(of: UInt16(AF_INET), Array.init)
        let address = family + [UInt8(port >> 8), UInt8(port & 255), 127, 0, 0, 1] + [UInt8](repeating: 0, count: 8)
        let isConnected = address.withUnsafeBytes {
            connect(descriptor, $0.assumingMemoryBound(to: sockaddr.self).baseAddress, socklen_t(address.count)) == 0
        }
        guard isConnected else { throw Errno(rawValue: errno) }
        var unsent = bytes
        var answer: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            if !unsent.isEmpty {
                let count = send(descriptor, unsent, unsent.count, Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT))
                if count > 0 { unsent.removeFirst(count) }
            } else {
                unsent = rest
            }
            var wait = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            let time = rest.isEmpty && unsent.isEmpty ? Self.limit : Int32(pause / .milliseconds(1))
            guard poll(&wait, 1, time) > 0 else {
                if time == Self.limit { throw Errno.timedOut }
                continue
            }
            let count = recv(descriptor, &chunk, chunk.count, 0)
            // What is sent to a connection that the server has closed resets it.
            guard count > 0 else { break }
            answer += chunk[..<count]
        }
        for _ in 0..<isSentAfterwards {
            guard send(descriptor, rest, rest.count, Int32(MSG_NOSIGNAL)) > 0 else { throw Errno(rawValue: errno) }
            usleep(useconds_t(pause / .microseconds(1)))
        }
        return String(decoding: answer, as: UTF8.self)
    }
}
