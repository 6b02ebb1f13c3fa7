// SPDX-License-Identifier: Apache-2.0
import CCurl
import Glibc
import SyncPlan
import SystemPackage

/// A transfer under way.
package final class Transfer {
    fileprivate let handle: UnsafeMutableRawPointer
    package let receiver: any TransferReceiver
    fileprivate let policy: AddressPolicy?
    fileprivate var lists: [UnsafeMutablePointer<curl_slist>?] = []
    fileprivate var reader = HeadReader()
    /// What ended it, if libcurl knows only that something did.
    fileprivate var failure: (any Error)?
    package fileprivate(set) var isPaused = false
    /// When something came for the last time; `nil` if nothing has.
    package fileprivate(set) var lastActivity: ContinuousClock.Instant?

    fileprivate init(_ handle: UnsafeMutableRawPointer, _ receiver: any TransferReceiver, _ policy: AddressPolicy?) {
        self.handle = handle
        self.receiver = receiver
        self.policy = policy
    }

    deinit {
        for list in lists { curl_slist_free_all(list) }
    }

    /// How long after its start the request was sent; `nil` if it has not been.
    package var sentAfter: Duration? {
        var time: curl_off_t = 0
        guard curl_get_offset(handle, CURLINFO_PRETRANSFER_TIME_T, &time) == CURLE_OK, time > 0 else { return nil }
        return .microseconds(time)
    }

    /// The connection that it has; `nil` if it has none.
    package var connection: Int32? {
        var socket: curl_socket_t = -1
        guard curl_get_socket(handle, &socket) == CURLE_OK, socket >= 0 else { return nil }
        return socket
    }
}

/// The transfers of one thread (`libcurl-multi(3)`). No other file knows libcurl.
package final class CurlMulti {
    package struct Options {
        package init() {}

        package var userAgent = ""
        /// A PEM file; `nil` for the system's.
        package var caFile: String?
        package var connectTimeout: Duration = .seconds(5)
        /// How many connections are kept for later requests.
        package var connections = 64
    }

    private static let isReady = curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK

    private let options: Options
    private var multi: UnsafeMutableRawPointer
    /// Handles that wait to be used again.
    private var spare: [UnsafeMutableRawPointer] = []
    private var transfers: [UnsafeMutableRawPointer: Transfer] = [:]

    package init(_ options: Options) {
        precondition(Self.isReady, "libcurl cannot be used")
        self.options = options
        multi = Self.makeMulti(options)
    }

    deinit {
        for handle in transfers.keys {
            curl_multi_remove_handle(multi, handle)
            curl_easy_cleanup(handle)
        }
        closeAll()
        curl_multi_cleanup(multi)
    }

    private static func makeMulti(_ options: Options) -> UnsafeMutableRawPointer {
        guard let multi = curl_multi_init() else { preconditionFailure("no memory for libcurl") }
        curl_multi_set_long(multi, CURLMOPT_MAXCONNECTS, options.connections)
        return multi
    }

    private func closeAll() {
        for handle in spare { curl_easy_cleanup(handle) }
        spare = []
    }

    package var isIdle: Bool { transfers.isEmpty }
    /// Whether connections may be open.
    package private(set) var hasConnections = false

    /// Closes all connections, none of which is in use.
    package func closeConnections() {
        precondition(isIdle, "connections are in use")
        closeAll()
        curl_multi_cleanup(multi)
        multi = Self.makeMulti(options)
        hasConnections = false
    }

    /// Begins a transfer; it goes on with ``perform()``.
    package func begin(_ request: TransferRequest, _ receiver: any TransferReceiver) -> Transfer {
        let handle = spare.popLast() ?? makeHandle()
        let transfer = Transfer(handle, receiver, request.route.policy)
        transfers[handle] = transfer
        let this = Unmanaged.passUnretained(transfer).toOpaque()
        curl_set_pointer(handle, CURLOPT_WRITEDATA, this)
        curl_set_pointer(handle, CURLOPT_HEADERDATA, this)
        curl_set_pointer(handle, CURLOPT_OPENSOCKETDATA, this)
        curl_set_text(handle, CURLOPT_URL, request.url)
        setProxy(request.proxy, of: handle)
        var fields: UnsafeMutablePointer<curl_slist>?
        for field in request.fields { fields = curl_slist_append(fields, "\(field.name): \(field.value)") }
        curl_set_list(handle, CURLOPT_HTTPHEADER, fields)
        // With a “+” the entry is forgotten after a while, as one that libcurl looked up itself.
        let route = request.route
        let addresses = route.addresses.map { $0.bytes.count == 16 ? "[\($0)]" : "\($0)" }.joined(separator: ",")
        let entry = addresses.isEmpty ? nil : curl_slist_append(nil, "+\(route.host):\(route.port):\(addresses)")
        curl_set_list(handle, CURLOPT_RESOLVE, entry)
        transfer.lists = [fields, entry]
        curl_multi_add_handle(multi, handle)
        hasConnections = true
        return transfer
    }

    /// Ends a transfer, of which nothing is told any more.
    package func cancel(_ transfer: Transfer) {
        guard transfers[transfer.handle] === transfer else { return }
        finish(transfer)
    }

    /// Lets a transfer go on whose receiver said ``Reception/later``.
    package func resume(_ transfer: Transfer) {
        guard transfer.isPaused else { return }
        transfer.isPaused = false
        transfer.lastActivity = .now
        curl_easy_pause(transfer.handle, CURLPAUSE_CONT)
    }

    /// Ends a connection, whoever uses it.
    package func breakOff(_ connection: Int32) {
        Glibc.shutdown(connection, Int32(SHUT_RDWR))
    }

    /// Lets all transfers go on as far as they can at once.
    ///
    /// - Returns: Those that have ended, with why if that was before their time.
    package func perform() -> [(transfer: Transfer, failure: (any Error)?)] {
        var running: Int32 = 0
        curl_multi_perform(multi, &running)
        guard Int(running) < transfers.count else { return [] }
        var ended: [(transfer: Transfer, failure: (any Error)?)] = []
        var left: Int32 = 0
        while let message = curl_multi_info_read(multi, &left) {
            guard message.pointee.msg == CURLMSG_DONE, let handle = message.pointee.easy_handle,
                let transfer = transfers[handle]
            else { continue }
            let code = message.pointee.data.result
            ended.append((transfer, code == CURLE_OK ? nil : transfer.failure ?? failure(code, handle)))
        }
        for (transfer, _) in ended { finish(transfer) }
        return ended
    }

    /// Waits until a transfer can go on, the descriptor can be read, or the time is over.
    package func wait(for descriptor: Int32, atMost time: Duration?) {
        var bell = curl_waitfd(fd: descriptor, events: Int16(CURL_WAIT_POLLIN), revents: 0)
        let (seconds, attoseconds) = (time ?? .seconds(1_000_000)).components
        let milliseconds = max(0, min(seconds * 1000 + (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000, 1_000_000_000))
        curl_multi_poll(multi, &bell, 1, Int32(milliseconds), nil)
    }

    // MARK: Handles

    private func finish(_ transfer: Transfer) {
        let handle = transfer.handle
        transfers[handle] = nil
        curl_multi_remove_handle(multi, handle)
        // Both must not be seen once their lists are gone.
        curl_set_list(handle, CURLOPT_HTTPHEADER, nil)
        curl_set_list(handle, CURLOPT_RESOLVE, nil)
        spare.append(handle)
    }

    private func makeHandle() -> UnsafeMutableRawPointer {
        guard let handle = curl_easy_init() else { preconditionFailure("no memory for libcurl") }
        curl_set_long(handle, CURLOPT_NOSIGNAL, 1)
        curl_set_text(handle, CURLOPT_PROTOCOLS_STR, "http,https")
        curl_set_long(handle, CURLOPT_FOLLOWLOCATION, 0)
        curl_set_long(handle, CURLOPT_PATH_AS_IS, 1)
        curl_set_long(handle, CURLOPT_DISALLOW_USERNAME_IN_URL, 1)
        curl_set_long(handle, CURLOPT_HTTP09_ALLOWED, 0)
        curl_set_long(handle, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
        curl_set_long(handle, CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_2TLS))
        curl_set_long(handle, CURLOPT_PIPEWAIT, 1)
        curl_set_long(handle, CURLOPT_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2))
        curl_set_long(handle, CURLOPT_CONNECTTIMEOUT_MS, Int(options.connectTimeout / .milliseconds(1)))
        // What is judged by us is resolved by us: libcurl would wait for its own resolver's thread.
        curl_set_long(handle, CURLOPT_QUICK_EXIT, 1)
        curl_set_text(handle, CURLOPT_NOPROXY, "")
        curl_set_text(handle, CURLOPT_USERAGENT, options.userAgent)
        if let file = options.caFile { curl_set_text(handle, CURLOPT_CAINFO, file) }
        curl_set_data_function(handle, CURLOPT_HEADERFUNCTION) { bytes, size, count, this in
            guard let bytes, let this else { return 0 }
            let transfer = Unmanaged<Transfer>.fromOpaque(this).takeUnretainedValue()
            let line = UnsafeRawBufferPointer(start: bytes, count: size * count)
            return transfer.takeLine(line) ? line.count : 0
        }
        curl_set_data_function(handle, CURLOPT_WRITEFUNCTION) { bytes, size, count, this in
            guard let bytes, let this else { return 0 }
            let transfer = Unmanaged<Transfer>.fromOpaque(this).takeUnretainedValue()
            return transfer.takeBody(UnsafeRawBufferPointer(start: bytes, count: size * count))
        }
        curl_set_socket_function(handle) { this, _, address in
            guard let this, let address else { return -1 }
            let transfer = Unmanaged<Transfer>.fromOpaque(this).takeUnretainedValue()
            return transfer.openSocket(to: address)
        }
        return handle
    }

    private func setProxy(_ proxy: Proxy?, of handle: UnsafeMutableRawPointer) {
        guard let proxy else {
            // Else the environment would be asked.
            curl_set_text(handle, CURLOPT_PROXY, "")
            return
        }
        let scheme = proxy.kind == .http ? "http" : "socks5h"
        curl_set_text(handle, CURLOPT_PROXY, "\(scheme)://\(proxy)")
        let credentials = proxy.credentials?.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false) ?? []
        curl_set_text(handle, CURLOPT_PROXYUSERNAME, credentials.first.map(String.init))
        curl_set_text(handle, CURLOPT_PROXYPASSWORD, credentials.last.map(String.init))
    }

    // MARK: Errors

    private func failure(_ code: CURLcode, _ handle: UnsafeMutableRawPointer) -> any Error {
        let reason = String(cString: curl_easy_strerror(code))
        switch code {
        case CURLE_OUT_OF_MEMORY: return Errno.noMemory
        case CURLE_OPERATION_TIMEDOUT: return FetchFailure.timeout("fetch.connectTimeout to connect")
        case CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY:
            return FetchFailure("dns", "the name cannot be resolved", .passing)
        case CURLE_COULDNT_CONNECT, CURLE_PROXY, CURLE_INTERFACE_FAILED:
            return FetchFailure("connect", "no connection (\(Self.reason(handle) ?? reason))", .passing)
        case CURLE_PEER_FAILED_VERIFICATION:
            return FetchFailure(
                    "tls",
                    "the server's certificate is not trusted: correct it, or name its authority in fetch.caFile",
                    .lasting)
        case CURLE_SSL_CONNECT_ERROR, CURLE_SSL_CIPHER, CURLE_SSL_CACERT_BADFILE, CURLE_USE_SSL_FAILED:
            return FetchFailure("tls", "no TLS connection to the server can be made", .lasting)
        case CURLE_PARTIAL_FILE, CURLE_GOT_NOTHING, CURLE_RECV_ERROR, CURLE_SEND_ERROR, CURLE_HTTP2_STREAM, CURLE_HTTP2:
            return FetchFailure("connection-closed", "the server closed the connection before the end", .passing)
        case CURLE_URL_MALFORMAT:
            return FetchFailure("bad-url", "the URL cannot be asked for: it does not follow RFC 3986", .refused)
        default: return FetchFailure.protocolViolation(reason)
        }
    }

    private static func reason(_ handle: UnsafeMutableRawPointer) -> String? {
        var number = 0
        guard curl_get_long(handle, CURLINFO_OS_ERRNO, &number) == CURLE_OK, number != 0 else { return nil }
        return String(cString: strerror(Int32(number)))
    }
}

extension Transfer {
    fileprivate func takeLine(_ line: UnsafeRawBufferPointer) -> Bool {
        lastActivity = .now
        do {
            guard let head = try reader.read(line) else { return true }
            if receiver.take(head) { return true }
            failure = Unwanted()
        } catch {
            failure = error
        }
        return false
    }

    fileprivate func takeBody(_ bytes: UnsafeRawBufferPointer) -> Int {
        switch receiver.take(bytes) {
        case .taken:
            lastActivity = .now
            return bytes.count
        case .later:
            isPaused = true
            return Int(CURL_WRITEFUNC_PAUSE)
        case .refused:
            failure = Unwanted()
            return bytes.isEmpty ? 1 : 0
        }
    }

    fileprivate func openSocket(to address: UnsafeMutablePointer<curl_sockaddr>) -> curl_socket_t {
        if let policy {
            guard let there = withUnsafePointer(to: &address.pointee.addr, { IPAddress($0) }) else { return -1 }
            if let refusal = policy.refusal(of: there) {
                failure = refusal
                return -1
            }
        }
        let kind = address.pointee.socktype | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
        let socket = Glibc.socket(address.pointee.family, kind, address.pointee.`protocol`)
        if socket < 0 { failure = Errno(rawValue: errno) }
        return socket
    }
}
