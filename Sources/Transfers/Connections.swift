// SPDX-License-Identifier: Apache-2.0
import CCurl
import Glibc
import SyncPlan

/// The sockets of libcurl, and what is known of each.
///
/// libcurl reads nothing from a connection while it has no request, and has no limit for what comes besides heads and
/// bodies: extensions of chunks, padding, frames that say nothing.
final class Connections {
    /// The most bytes besides the bodies, for each request.
    private static let overhead = 512 << 10
    /// The most bytes besides the bodies that each of their bytes may bring: chunks of one byte have 5.
    private static let overheadPerByte = 8
    /// How much of an answer libcurl lets a server send ahead (HTTP/2).
    private static let window = 32 << 20

    private struct Connection {
        /// Who is at the other end.
        let peer: IPAddress?
        let peerPort: Int
        /// The port at this end, once it is known.
        var localPort: Int?
        /// How many transfers have it; `nil` if none ever had.
        var users: Int?
        /// Whether any request was answered over it.
        var hasAnswered = false
        /// How much of the bodies has come.
        var bodyBytes = 0
        /// How many bytes may have come besides them.
        var allowance = 0
        /// Whether it was ended, and libcurl has yet to notice.
        var isBroken = false
    }

    private var connections: [Int32: Connection] = [:]
    /// Those that no transfer has; `nil` if that is to be found out.
    private var known: [Int32]?

    func opened(_ socket: Int32, to address: UnsafePointer<sockaddr>) {
        connections[socket] = Connection(peer: IPAddress(address), peerPort: Self.port(address))
        known = nil
    }

    func close(_ socket: Int32) -> Int32 {
        connections[socket] = nil
        known = nil
        return Glibc.close(socket)
    }

    /// Finds the socket of a connection; libcurl does not tell it while a transfer has it.
    func socket(from localPort: Int, to peer: IPAddress, _ peerPort: Int) -> Int32? {
        for (socket, connection) in connections where connection.localPort == nil {
            connections[socket]?.localPort = Self.localPort(of: socket)
        }
        return connections.first {
            $0.value.localPort == localPort && $0.value.peerPort == peerPort && $0.value.peer == peer
        }?.key
    }

    /// The port at this end; `nil` if there is no connection yet.
    private static func localPort(of socket: Int32) -> Int? {
        var address = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        return withUnsafeMutablePointer(to: &address) { address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                guard getsockname(socket, address, &length) == 0, port(address) != 0 else { return nil }
                return port(address)
            }
        }
    }

    private static func port(_ address: UnsafePointer<sockaddr>) -> Int {
        // It is at the same place for IPv4 and IPv6.
        address.withMemoryRebound(to: sockaddr_in.self, capacity: 1) { Int($0.pointee.sin_port.bigEndian) }
    }

    // MARK: Transfers

    /// Takes note that a transfer has a connection.
    func began(on socket: Int32) {
        guard var connection = connections[socket] else { return }
        connection.users = (connection.users ?? 0) + 1
        connection.allowance += Self.overhead
        connections[socket] = connection
        known = nil
    }

    /// Takes note that a transfer has a connection no more.
    ///
    /// If its answer has not come to an end, some of it is under way, for nobody.
    func ended(on socket: Int32, isWhole: Bool) {
        connections[socket]?.users? -= 1
        if !isWhole { connections[socket]?.allowance += Self.window }
        known = nil
    }

    func answered(on socket: Int32) {
        connections[socket]?.hasAnswered = true
    }

    func hasAnswered(_ socket: Int32) -> Bool {
        connections[socket]?.hasAnswered ?? false
    }

    func received(_ bytes: Int, on socket: Int32) {
        connections[socket]?.bodyBytes += bytes
    }

    // MARK: Ends

    /// The connections that no transfer has.
    var idle: [Int32] {
        if let known { return known }
        let idle = connections.filter { $0.value.users == 0 && !$0.value.isBroken }.map(\.key)
        known = idle
        return idle
    }

    /// Ends a connection, whoever has it.
    func breakOff(_ socket: Int32) {
        connections[socket]?.isBroken = true
        known = nil
        shutdown(socket, Int32(SHUT_RDWR))
    }

    /// The connections over which comes mostly something else than bodies.
    func excessive() -> [Int32] {
        connections.compactMap { socket, connection in
            guard connection.users ?? 0 > 0, !connection.isBroken, let bytes = Self.info(of: socket)?.received,
                bytes - connection.bodyBytes > connection.allowance + Self.overheadPerByte * connection.bodyBytes
            else { return nil }
            return socket
        }
    }

    /// How long nothing has come over a connection.
    func silence(of socket: Int32) -> Duration? {
        Self.info(of: socket)?.silence
    }

    /// What the kernel knows of a connection (`struct tcp_info` of `linux/tcp.h`, which glibc declares in part).
    private static func info(of socket: Int32) -> (received: Int, silence: Duration)? {
        var info = [UInt32](repeating: 0, count: 64)
        var length = socklen_t(info.count * 4)
        // `tcpi_bytes_received` ends at byte 136; `tcpi_last_data_recv` is at 52.
        guard getsockopt(socket, Int32(IPPROTO_TCP), TCP_INFO, &info, &length) == 0, length >= 136 else { return nil }
        return (Int(info[32]) | Int(info[33]) << 32, .milliseconds(Int(info[13])))
    }
}
