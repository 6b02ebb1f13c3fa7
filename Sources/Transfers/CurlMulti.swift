// SPDX-License-Identifier: Apache-2.0
import CCurl
import Glibc
import HTTPRules

/// The transfers of one thread, by libcurl (`libcurl-multi(3)`).
package final class CurlMulti: Transport {
    private static let isReady = curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK
    /// Whether the system's certificates are in one file.
    private static let hasBundle: Bool = {
        guard let handle = curl_easy_init() else { return false }
        defer { curl_easy_cleanup(handle) }
        return curl_get_text(handle, CURLINFO_CAINFO) != nil
    }()
    /// How much is read from a socket at once, in bytes.
    private static let readSize = 48 << 10
    /// How often bytes outside bodies are measured.
    private static let meterInterval: Duration = .milliseconds(5)

    private var options: TransferOptions
    /// How often the options changed.
    private(set) var changes = 0
    /// How often the contents of the certificate file changed.
    private var caChanges = 0
    private let connections = Connections()
    private var multi: UnsafeMutableRawPointer
    /// Idle handles, for later transfers.
    private var spare: [UnsafeMutableRawPointer] = []
    private var transfers: [UnsafeMutableRawPointer: CurlTransfer] = [:]
    /// The urgent transfers that may still wait for a connection.
    private var urgent: [CurlTransfer] = []
    /// The handles in use that have outdated options.
    private var outdated: Set<UnsafeMutableRawPointer> = []
    /// The fields of the last request, which the next one mostly shares.
    private var lastFields: (fields: [(name: String, value: String)], list: CurlList)?
    private var nextMeasurement = ContinuousClock.now
    package private(set) var hasConnections = false

    package init(_ options: TransferOptions) {
        precondition(Self.isReady, "libcurl cannot be used")
        self.options = options
        multi = Self.makeMulti(options)
    }

    deinit {
        for handle in transfers.keys {
            curl_multi_remove_handle(multi, handle)
            curl_easy_cleanup(handle)
        }
        for handle in spare { curl_easy_cleanup(handle) }
        curl_multi_cleanup(multi)
    }

    /// Applies options to transfers that begin from now on.
    package func configure(_ options: TransferOptions) {
        if options.caVersion != self.options.caVersion { caChanges += 1 }
        self.options = options
        changes += 1
        Self.set(options, of: multi)
        outdated.formUnion(transfers.keys)
        for handle in spare { curl_easy_cleanup(handle) }
        spare = []
    }

    private static func makeMulti(_ options: TransferOptions) -> UnsafeMutableRawPointer {
        guard let multi = curl_multi_init() else { preconditionFailure("no memory for libcurl") }
        set(options, of: multi)
        return multi
    }

    private static func set(_ options: TransferOptions, of multi: UnsafeMutableRawPointer) {
        curl_multi_set_long(multi, CURLMOPT_MAXCONNECTS, options.connections)
        curl_multi_set_long(multi, CURLMOPT_MAX_HOST_CONNECTIONS, options.connectionsPerHost)
    }

    var receiveBuffer: Int? { options.receiveBuffer }

    // MARK: Transport

    package var isIdle: Bool { transfers.isEmpty }

    package func closeConnections() {
        precondition(isIdle, "connections are in use")
        for handle in spare { curl_easy_cleanup(handle) }
        spare = []
        curl_multi_cleanup(multi)
        multi = Self.makeMulti(options)
        hasConnections = false
    }

    package func begin(_ request: TransferRequest, _ receiver: any TransferReceiver) -> any Transfer {
        let handle = spare.popLast() ?? makeHandle()
        let transfer = CurlTransfer(handle, request, list(of: request.fields), receiver, connections, self)
        transfers[handle] = transfer
        if request.isUrgent { urgent.append(transfer) }
        curl_multi_add_handle(multi, handle)
        hasConnections = true
        return transfer
    }

    private func list(of fields: [(name: String, value: String)]) -> CurlList {
        // Equal strings can have different bytes, and servers compare bytes.
        let areSame = lastFields?.fields.elementsEqual(fields) { last, new in
            last.name.utf8.elementsEqual(new.name.utf8) && last.value.utf8.elementsEqual(new.value.utf8)
        }
        if let lastFields, areSame == true { return lastFields.list }
        let list = CurlList(fields.map { "\($0.name): \($0.value)" })
        lastFields = (fields, list)
        return list
    }

    package func perform() {
        var running: Int32 = 0
        connections.now = .now
        urgent.removeAll { $0.hasBegun || !isUnderWay($0) }
        let blocked = urgent.filter { $0.isBlocked(by: options.connectionsPerHost) }
        // libcurl wakes another transfer then, which must find the limit in place.
        for transfer in blocked { curl_multi_remove_handle(multi, transfer.handle) }
        curl_multi_perform(multi, &running)
        connect(blocked, &running)
        measure()
        defer { wakeWaiting() }
        guard Int(running) < transfers.count else { return }
        var ended: [(transfer: CurlTransfer, failure: (any Error)?)] = []
        var left: Int32 = 0
        while let message = curl_multi_info_read(multi, &left) {
            guard message.pointee.msg == CURLMSG_DONE, let handle = message.pointee.easy_handle,
                let transfer = transfers[handle]
            else { continue }
            let code = message.pointee.data.result
            if code == CURLE_ABORTED_BY_CALLBACK, transfer.leaveMisplaced() {
                restart(handle)
                continue
            }
            // HTTP/2 errors show that the server speaks HTTP/2.
            if code == CURLE_HTTP2 || code == CURLE_HTTP2_STREAM { transfer.recordAnswer() }
            let failure: (any Error)? =
                if code != CURLE_OK {
                    transfer.failure ?? CurlFailure.error(code, handle, transfer.limits)
                } else {
                    // libcurl accepts a truncated head.
                    transfer.hasHead ? nil : CurlFailure.closed
                }
            ended.append((transfer, failure))
            finish(transfer, isWhole: failure == nil)
        }
        for (transfer, failure) in ended { transfer.receiver.receiveEnd(failure) }
    }

    /// Opens connections beyond the limit of their hosts for urgent transfers, which are not added now.
    private func connect(_ blocked: [CurlTransfer], _ running: inout Int32) {
        guard !blocked.isEmpty else { return }
        curl_multi_set_long(multi, CURLMOPT_MAX_HOST_CONNECTIONS, 0)
        for transfer in blocked {
            // Others must not get a connection that is one too many.
            curl_set_long(transfer.handle, CURLOPT_FORBID_REUSE, 1)
            transfer.setAddresses()
            curl_multi_add_handle(multi, transfer.handle)
        }
        curl_multi_perform(multi, &running)
        Self.set(options, of: multi)
    }

    /// Makes libcurl look for connections again for waiting transfers.
    ///
    /// libcurl has one queue of waiting transfers for all hosts, and wakes only the first when a transfer ends or a
    /// connection is established (7.88): behind a host that hangs, the transfers of others would wait forever.
    private func wakeWaiting() {
        guard connections.consumeChange() else { return }
        for (handle, transfer) in transfers where !transfer.hasBegun { restart(handle) }
    }

    private func restart(_ handle: UnsafeMutableRawPointer) {
        curl_multi_remove_handle(multi, handle)
        // The addresses may have expired during a long wait.
        transfers[handle]?.setAddresses()
        curl_multi_add_handle(multi, handle)
    }

    package func wait(for descriptor: Int32, atMost time: Duration?) {
        let watched = connections.idle
        var descriptors = ([descriptor] + watched.map(\.socket)).map {
            curl_waitfd(fd: $0, events: Int16(CURL_WAIT_POLLIN), revents: 0)
        }
        let (seconds, attoseconds) = (time ?? .seconds(1_000_000)).components
        let milliseconds = seconds * 1000 + (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000
        curl_multi_poll(
            multi, &descriptors, UInt32(descriptors.count), Int32(max(0, min(milliseconds, 1_000_000_000))), nil)
        // Data on an idle connection means that the server is closing it: never reuse it.
        for (entry, idle) in zip(descriptors.dropFirst(), watched) where entry.revents != 0 {
            connections.breakOff(idle.connection)
        }
    }

    /// Shuts down connections that exceed the limit on bytes outside bodies.
    private func measure() {
        let now = ContinuousClock.now
        connections.now = now
        guard !isIdle, now >= nextMeasurement else { return }
        nextMeasurement = now + Self.meterInterval
        for connection in connections.excessive() {
            // Another request on the connection may be the cause.
            let isShared = transfers.values.count { $0.connection === connection } > 1
            for transfer in transfers.values where transfer.connection === connection {
                transfer.fail(.protocolViolation("too much besides the image", isShared ? .passing : .lasting))
            }
            connections.breakOff(connection)
        }
    }

    // MARK: Handles

    func isUnderWay(_ transfer: CurlTransfer) -> Bool { transfers[transfer.handle] === transfer }

    func finish(_ transfer: CurlTransfer, isWhole: Bool) {
        let handle = transfer.handle
        transfers[handle] = nil
        curl_multi_remove_handle(multi, handle)
        transfer.leaveConnection(isWhole: isWhole)
        // libcurl must not read the lists after they are freed.
        curl_set_list(handle, CURLOPT_HTTPHEADER, nil)
        curl_set_list(handle, CURLOPT_RESOLVE, nil)
        curl_set_long(handle, CURLOPT_FRESH_CONNECT, 0)
        curl_set_long(handle, CURLOPT_FORBID_REUSE, 0)
        // libcurl (7.88) leaves what a paused transfer has not delivered in its handle, and gives it to the next one.
        if outdated.remove(handle) == nil, isWhole, !transfer.isPaused {
            spare.append(handle)
        } else {
            curl_easy_cleanup(handle)
        }
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
        curl_set_long(handle, CURLOPT_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2))
        // Names are resolved beforehand; should libcurl resolve one, it must not wait for that at the end.
        curl_set_long(handle, CURLOPT_QUICK_EXIT, 1)
        // Keep the given addresses for longer than any transfer.
        curl_set_long(handle, CURLOPT_DNS_CACHE_TIMEOUT, Int(options.totalTimeout / .seconds(1)) + 60)
        curl_set_text(handle, CURLOPT_NOPROXY, "")
        curl_set_text(handle, CURLOPT_USERAGENT, options.userAgent)
        // Without this, OpenSSL would ask for the passphrase of a key on the terminal.
        curl_set_text(handle, CURLOPT_KEYPASSWD, "")
        // Larger reads than the 16 KiB of libcurl, unless little is to arrive before a pause.
        if options.receiveBuffer == nil { curl_set_long(handle, CURLOPT_BUFFERSIZE, Self.readSize) }
        // libcurl keeps the certificates of a path for a day (7.87): other contents need another spelling.
        if let file = options.caFile {
            let prefix = file.utf8.first == UInt8(ascii: "/") ? "/" : "./"
            curl_set_text(handle, CURLOPT_CAINFO, String(repeating: prefix, count: caChanges % 100) + file)
        }
        // Use only the certificate file, which is read once, not a folder.
        if options.caFile != nil || Self.hasBundle { curl_set_text(handle, CURLOPT_CAPATH, nil) }
        CurlTransfer.setFunctions(of: handle, connections)
        measureRecords(of: handle)
        return handle
    }

    /// Measures at every TLS record, too.
    ///
    /// libcurl may stay in a call for long (7.88).
    private func measureRecords(of handle: UnsafeMutableRawPointer) {
        curl_set_pointer(handle, CURLOPT_SSL_CTX_DATA, Unmanaged.passUnretained(self).toOpaque())
        curl_set_tls_function(handle) { _, context, this in
            guard let context, let this else { return CURLE_FAILED_INIT }
            ssl_set_message_data(OpaquePointer(context), this)
            SSL_CTX_set_msg_callback(OpaquePointer(context)) { isWrite, _, kind, _, _, _, this in
                guard isWrite == 0, kind == SSL3_RT_HEADER, let this else { return }
                Unmanaged<CurlMulti>.fromOpaque(this).takeUnretainedValue().measure()
            }
            return CURLE_OK
        }
    }
}
