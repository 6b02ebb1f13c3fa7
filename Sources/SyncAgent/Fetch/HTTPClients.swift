// SPDX-License-Identifier: Apache-2.0
import AsyncHTTPClient
import NIOCore
import NIOPosix

/// Two clients, each of which speaks one version of HTTP.
///
/// async-http-client (1.37.0) traps when an origin goes back and forth between the versions for each new connection, if
/// both have the same client.
struct HTTPClients: Sendable {
    let http1: HTTPClient
    /// The one for secure origins, to which a server that has not agreed on HTTP/2 is an ``HTTP1Required``.
    let http2: HTTPClient

    /// Makes clients with the same configuration, but for the version.
    init(_ configuration: HTTPClient.Configuration) {
        var configuration = configuration
        configuration.httpVersion = .http1Only
        let group = MultiThreadedEventLoopGroup.singleton
        http1 = HTTPClient(eventLoopGroup: group, configuration: configuration)
        configuration.httpVersion = .automatic
        configuration.http1_1ConnectionDebugInitializer = { channel in
            channel.close(promise: nil)
            return channel.eventLoop.makeFailedFuture(HTTP1Required())
        }
        http2 = HTTPClient(eventLoopGroup: group, configuration: configuration)
    }
}
