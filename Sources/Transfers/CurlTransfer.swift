// SPDX-License-Identifier: Apache-2.0
import AppLists
import CCurl
import Glibc
import HTTPRules
import SystemPackage

final class CurlTransfer: Transfer {
    let handle: UnsafeMutableRawPointer
    let receiver: any TransferReceiver
    private let route: Route
    private let connections: Connections
    private weak var multi: CurlMulti?
    private let fields: CurlList
    private let entry: CurlList?
    private let mayMultiplex: Bool
    let limits: RequestLimits
    private var reader = HeadReader()
    /// Why a callback ended the transfer; libcurl only knows that one did.
    private(set) var failure: (any Error)?
    private(set) var connection: Connections.Connection?
    let isUrgent: Bool
    private let created = ContinuousClock.now
    /// Whether it ever had or opened a connection; if not, it waits for one.
    private(set) var hasBegun = false
    /// For how long it waited for a connection in the end.
    private var waited = Duration.zero
    private(set) var isPaused = false
    /// Whether it was paused on its present connection.
    private var hasPaused = false
    private(set) var lastActivity: ContinuousClock.Instant?
    private(set) var mayBeStale = false
    private(set) var isAnswered = false
    /// Whether its policy refuses the address of the connection that libcurl chose for it.
    private var isMisplaced = false
    /// Whether it must open a connection of its own.
    private var needsNewConnection = false
    /// Whether the final head was received.
    private(set) var hasHead = false

    init(
        _ handle: UnsafeMutableRawPointer, _ request: TransferRequest, _ fields: CurlList,
        _ receiver: any TransferReceiver, _ connections: Connections, _ multi: CurlMulti
    ) {
        self.multi = multi
        self.handle = handle
        self.fields = fields
        self.connections = connections
        self.receiver = receiver
        route = request.route
        mayMultiplex = request.mayMultiplex
        limits = request.limits
        isUrgent = request.isUrgent
        entry = request.route.entry.map { CurlList([$0]) }
        set(request)
    }

    // MARK: Transfer

    /// The transfers, if this one is among them.
    private var running: CurlMulti? {
        guard let multi, multi.isUnderWay(self) else { return nil }
        return multi
    }

    func cancel() { running?.finish(self, isWhole: false) }

    func waitTime(at now: ContinuousClock.Instant) -> Duration {
        guard !hasBegun, let lastUse = connections.uses.last(at: route.place, now) else { return waited }
        return max(waited, created.duration(to: lastUse))
    }

    /// Whether its host has this many connections, and all are in use.
    func isBlocked(by limit: Int) -> Bool { connections.areInUse(limit, to: route.place) }

    private func endWait() {
        waited = waitTime(at: connections.now)
        hasBegun = true
    }

    func resume() {
        guard isPaused, running != nil else { return }
        isPaused = false
        connections.now = .now
        lastActivity = connections.now
        curl_easy_pause(handle, CURLPAUSE_CONT)
    }

    func breakOff(afterSilenceOf time: Duration) {
        guard let running else { return }
        if let connection, connection.silence ?? time >= time { connections.breakOff(connection) }
        running.finish(self, isWhole: false)
    }

    // MARK: Options

    private func set(_ request: TransferRequest) {
        let this = Unmanaged.passUnretained(self).toOpaque()
        curl_set_pointer(handle, CURLOPT_WRITEDATA, this)
        curl_set_pointer(handle, CURLOPT_HEADERDATA, this)
        curl_set_pointer(handle, CURLOPT_OPENSOCKETDATA, this)
        curl_set_pointer(handle, CURLOPT_PREREQDATA, this)
        curl_set_text(handle, CURLOPT_URL, request.url)
        curl_set_long(handle, CURLOPT_FORBID_REUSE, 0)
        curl_set_long(handle, CURLOPT_CONNECTTIMEOUT_MS, Int(limits.connectTimeout / .milliseconds(1)))
        curl_set_long(
            handle, CURLOPT_HTTP_VERSION, Int(mayMultiplex ? CURL_HTTP_VERSION_2TLS : CURL_HTTP_VERSION_1_1))
        // Wait for a connection that can be shared.
        curl_set_long(handle, CURLOPT_PIPEWAIT, mayMultiplex ? 1 : 0)
        set(request.proxy)
        // libcurl tells connections apart by this path: with another spelling of it after a reload, a renewed certificate
        // is not used over connections of the old one.
        let file = request.certificate.map { String(repeating: "/", count: (multi?.changes ?? 0) % 100) + $0.file }
        curl_set_text(handle, CURLOPT_SSLCERT, file)
        curl_set_text(handle, CURLOPT_SSLKEY, request.certificate?.key)
        curl_set_list(handle, CURLOPT_HTTPHEADER, fields.first)
        setAddresses()
    }

    func setAddresses() { curl_set_list(handle, CURLOPT_RESOLVE, entry?.first) }

    private func set(_ proxy: Proxy?) {
        guard let proxy else {
            // Without this, libcurl would use the environment.
            curl_set_text(handle, CURLOPT_PROXY, "")
            return
        }
        let scheme = proxy.kind == .http ? "http" : "socks5h"
        curl_set_text(handle, CURLOPT_PROXY, "\(scheme)://\(proxy)")
        let credentials = proxy.credentials?.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false) ?? []
        curl_set_text(handle, CURLOPT_PROXYUSERNAME, credentials.first.map(String.init))
        curl_set_text(handle, CURLOPT_PROXYPASSWORD, credentials.last.map(String.init))
    }

    /// Sets the callbacks of a handle; their context is the transfer, or the connections.
    static func setFunctions(of handle: UnsafeMutableRawPointer, _ connections: Connections) {
        curl_set_data_function(handle, CURLOPT_HEADERFUNCTION) { bytes, size, count, this in
            guard let bytes, let transfer = CurlTransfer.of(this) else { return 0 }
            let line = UnsafeRawBufferPointer(start: bytes, count: size * count)
            return transfer.receiveLine(line) ? line.count : 0
        }
        curl_set_data_function(handle, CURLOPT_WRITEFUNCTION) { bytes, size, count, this in
            guard let bytes, let transfer = CurlTransfer.of(this) else { return 0 }
            return transfer.receiveBody(UnsafeRawBufferPointer(start: bytes, count: size * count))
        }
        curl_set_open_function(handle) { this, _, address in
            guard let transfer = CurlTransfer.of(this), let address else { return -1 }
            return transfer.openSocket(to: address)
        }
        curl_set_request_function(handle) { this, peer, _, peerPort, localPort in
            guard let transfer = CurlTransfer.of(this) else { return Int32(CURL_PREREQFUNC_ABORT) }
            guard let peer else {
                transfer.failure = CurlFailure.lost
                return Int32(CURL_PREREQFUNC_ABORT)
            }
            let mayBegin = transfer.joinConnection(from: Int(localPort), to: peer, Int(peerPort))
            return Int32(mayBegin ? CURL_PREREQFUNC_OK : CURL_PREREQFUNC_ABORT)
        }
        curl_set_close_function(handle) { connections, socket in
            guard let connections else { return -1 }
            return Unmanaged<Connections>.fromOpaque(connections).takeUnretainedValue().close(socket)
        }
        // A connection can outlive the transfer that opened it.
        curl_set_pointer(handle, CURLOPT_CLOSESOCKETDATA, Unmanaged.passUnretained(connections).toOpaque())
    }

    fileprivate static func of(_ pointer: UnsafeMutableRawPointer?) -> CurlTransfer? {
        pointer.map { Unmanaged<CurlTransfer>.fromOpaque($0).takeUnretainedValue() }
    }

    // MARK: Callbacks

    /// Called when the request is about to be sent, possibly again on another connection.
    ///
    /// - Returns: Whether it may be sent. libcurl shares connections by host and port: this one may have been opened for
    ///   a request whose policy permits more addresses.
    private func joinConnection(from localPort: Int, to peer: UnsafePointer<CChar>, _ peerPort: Int) -> Bool {
        let connection = connections.connection(from: localPort, to: peer, peerPort)
        let refusal: AddressPolicy.Refusal?
        if let connection {
            refusal = connection.refusal(of: route)
        } else if let address = IPAddress(String(cString: peer)) {
            refusal = route.refusal(of: address, openedFor: nil)
        } else {
            // libcurl does not know the address of a peer that has reset the connection already.
            failure = CurlFailure.lost
            return false
        }
        if let refusal {
            failure = refusal
            isMisplaced = true
            // Otherwise the next requests with this policy would try it, too.
            if let connection, connection.isIdle { connections.breakOff(connection) }
            return false
        }
        if mayMultiplex, let connection, connection.isOccupied {
            // libcurl (7.88) takes each connection to a host for HTTP/2 once one is.
            (failure, isMisplaced) = (CurlFailure.lost, true)
            return false
        }
        endWait()
        lastActivity = connections.now
        // Failed addresses of the host no longer matter.
        failure = nil
        leaveConnection(isWhole: true)
        guard let connection else { return true }
        self.connection = connection
        connections.began(on: connection)
        mayBeStale = connection.hasAnswered
        isAnswered = mayBeStale
        return true
    }

    /// Prepares the transfer to begin again over a new connection, whose address is checked before it is opened.
    ///
    /// - Returns: `false` if the transfer ended for another reason than the address of a shared connection.
    func leaveMisplaced() -> Bool {
        guard isMisplaced, !needsNewConnection else { return false }
        leaveConnection(isWhole: true)
        needsNewConnection = true
        (isMisplaced, failure, hasBegun, lastActivity) = (false, nil, false, nil)
        (mayBeStale, isAnswered) = (false, false)
        curl_set_long(handle, CURLOPT_FRESH_CONNECT, 1)
        return true
    }

    func leaveConnection(isWhole: Bool) {
        if let connection { connections.ended(on: connection, isWhole: isWhole, wasPaused: hasPaused) }
        (connection, hasPaused) = (nil, false)
    }

    /// Records that part of a response was received.
    func recordAnswer() {
        guard !isAnswered else { return }
        isAnswered = true
        connection?.hasAnswered = true
    }

    private func receiveLine(_ line: UnsafeRawBufferPointer) -> Bool {
        lastActivity = connections.now
        mayBeStale = false
        recordAnswer()
        do {
            guard let head = try reader.read(line) else { return true }
            guard mayMultiplex || !head.isMultiplexed else { throw FetchFailure.protocolViolation("HTTP/2 as text") }
            hasHead = true
            connection?.isHTTP1 = !head.isMultiplexed
            if receiver.receive(head) { return true }
            failure = Unwanted()
        } catch {
            failure = error
        }
        return false
    }

    private func receiveBody(_ bytes: UnsafeRawBufferPointer) -> Int {
        switch receiver.receive(bytes) {
        case .taken:
            lastActivity = connections.now
            connection?.bodyBytes += bytes.count
            return bytes.count
        case .later:
            if !hasPaused, let connection { connections.paused(on: connection) }
            (isPaused, hasPaused) = (true, true)
            return Int(CURL_WRITEFUNC_PAUSE)
        case .refused:
            failure = Unwanted()
            return bytes.isEmpty ? 1 : 0
        }
    }

    private func openSocket(to target: UnsafeMutablePointer<curl_sockaddr>) -> curl_socket_t {
        endWait()
        // The address extends beyond the field in which it begins.
        guard let offset = MemoryLayout<curl_sockaddr>.offset(of: \.addr) else { return -1 }
        let address = UnsafeRawPointer(target).advanced(by: offset).assumingMemoryBound(to: sockaddr.self)
        if let policy = route.policy {
            guard let there = IPAddress(address) else { return -1 }
            if let refusal = policy.refusal(of: there) {
                failure = refusal
                return -1
            }
        }
        let kind = target.pointee.socktype | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
        let socket = Glibc.socket(target.pointee.family, kind, target.pointee.`protocol`)
        guard socket >= 0 else {
            failure = Errno(rawValue: errno)
            return -1
        }
        if var size = multi?.receiveBuffer.map(Int32.init) {
            setsockopt(socket, SOL_SOCKET, SO_RCVBUF, &size, socklen_t(MemoryLayout.size(ofValue: size)))
        }
        connections.opened(socket, to: address, for: route, isHTTP1: !mayMultiplex)
        return socket
    }

    /// Sets the failure of the transfer, whatever libcurl reports later.
    func fail(_ failure: FetchFailure) {
        if self.failure == nil { self.failure = failure }
    }
}
