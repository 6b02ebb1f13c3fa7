// SPDX-License-Identifier: Apache-2.0
import CCurl
import Glibc
import WebAddresses

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

    /// A connection; the number of its socket is that of another one once it is closed.
    final class Connection {
        fileprivate let socket: Int32
        fileprivate var isClosed = false
        /// Who is at the other end.
        fileprivate let peer: IPAddress?
        fileprivate let peerPort: Int
        /// The port at this end, once it is known.
        fileprivate var localPort: Int?
        /// How many transfers have it; `nil` if none ever had.
        fileprivate var users: Int?
        /// Whether any request was answered over it.
        var hasAnswered = false
        /// How much of the bodies has come.
        var bodyBytes = 0
        /// How many bytes may have come besides them.
        fileprivate var allowance = 0
        /// Whether it was ended, and libcurl has yet to notice.
        fileprivate var isBroken = false

        fileprivate init(_ socket: Int32, to peer: IPAddress?, _ peerPort: Int) {
            self.socket = socket
            self.peer = peer
            self.peerPort = peerPort
        }

        /// How long nothing has come over it; `nil` if that is not known.
        var silence: Duration? { isClosed ? nil : Connections.info(of: socket)?.silence }
    }

    private var connections: [Int32: Connection] = [:]
    /// Whether one was got, left or closed since that was asked for.
    private var hasChanged = false
    /// Those that no transfer has; `nil` if that is to be found out.
    private var known: [Connection]?

    func opened(_ socket: Int32, to address: UnsafePointer<sockaddr>) {
        connections[socket] = Connection(socket, to: IPAddress(address), Self.port(address))
        known = nil
    }

    func close(_ socket: Int32) -> Int32 {
        connections.removeValue(forKey: socket)?.isClosed = true
        hasChanged = true
        known = nil
        return Glibc.close(socket)
    }

    /// Finds a connection; libcurl does not tell its socket while a transfer has it.
    func connection(from localPort: Int, to peer: IPAddress, _ peerPort: Int) -> Connection? {
        connections.values.first { connection in
            if connection.localPort == nil { connection.localPort = Self.localPort(of: connection.socket) }
            return connection.localPort == localPort && connection.peerPort == peerPort && connection.peer == peer
        }
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
    func began(on connection: Connection) {
        connection.users = (connection.users ?? 0) + 1
        connection.allowance += Self.overhead
        hasChanged = true
        known = nil
    }

    /// Takes note that a transfer has a connection no more.
    ///
    /// If its answer has not come to an end, some of it is under way, for nobody.
    func ended(on connection: Connection, isWhole: Bool) {
        connection.users? -= 1
        if !isWhole { connection.allowance += Self.window }
        hasChanged = true
        known = nil
    }

    /// Whether a transfer has got or left a connection, or one was closed, since this was asked for.
    func takeChange() -> Bool {
        defer { hasChanged = false }
        return hasChanged
    }

    // MARK: Ends

    /// The connections that no transfer has, each with its socket.
    var idle: [(socket: Int32, connection: Connection)] {
        if known == nil { known = connections.values.filter { $0.users == 0 && !$0.isBroken } }
        return known?.map { ($0.socket, $0) } ?? []
    }

    /// Ends a connection, whoever has it.
    func breakOff(_ connection: Connection) {
        guard !connection.isClosed else { return }
        connection.isBroken = true
        known = nil
        shutdown(connection.socket, Int32(SHUT_RDWR))
    }

    /// The connections over which comes mostly something else than bodies.
    func excessive() -> [Connection] {
        connections.values.filter { connection in
            guard connection.users ?? 0 > 0, !connection.isBroken,
                let bytes = Self.info(of: connection.socket)?.received
            else { return false }
            return bytes - connection.bodyBytes > connection.allowance + Self.overheadPerByte * connection.bodyBytes
        }
    }

    /// What the kernel knows of a connection (`struct tcp_info` of `linux/tcp.h`, which glibc declares in part).
    fileprivate static func info(of socket: Int32) -> (received: Int, silence: Duration)? {
        var info = [UInt32](repeating: 0, count: 64)
        var length = socklen_t(info.count * 4)
        // `tcpi_bytes_received` ends at byte 136; `tcpi_last_data_recv` is at 52.
        guard getsockopt(socket, Int32(IPPROTO_TCP), TCP_INFO, &info, &length) == 0, length >= 136 else { return nil }
        return (Int(info[32]) | Int(info[33]) << 32, .milliseconds(Int(info[13])))
    }
}
