// SPDX-License-Identifier: Apache-2.0
import AsyncHTTPClient
import NIOCore
import NIOPosix
import SyncPlan

/// Two clients, each of which speaks one version of HTTP.
///
/// async-http-client (1.37.0) traps when an origin goes back and forth between the versions for each new connection, if
/// both have the same client.
struct HTTPClients: Sendable {
    let http1: HTTPClient
    /// The one for secure origins, to which a server that has not agreed on HTTP/2 is an ``HTTP1Required``.
    let http2: HTTPClient

    var both: [HTTPClient] { [http1, http2] }

    /// Makes clients that send nothing to an address that the policy refuses, if there is one.
    ///
    /// The name may resolve to another address than a moment ago: what counts is who is at the other end.
    ///
    /// - Parameters:
    ///   - configuration: That of both, but for the version.
    ///   - policy: What judges each connection.
    ///   - prepare: What else is done to each connection over which HTTP/1 is spoken.
    init(
        _ configuration: HTTPClient.Configuration, judging policy: AddressPolicy?,
        preparing prepare: (@Sendable (any Channel) -> EventLoopFuture<Void>)? = nil
    ) {
        let judge: @Sendable (any Channel) -> EventLoopFuture<Void> = { Self.judge($0, by: policy) }
        let silence = configuration.timeout.read ?? .seconds(10)
        var configuration = configuration
        configuration.httpVersion = .http1Only
        configuration.http1_1ConnectionDebugInitializer = { channel in
            judge(channel).flatMap { ResponseGuard.add(to: channel) }.flatMap {
                prepare?(channel) ?? channel.eventLoop.makeSucceededVoidFuture()
            }
        }
        let group = MultiThreadedEventLoopGroup.singleton
        http1 = HTTPClient(eventLoopGroup: group, configuration: configuration)

        configuration.httpVersion = .automatic
        configuration.http1_1ConnectionDebugInitializer = { channel in
            channel.close(promise: nil)
            return channel.eventLoop.makeFailedFuture(HTTP1Required())
        }
        configuration.http2ConnectionDebugInitializer = { channel in
            judge(channel).flatMap { ConnectionGuard.add(to: channel, silence: silence) }
        }
        configuration.http2StreamChannelDebugInitializer = { StreamGuard.add(to: $0) }
        http2 = HTTPClient(eventLoopGroup: group, configuration: configuration)
    }

    private static func judge(_ channel: any Channel, by policy: AddressPolicy?) -> EventLoopFuture<Void> {
        guard let policy else { return channel.eventLoop.makeSucceededVoidFuture() }
        guard let address = channel.remoteAddress?.ipAddress.flatMap({ IPAddress($0) }) else {
            return channel.eventLoop.makeFailedFuture(ChannelError.unknownLocalAddress)
        }
        guard let refusal = policy.refusal(of: address) else { return channel.eventLoop.makeSucceededVoidFuture() }
        // The library forgets a connection that fails here, and leaves it open.
        channel.close(promise: nil)
        return channel.eventLoop.makeFailedFuture(refusal)
    }
}
