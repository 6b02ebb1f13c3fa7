// SPDX-License-Identifier: Apache-2.0
import AsyncHTTPClient
import NIOCore
package import NIOHTTP1
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
    /// The clients for each proxy that connects to servers: those for SOCKS to all, and those for HTTP to secure ones.
    private let proxied: [Proxy: HTTPClients]
    /// The proxies that fetch for themselves what http servers have.
    private let forwarding: [Proxy: ForwardProxy]
    private let http1Origins = HTTP1Origins()
    /// How many kept-alive connections in a row may turn out to have ended.
    ///
    /// Some servers promise to keep each connection, and keep none: meanwhile others have put new ones beside those that
    /// were there.
    private let staleLimit: Int
    private let connectTimeout: Duration

    /// - Parameters:
    ///   - settings: What was configured.
    ///   - proxies: Which requests go through a proxy.
    ///   - idleTime: How long a connection is kept that nothing is asked over. The default is 60 s.
    package init(settings: Settings, proxies: ProxyPolicy = ProxyPolicy(), idleTime: Duration = .seconds(60)) {
        policy = NetworkPolicy(settings.network)
        var configuration = HTTPClient.Configuration()
        // Nobody collects traces here, and the attributes of each would be made all the same.
        configuration.tracing.tracer = nil
        configuration.redirectConfiguration = .disallow
        configuration.decompression = .disabled
        configuration.timeout = HTTPClient.Configuration.Timeout(
            connect: TimeAmount(settings.fetch.connectTimeout), read: TimeAmount(settings.fetch.idleTimeout))
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = settings.fetch.perHost
        configuration.connectionPool.idleTimeout = TimeAmount(idleTime)
        // Else a refused connection is tried again and again until the connect timeout is over.
        configuration.connectionPool.retryConnectionEstablishment = false
        if let file = settings.fetch.caFile {
            var tls = TLSConfiguration.makeClientConfiguration()
            tls.trustRoots = .file(file)
            configuration.tlsConfiguration = tls
        }
        direct = HTTPClients(configuration, judging: policy.others)
        allowed = HTTPClients(configuration, judging: policy.allowedHosts)
        self.proxies = proxies
        // At the other end there is the proxy, which the owner of the machine has named: it is not judged.
        let forwarders = proxies.proxies.filter { $0.kind == .http }.map { proxy in
            (proxy, ForwardProxy(proxy, configuration, concurrency: settings.fetch.concurrency))
        }
        self.forwarding = Dictionary(uniqueKeysWithValues: forwarders)
        proxied = Dictionary(
            uniqueKeysWithValues: proxies.proxies.map { proxy in
                configuration.proxy = HTTPClient.Configuration.Proxy(proxy)
                return (proxy, HTTPClients(configuration, judging: nil))
            })
        staleLimit = 4 * settings.fetch.perHost
        connectTimeout = settings.fetch.connectTimeout
    }

    /// Closes all connections; no request may be under way any more.
    ///
    /// One on which a server has yet to begin with HTTP/2 cannot be closed: it is waited for as long as a request does.
    package func shutdown() async {
        let (ended, end) = AsyncStream.makeStream(of: Void.self)
        let clients = ([direct, allowed] + proxied.values).flatMap(\.both) + forwarding.values.flatMap(\.all)
        for client in clients { client.shutdown { _ in end.yield() } }
        await wait(atMost: connectTimeout) { for await _ in ended.prefix(clients.count) {} }
    }

    package func proxy(for target: FetchTarget) -> Proxy? { proxies.proxy(for: target) }

    package func get(_ target: FetchTarget, headers: HTTPHeaders) async throws -> TransportResponse {
        let proxy = proxy(for: target)
        let forwarder = target.isSecure ? nil : proxy.flatMap { forwarding[$0] }
        var request = HTTPClientRequest(url: target.url)
        request.headers = headers
        if let forwarder { request = forwarder.request(for: target, headers: headers) }
        let clients = proxy.flatMap { proxied[$0] } ?? (policy.isAllowed(target.host) ? allowed : direct)
        var retries = 0
        while true {
            let isHTTP1 = !target.isSecure || http1Origins.contains(target.origin)
            do {
                let client = forwarder?.client ?? (isHTTP1 ? clients.http1 : clients.http2)
                let response = try await client.execute(request, deadline: .distantFuture)
                return TransportResponse(
                    status: Int(response.status.code), headers: response.headers,
                    isMultiplexed: response.version.major >= 2, body: Body(body: response.body))
            } catch is HTTP1Required where !isHTTP1 {
                http1Origins.insert(target.origin)
            } catch  where retries < retryLimit(after: error) {
                retries += 1
            } catch {
                if let shortage = Self.shortage(in: error) { throw shortage }
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

}

extension HTTPClient.Configuration.Proxy {
    fileprivate init(_ proxy: Proxy) {
        switch proxy.kind {
        case .http: self = .server(host: proxy.host, port: proxy.port, authorization: proxy.authorization)
        case .socks5: self = .socksServer(host: proxy.host, port: proxy.port)
        }
    }
}
