// SPDX-License-Identifier: Apache-2.0
import AsyncHTTPClient
import FoundationEssentials
import Glibc
import NIOCore
package import NIOHTTP1
import NIOPosix
import NIOSSL
package import SyncPlan

/// HTTP over TCP and TLS, by async-http-client.
///
/// Redirects, conditional requests and decoding are left to the caller: the library's own are not what a cache needs.
package final class HTTPTransport: Transport {
    private let proxies: ProxyPolicy
    private let policy: NetworkPolicy
    private let direct: HTTPClients
    /// The clients for hosts that may stand for local addresses.
    ///
    /// They are others because what judges a connection does not see for which host it was made, and because connections
    /// are kept: that of another host must never be one that only these hosts may have.
    private let allowed: HTTPClients
    /// The clients for each proxy.
    private let proxied: [Proxy: HTTPClients]
    private let http1Origins = HTTP1Origins()
    /// How many kept-alive connections in a row may turn out to have ended.
    ///
    /// Some servers promise to keep each connection, and keep none: meanwhile others have put new ones beside those that
    /// were there.
    private let staleLimit: Int
    private let connectTimeout: Duration

    package init(settings: Settings, proxies: ProxyPolicy = ProxyPolicy()) {
        policy = NetworkPolicy(settings.network)
        var configuration = HTTPClient.Configuration()
        // Nobody collects traces here, and the attributes of each would be made all the same.
        configuration.tracing.tracer = nil
        configuration.redirectConfiguration = .disallow
        configuration.decompression = .disabled
        configuration.timeout = HTTPClient.Configuration.Timeout(
            connect: TimeAmount(settings.fetch.connectTimeout), read: TimeAmount(settings.fetch.idleTimeout))
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = settings.fetch.perHost
        // Else a refused connection is tried again and again until the connect timeout is over.
        configuration.connectionPool.retryConnectionEstablishment = false
        if let file = settings.fetch.caFile {
            var tls = TLSConfiguration.makeClientConfiguration()
            tls.trustRoots = .file(file)
            configuration.tlsConfiguration = tls
        }
        direct = Self.clients(configuration, judging: policy.others)
        allowed = Self.clients(configuration, judging: policy.allowedHosts)
        self.proxies = proxies
        proxied = Dictionary(
            uniqueKeysWithValues: proxies.proxies.map { proxy in
                configuration.proxy = HTTPClient.Configuration.Proxy(proxy)
                // At the other end there is the proxy, which the owner of the machine has named.
                return (proxy, Self.clients(configuration, judging: nil))
            })
        staleLimit = 4 * settings.fetch.perHost
        connectTimeout = settings.fetch.connectTimeout
    }

    /// Clients that send nothing to an address that the policy refuses, if there is one.
    ///
    /// The name may resolve to another address than a moment ago: what counts is who is at the other end.
    private static func clients(
        _ configuration: HTTPClient.Configuration, judging policy: AddressPolicy?
    ) -> HTTPClients {
        let judge: @Sendable (any Channel) -> EventLoopFuture<Void> = { channel in
            guard let policy else { return channel.eventLoop.makeSucceededVoidFuture() }
            guard let address = channel.remoteAddress?.ipAddress.flatMap({ IPAddress($0) }) else {
                return channel.eventLoop.makeFailedFuture(ChannelError.unknownLocalAddress)
            }
            guard let refusal = policy.refusal(of: address) else { return channel.eventLoop.makeSucceededVoidFuture() }
            // The library forgets a connection that fails here, and leaves it open.
            channel.close(promise: nil)
            return channel.eventLoop.makeFailedFuture(refusal)
        }
        let silence = configuration.timeout.read ?? .seconds(10)
        var configuration = configuration
        configuration.http1_1ConnectionDebugInitializer = { channel in
            judge(channel).flatMap { ResponseGuard.add(to: channel) }
        }
        configuration.http2ConnectionDebugInitializer = { channel in
            judge(channel).flatMap { ConnectionGuard.add(to: channel, silence: silence) }
        }
        configuration.http2StreamChannelDebugInitializer = { StreamGuard.add(to: $0) }
        return HTTPClients(configuration)
    }

    /// Closes all connections; no request may be under way any more.
    ///
    /// One on which a server has yet to begin with HTTP/2 cannot be closed: it is waited for as long as a request does.
    package func shutdown() async {
        let (ended, end) = AsyncStream.makeStream(of: Void.self)
        let clients = ([direct, allowed] + proxied.values).flatMap { [$0.http1, $0.http2] }
        for client in clients { client.shutdown { _ in end.yield() } }
        await withTaskGroup { [connectTimeout] group in
            group.addTask { for await _ in ended.prefix(clients.count) {} }
            group.addTask { try? await Task.sleep(for: connectTimeout) }
            await group.next()
            group.cancelAll()
        }
    }

    package func proxy(for target: FetchTarget) -> Proxy? { proxies.proxy(for: target) }

    package func get(_ target: FetchTarget, headers: HTTPHeaders) async throws -> TransportResponse {
        var request = HTTPClientRequest(url: target.url)
        request.headers = headers
        let clients =
            proxy(for: target).flatMap { proxied[$0] } ?? (policy.isAllowed(target.host) ? allowed : direct)
        var retries = 0
        while true {
            let isHTTP1 = !target.isSecure || http1Origins.contains(target.origin)
            do {
                let client = isHTTP1 ? clients.http1 : clients.http2
                let response = try await client.execute(request, deadline: .distantFuture)
                return TransportResponse(
                    status: Int(response.status.code), headers: response.headers,
                    isMultiplexed: response.version.major >= 2, body: Body(body: response.body))
            } catch is HTTP1Required where !isHTTP1 {
                http1Origins.insert(target.origin)
            } catch  where retries < retryLimit(after: error) {
                retries += 1
            } catch {
                if let refusal = Self.refusal(in: error) { throw FetchFailure.address(refusal, of: target.host) }
                // Of all that may be behind these, HTTP/2 is what can be done without.
                switch error as? HTTPClientError {
                case .connectTimeout, .remoteConnectionClosed: if !isHTTP1 { http1Origins.insert(target.origin) }
                default: break
                }
                throw Self.failure(of: error)
            }
        }
    }

    /// The refusal of an address that a connection led to.
    private static func refusal(in error: any Error) -> AddressPolicy.Refusal? {
        let errors = (error as? NIOConnectionError)?.connectionErrors.map(\.error) ?? [error]
        return errors.lazy.compactMap { $0 as? AddressPolicy.Refusal }.first
    }

    /// How often a request goes out again at once after an error that says nothing of the server.
    private func retryLimit(after error: any Error) -> Int {
        switch error {
        case is StaleConnection: staleLimit
        // The connection ended before the request was sent.
        case ChannelError.ioOnClosedChannel: staleLimit
        case is UnprocessedRequest: staleLimit / 4
        case let error as HTTPClientError:
            switch error {
            // The connection ended before the request was sent.
            case .remoteConnectionClosed: staleLimit / 4
            // The same, when its end was known already.
            case .cancelled where !Task.isCancelled: staleLimit / 4
            // All streams that the server allows are taken.
            case .getConnectionFromPoolTimeout: .max
            default: 0
            }
        default: 0
        }
    }

    /// A body whose errors are the ones of this project.
    private struct Body: AsyncSequence, Sendable {
        typealias Element = ByteBuffer
        typealias Failure = any Error
        let body: HTTPClientResponse.Body

        struct AsyncIterator: AsyncIteratorProtocol {
            var base: HTTPClientResponse.Body.AsyncIterator

            mutating func next() async throws -> ByteBuffer? {
                do {
                    return try await base.next()
                } catch {
                    throw HTTPTransport.failure(of: error)
                }
            }
        }

        func makeAsyncIterator() -> AsyncIterator { AsyncIterator(base: body.makeAsyncIterator()) }
    }

    private static let unreachable = [ECONNREFUSED, ENETUNREACH, EHOSTUNREACH, ENETDOWN, EHOSTDOWN, EADDRNOTAVAIL]

    private static let closed = FetchFailure(
        "connection-closed", "the server closed the connection before the end", .passing)

    /// What an error of BoringSSL says to people; its own text names lines of its source.
    private static func reason(ofTLS error: String) -> String {
        if error.contains("CERTIFICATE_VERIFY_FAILED") || error.contains("unableToValidateCertificate") {
            return "the server's certificate is not trusted: correct it, or name its authority in fetch.caFile"
        }
        if error.contains("WRONG_VERSION_NUMBER") { return "the server does not speak TLS" }
        return "no TLS connection to the server can be made"
    }

    /// What an error of the library means.
    private static func failure(of error: any Error) -> any Error {
        switch error {
        case is CancellationError: return CancellationError()
        case let error as HTTPClientError:
            switch error {
            case .cancelled: return Task.isCancelled ? CancellationError() : Self.closed
            case .connectTimeout, .tlsHandshakeTimeout:
                return FetchFailure.timeout("fetch.connectTimeout to connect")
            case .readTimeout, .deadlineExceeded: return FetchFailure.timeout("fetch.idleTimeout to go on")
            case .remoteConnectionClosed: return Self.closed
            default: return FetchFailure.protocolViolation("\(error)")
            }
        case let error as NIOConnectionError:
            if error.connectionErrors.isEmpty {
                return FetchFailure("dns", "the name \(error.host) cannot be resolved", .passing)
            }
            return FetchFailure("connect", "no connection to \(error.host) port \(error.port)", .passing)
        case let error as IOError where unreachable.contains(error.errnoCode):
            return FetchFailure("connect", "no connection (\(error))", .passing)
        case is ChannelError, is IOError:
            return FetchFailure("connection-closed", "the connection broke (\(error))", .passing)
        case is StaleConnection, is UnprocessedRequest, HTTPParserError.closedConnection,
            HTTPParserError.invalidEOFState:
            return Self.closed
        case is HTTPParserError: return FetchFailure.protocolViolation("\(error)")
        default:
            if error is NIOSSLError || error is BoringSSLError || error is NIOSSLExtraError {
                return FetchFailure("tls", reason(ofTLS: "\(error)"), .lasting)
            }
            return FetchFailure("protocol", "the download failed (\(error))", .passing)
        }
    }
}

extension HTTPClient.Configuration.Proxy {
    fileprivate init(_ proxy: Proxy) {
        switch proxy.kind {
        case .http:
            let authorization = proxy.credentials.map { HTTPClient.Authorization.basic(credentials: Self.base64($0)) }
            self = .server(host: proxy.host, port: proxy.port, authorization: authorization)
        case .socks5:
            self = .socksServer(host: proxy.host, port: proxy.port)
        }
    }

    private static func base64(_ text: String) -> String { Data(text.utf8).base64EncodedString() }
}
