// SPDX-License-Identifier: Apache-2.0
package import NIOCore
package import NIOHTTP1
import NIOPosix

/// A connection to a server of this machine, for one request after the other (HTTP/1.1).
package struct LocalConnection {
    /// Who is asked.
    package enum Server: Sendable {
        /// What listens at a Unix socket.
        case socket(String)
        /// What listens at a port of 127.0.0.1.
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

    /// Why there is no response, or not all of it.
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

    /// Opens a connection for as long as the body runs.
    ///
    /// - Throws: What the body throws, and an `IOError` if nobody listens there.
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

    /// Sends a request.
    ///
    /// - Parameters:
    ///   - method: The method.
    ///   - target: The path, and the query.
    ///   - fields: What the head has besides the host and the length.
    ///   - body: What is sent; `nil` for a request without a body.
    ///   - patience: How long the head of the answer may take. The default is 30 s.
    /// - Returns: The head of the answer; ``next()`` reads its body.
    /// - Throws: ``Failure``, and what NIO says of an answer that is none.
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
        // In one write: a server may answer as soon as it has the head, and close the connection.
        let content = body.map { [HTTPClientRequestPart.body(.byteBuffer(ByteBuffer(bytes: $0)))] } ?? []
        try await writer.write(contentsOf: [.head(head)] + content + [.end(nil)])
        guard case .head(let answer)? = try await parts.next(isolation: #isolation) else {
            if NIODeadline.now() >= end { throw Failure.timeout(patience) }
            throw Failure.closed
        }
        return answer
    }
    /// Reads on in the body of the answer.
    ///
    /// - Returns: What came; `nil` at the end.
    package mutating func next() async throws -> ByteBuffer? {
        switch try await parts.next(isolation: #isolation) {
        case .body(let buffer): return buffer
        case .end: return nil
        case .head, nil: throw Failure.closed
        }
    }

    /// Reads the rest of the body.
    ///
    /// - Throws: `NIOTooManyBytesError` if it has more bytes than the limit.
    package mutating func rest(upTo limit: Int) async throws -> [UInt8] {
        var bytes: [UInt8] = []
        while let buffer = try await next() {
            guard bytes.count + buffer.readableBytes <= limit else { throw NIOTooManyBytesError(maxBytes: limit) }
            bytes += buffer.readableBytesView
        }
        return bytes
    }
}
