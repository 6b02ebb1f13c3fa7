// SPDX-License-Identifier: Apache-2.0
import AsyncHTTPClient
import FoundationEssentials
import NIOCore
import NIOHTTP1
import SyncPlan

/// A proxy that is asked for what http servers have, and fetches it (RFC 9110, section 7.3.2).
///
/// async-http-client (1.37.0) has a proxy connect to http servers, too, which most proxies do for https alone.
struct ForwardProxy: Sendable {
    private let proxy: Proxy
    private let clients: HTTPClients

    /// - Parameters:
    ///   - proxy: An HTTP proxy.
    ///   - configuration: That of the clients, without a proxy.
    ///   - concurrency: How many requests may go to the proxy at once, whatever servers they are for.
    init(_ proxy: Proxy, _ configuration: HTTPClient.Configuration, concurrency: Int) {
        self.proxy = proxy
        var configuration = configuration
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = concurrency
        clients = HTTPClients(configuration, judging: nil, preparing: AbsoluteForm.add)
    }

    var client: HTTPClient { clients.http1 }
    var all: [HTTPClient] { clients.both }

    /// The request for what an http server has.
    func request(for target: FetchTarget, headers: HTTPHeaders) -> HTTPClientRequest {
        let rest = target.url.dropFirst("http://".count)
        let authority = rest.prefix { $0 != "/" && $0 != "?" }
        var request = HTTPClientRequest(url: "http://\(proxy)\(rest.dropFirst(authority.count))")
        request.headers = headers
        request.headers.add(name: "Host", value: String(authority))
        if let authorization = proxy.authorization {
            request.headers.add(name: "Proxy-Authorization", value: authorization.headerValue)
        }
        return request
    }
}

/// Writes the target of each request in the form that proxies want: `http://`, the host, and the rest (RFC 9112, section
/// 3.2.2).
private final class AbsoluteForm: ChannelOutboundHandler {
    typealias OutboundIn = HTTPClientRequestPart
    typealias OutboundOut = HTTPClientRequestPart

    static func add(to channel: any Channel) -> EventLoopFuture<Void> {
        channel.eventLoop.makeCompletedFuture {
            let pipeline = channel.pipeline.syncOperations
            let encoder = try pipeline.handler(type: HTTPRequestEncoder.self)
            try pipeline.addHandler(AbsoluteForm(), position: .after(encoder))
        }
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        guard case .head(var head) = unwrapOutboundIn(data), let host = head.headers.first(name: "Host") else {
            return context.write(data, promise: promise)
        }
        head.uri = "http://\(host)\(head.uri)"
        context.write(wrapOutboundOut(.head(head)), promise: promise)
    }
}

extension Proxy {
    /// What the proxy is told to let the agent in; `nil` if nothing.
    var authorization: HTTPClient.Authorization? {
        credentials.map { .basic(credentials: Data($0.utf8).base64EncodedString()) }
    }
}
