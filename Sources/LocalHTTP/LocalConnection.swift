// SPDX-License-Identifier: Apache-2.0
package import NIOCore
package import NIOHTTP1
import NIOPosix

/// An HTTP/1.1 connection to a server on this machine, for sequential requests.
package struct LocalConnection {
    package enum Server: Sendable {
        /// A Unix socket at this path.
        case socket(String)
        /// A port of 127.0.0.1.
        case port(Int)

        fileprivate func address() throws -> SocketAddress {
            switch self {
            case .socket(let path): try SocketAddress(unixDomainSocketPath: path)
            case .port(let port): try SocketAddress(ipAddress: "127.0.0.1", port: port)
            }
        }

        fileprivate var host: String {
            switch self {
            case .socket: "localhost"
            case .port(let port): "127.0.0.1:\(port)"
            }
        }
    }

    package enum Failure: Error, Equatable, CustomStringConvertible {
        case closed
        case timeout(TimeAmount)

        package var description: String {
            switch self {
            case .closed: "the connection was closed without a response"
            case .timeout(let limit): "no response within \(limit.nanoseconds / 1_000_000_000) s"
            }
        }
    }

    private typealias Wrapped = NIOAsyncChannel<HTTPClientResponsePart, HTTPClientRequestPart>

    private let server: Server
    private let channel: any Channel
    private var parts: NIOAsyncChannelInboundStream<HTTPClientResponsePart>.AsyncIterator
    private let writer: NIOAsyncChannelOutboundWriter<HTTPClientRequestPart>

    /// Opens a connection for the duration of `body`.
    ///
    /// - Throws: What `body` throws, and an `IOError` if nothing listens there.
    package static func open<Result>(
        to server: Server, _ body: (inout LocalConnection) async throws -> Result
    ) async throws -> Result {
        let wrapped = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .connect(to: server.address()) { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHTTPClientHandlers()
                    return try Wrapped(wrappingChannelSynchronously: channel)
                }
            }
        return try await wrapped.executeThenClose { inbound, outbound in
            var connection = LocalConnection(
                server: server, channel: wrapped.channel, parts: inbound.makeAsyncIterator(), writer: outbound)
            return try await body(&connection)
        }
    }

    /// Sends a request, and returns the response head; ``next()`` reads the body.
    ///
    /// `fields` are sent besides `Host` and `Content-Length`; the head must arrive within `patience`, 30 s by default.
    ///
    /// - Returns: The response head.
    /// - Throws: ``Failure``, and NIO's errors for a malformed response.
    package mutating func ask(
        _ method: HTTPMethod = .GET, _ target: String, fields: [(String, String)] = [], body: [UInt8]? = nil,
        patience: TimeAmount = .seconds(30)
    ) async throws -> HTTPResponseHead {
        var head = HTTPRequestHead(version: .http1_1, method: method, uri: target, headers: ["host": server.host])
        head.headers.add(contentsOf: fields)
        if let body { head.headers.add(name: "content-length", value: "\(body.count)") }
        let end = NIODeadline.now() + patience
        let limit = channel.eventLoop.scheduleTask(deadline: end) { [channel] in channel.close(promise: nil) }
        defer { limit.cancel() }
        // In one write: a server may respond and close as soon as it has the head.
        let content = body.map { [HTTPClientRequestPart.body(.byteBuffer(ByteBuffer(bytes: $0)))] } ?? []
        try await writer.write(contentsOf: [.head(head)] + content + [.end(nil)])
        guard case .head(let answer)? = try await parts.next(isolation: #isolation) else {
            if NIODeadline.now() >= end { throw Failure.timeout(patience) }
            throw Failure.closed
        }
        return answer
    }
    /// Reads the next part of the body; `nil` at the end.
    package mutating func next() async throws -> ByteBuffer? {
        switch try await parts.next(isolation: #isolation) {
        case .body(let buffer): return buffer
        case .end: return nil
        case .head, nil: throw Failure.closed
        }
    }

    /// Reads the rest of the body.
    ///
    /// - Throws: `NIOTooManyBytesError` if it exceeds the limit.
    package mutating func rest(upTo limit: Int) async throws -> [UInt8] {
        var bytes: [UInt8] = []
        while let buffer = try await next() {
            guard bytes.count + buffer.readableBytes <= limit else { throw NIOTooManyBytesError(maxBytes: limit) }
            bytes += buffer.readableBytesView
        }
        return bytes
    }
}
