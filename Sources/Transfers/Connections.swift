// SPDX-License-Identifier: Apache-2.0
import AppLists
import CCurl
import Glibc
import HTTPRules

/// The sockets of libcurl, with the state of each connection.
///
/// libcurl does not read from idle connections, and does not limit bytes outside heads and bodies, so the sockets are
/// watched here.
final class Connections {
    /// The limit per request on bytes outside bodies.
    private static let overhead = 512 << 10
    /// The limit on bytes outside bodies, per byte of a body: chunks of one byte have 5.
    private static let overheadPerByte = 8
    /// The receive window of libcurl (HTTP/2).
    private static let window = 32 << 20

    /// A connection; after it is closed, another one can get the same socket number.
    final class Connection {
        fileprivate let socket: Int32
        fileprivate var isClosed = false
        private let peer: IPAddress?
        /// The address as text, in the form of `inet_ntop(3)`.
        private let peerText: String?
        private let peerPort: Int
        /// The route that it was opened for.
        fileprivate let opener: Route
        /// The last route whose policy permitted its address.
        private var permitted: Route
        /// `nil` until it is known.
        private var localPort: Int?
        /// The number of transfers that use it; `nil` if none ever did.
        fileprivate var users: Int?
        /// Whether any response arrived over it.
        var hasAnswered = false
        /// Whether it is known to take one request at a time: none else was offered, or the last answer was so.
        var isHTTP1: Bool
        /// The bytes of bodies received.
        var bodyBytes = 0
        /// The limit on bytes received outside bodies.
        fileprivate var allowance = 0
        /// The number of its transfers that were paused, and how many of them had others beside them since.
        fileprivate var paused = (count: 0, shared: 0)
        /// Whether its only transfer began after the last measurement.
        fileprivate var isFresh = false
        /// Whether it was shut down; libcurl notices that later.
        fileprivate var isBroken = false

        fileprivate init(_ socket: Int32, to peer: IPAddress?, _ peerPort: Int, for route: Route, isHTTP1: Bool) {
            self.socket = socket
            self.isHTTP1 = isHTTP1
            self.peer = peer
            peerText = peer.map { "\($0)" }
            self.peerPort = peerPort
            (opener, permitted) = (route, route)
        }

        /// Whether it has these ends.
        fileprivate func isBetween(_ localPort: Int, _ peer: UnsafePointer<CChar>, _ peerPort: Int) -> Bool {
            if self.localPort == nil { self.localPort = Connections.localPort(of: socket) }
            guard self.localPort == localPort, self.peerPort == peerPort, let peerText else { return false }
            return strcmp(peerText, peer) == 0
        }

        /// Whether no transfer uses it any more.
        var isIdle: Bool { users == 0 }

        /// Whether no other request can be sent over it now.
        var isOccupied: Bool { isHTTP1 && users ?? 0 > 0 }

        /// Why a request by this route may not use it.
        func refusal(of route: Route) -> AddressPolicy.Refusal? {
            guard route !== permitted, let peer else { return nil }
            if let refusal = route.refusal(of: peer, openedFor: opener) { return refusal }
            permitted = route
            return nil
        }

        /// The time since anything was received; `nil` if unknown.
        var silence: Duration? { isClosed ? nil : Connections.info(of: socket)?.silence }
    }

    /// The time of the present turn: the clock is not read for each line of a head.
    var now = ContinuousClock.now
    private var connections: [Int32: Connection] = [:]
    /// Whether a connection was acquired, released or closed since ``consumeChange()``.
    private var hasChanged = false
    /// The idle connections; `nil` if they must be computed again.
    private var known: [Connection]?
    private(set) var uses = PlaceUses()

    /// Registers a socket for a route whose policy permits the address; HTTP/2 is offered unless it is for HTTP/1.
    func opened(_ socket: Int32, to address: UnsafePointer<sockaddr>, for route: Route, isHTTP1: Bool) {
        connections[socket] = Connection(
            socket, to: IPAddress(address), Self.port(address), for: route, isHTTP1: isHTTP1)
        known = nil
    }

    func close(_ socket: Int32) -> Int32 {
        connections.removeValue(forKey: socket)?.isClosed = true
        hasChanged = true
        known = nil
        return Glibc.close(socket)
    }

    /// Finds a connection by its ends: libcurl does not report the socket while a transfer uses it.
    ///
    /// `peer` is an address in the form of `inet_ntop(3)`.
    func connection(from localPort: Int, to peer: UnsafePointer<CChar>, _ peerPort: Int) -> Connection? {
        for connection in connections.values where connection.isBetween(localPort, peer, peerPort) { return connection }
        return nil
    }

    /// The local port of a socket; `nil` if it is not connected yet.
    fileprivate static func localPort(of socket: Int32) -> Int? {
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
        // The port is at the same offset for IPv4 and IPv6.
        address.withMemoryRebound(to: sockaddr_in.self, capacity: 1) { Int($0.pointee.sin_port.bigEndian) }
    }

    // MARK: Transfers

    func began(on connection: Connection) {
        uses.begin(at: connection.opener.place, now)
        connection.users = (connection.users ?? 0) + 1
        connection.allowance += Self.overhead
        connection.isFresh = connection.users == 1
        connection.paused.shared = connection.paused.count
        hasChanged = true
        known = nil
    }

    /// Counts a transfer that was paused for the first time.
    ///
    /// Until it ends, libcurl may hold what it reads for it beside others; a connection without others is not read.
    func paused(on connection: Connection) {
        connection.paused.count += 1
        if connection.users ?? 0 > 1 { connection.paused.shared = connection.paused.count }
    }

    /// Unregisters a transfer from its connection.
    ///
    /// The rest of an incomplete response can still arrive, within the receive window.
    func ended(on connection: Connection, isWhole: Bool, wasPaused: Bool) {
        connection.users? -= 1
        if wasPaused {
            connection.paused.count -= 1
            connection.paused.shared = min(connection.paused.shared, connection.paused.count)
        }
        uses.end(at: connection.opener.place, .now)
        if !isWhole { connection.allowance += Self.window }
        hasChanged = true
        known = nil
    }

    /// Whether there are at least `count` connections to a place, and none of them is idle.
    func areInUse(_ count: Int, to place: String) -> Bool {
        let there = connections.values.filter { $0.opener.place == place }
        return there.count >= count && !there.contains { $0.isIdle && !$0.isBroken }
    }

    /// Whether a connection was acquired, released or closed since the last call.
    func consumeChange() -> Bool { exchange(&hasChanged, with: false) }

    // MARK: Idle and excessive connections

    /// The idle connections, with their sockets.
    var idle: [(socket: Int32, connection: Connection)] {
        if known == nil { known = connections.values.filter { $0.isIdle && !$0.isBroken } }
        return known?.map { ($0.socket, $0) } ?? []
    }

    /// Shuts a connection down, even if transfers use it.
    func breakOff(_ connection: Connection) {
        guard !connection.isClosed else { return }
        connection.isBroken = true
        known = nil
        shutdown(connection.socket, Int32(SHUT_RDWR))
    }

    /// The connections that exceed the limit on bytes outside bodies.
    ///
    /// The kernel is not asked about a request alone on its connection that began after the last measurement: most end
    /// before the next one, and little arrives until then.
    func excessive() -> [Connection] {
        connections.values.filter { connection in
            guard connection.users ?? 0 > 0, !connection.isBroken else { return false }
            guard !connection.isFresh else {
                connection.isFresh = false
                return false
            }
            guard let bytes = Self.info(of: connection.socket)?.received else { return false }
            let held = connection.paused.shared * Self.window
            return bytes - connection.bodyBytes
                > connection.allowance + held + Self.overheadPerByte * connection.bodyBytes
        }
    }

    /// The kernel's counters of a connection (`struct tcp_info` of `linux/tcp.h`; glibc declares only a part of it).
    fileprivate static func info(of socket: Int32) -> (received: Int, silence: Duration)? {
        withUnsafeTemporaryAllocation(of: UInt32.self, capacity: 64) { info in
            var length = socklen_t(info.count * 4)
            // `tcpi_bytes_received` ends at byte 136; `tcpi_last_data_recv` is at 52.
            guard getsockopt(socket, Int32(IPPROTO_TCP), TCP_INFO, info.baseAddress, &length) == 0, length >= 136
            else { return nil }
            return (Int(info[32]) | Int(info[33]) << 32, .milliseconds(Int(info[13])))
        }
    }
}
