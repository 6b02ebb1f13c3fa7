// SPDX-License-Identifier: Apache-2.0
package import Logging
import NIOCore
import NIOHTTP1
import NIOPosix
package import SyncAgent
package import SyncPlan
import Synchronization
import SystemPackage

/// Answers Prometheus at `metrics.listen`: `GET` and `HEAD` of `/metrics`, and nothing else.
///
/// Each connection has one answer and ends within 10 s, whatever its client does. No more than ``clients`` are open at once;
/// others are closed.
package struct MetricsListener: Sendable {
    /// The most connections at once.
    static let clients = 8

    private let agent: RunningAgent
    private let time: TimeAmount
    private let connections = ConnectionCount()

    /// - Parameters:
    ///   - agent: What is asked.
    ///   - time: How long a connection may last. The default is 10 s.
    init(_ agent: RunningAgent, time: TimeAmount = .seconds(10)) {
        (self.agent, self.time) = (agent, time)
    }

    /// Answers until the task is cancelled.
    ///
    /// An address that cannot be used is logged; the agent goes on without.
    ///
    /// - Parameters:
    ///   - address: Where it listens; `nil` for nowhere.
    ///   - agent: What is asked.
    ///   - logger: Where it says where it listens.
    package static func run(at address: ListenAddress?, agent: RunningAgent, logger: Logger) async {
        guard let address else { return }
        do {
            let channel = try await MetricsListener(agent).listen(at: address)
            let port = channel.localAddress?.port ?? address.port
            logger.info("metrics listener started", metadata: ["address": "\(address.host)", "port": "\(port)"])
            try await withTaskCancellationHandler {
                try await channel.closeFuture.get()
            } onCancel: {
                channel.close(promise: nil)
            }
        } catch {
            let reason = (error as? IOError).map { "\(Errno(rawValue: $0.errnoCode))" } ?? "\(error)"
            logger.error(
                "cannot listen for metrics: no metrics over HTTP until the next start",
                metadata: ["address": "\(address)", "reason": "\(reason)"])
        }
    }

    /// Opens the listening socket.
    ///
    /// - Throws: An `IOError` if the address cannot be used.
    func listen(at address: ListenAddress) async throws -> any Channel {
        try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(.backlog, value: 16)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelInitializer { [agent, connections, time] channel in
                channel.eventLoop.makeCompletedFuture {
                    guard connections.open() else {
                        channel.close(promise: nil)
                        return
                    }
                    channel.closeFuture.whenComplete { _ in connections.close() }
                    let end = channel.eventLoop.scheduleTask(in: time) { channel.close(promise: nil) }
                    channel.closeFuture.whenComplete { _ in end.cancel() }
                    try channel.pipeline.syncOperations.configureHTTPServerPipeline(
                        withPipeliningAssistance: false, withErrorHandling: true)
                    try channel.pipeline.syncOperations.addHandler(MetricsHandler(agent))
                }
            }
            .bind(host: address.host, port: address.port).get()
    }
}

/// How many connections are open.
private final class ConnectionCount: Sendable {
    private let count = Mutex(0)

    /// Counts one more; `false` if there are too many already.
    func open() -> Bool {
        count.withLock { count in
            guard count < MetricsListener.clients else { return false }
            count += 1
            return true
        }
    }

    func close() { count.withLock { $0 -= 1 } }
}

/// Answers the first request of a connection, and closes it.
private final class MetricsHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart

    private let agent: RunningAgent
    private var isAnswered = false

    init(_ agent: RunningAgent) {
        self.agent = agent
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard case .head(let head) = unwrapInboundIn(data), !isAnswered else { return }
        isAnswered = true
        let isHead = head.method == .HEAD
        if let refusal = MetricsRequest.refusal(of: head) {
            return Self.answer(context.channel, refusal, "\(refusal.reasonPhrase)\n", isHead: isHead)
        }
        Self.answer(context.channel, with: agent, isHead: isHead)
    }

    private static func answer(_ channel: any Channel, with agent: RunningAgent, isHead: Bool) {
        channel.eventLoop.makeFutureWithTask { await agent.metricsText() }.whenComplete { result in
            if case .success(let text?) = result {
                answer(channel, .ok, text, isHead: isHead)
            } else {
                answer(channel, .serviceUnavailable, "The agent is about to end.\n", isHead: isHead)
            }
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }

    private static func answer(_ channel: any Channel, _ status: HTTPResponseStatus, _ text: String, isHead: Bool) {
        let type = status == .ok ? MetricsText.mediaType : "text/plain; charset=utf-8"
        var headers: HTTPHeaders = [
            "content-type": type, "content-length": "\(text.utf8.count)", "connection": "close",
            "x-content-type-options": "nosniff", "cache-control": "no-store",
        ]
        if status == .methodNotAllowed { headers.add(name: "allow", value: "GET, HEAD") }
        let head = HTTPResponseHead(version: .http1_1, status: status, headers: headers)
        channel.write(HTTPServerResponsePart.head(head), promise: nil)
        if !isHead {
            channel.write(HTTPServerResponsePart.body(.byteBuffer(ByteBuffer(string: text))), promise: nil)
        }
        let written = channel.eventLoop.makePromise(of: Void.self)
        written.futureResult.whenComplete { _ in channel.close(promise: nil) }
        channel.writeAndFlush(HTTPServerResponsePart.end(nil), promise: written)
    }
}
