// SPDX-License-Identifier: Apache-2.0
import Hummingbird
import NIOCore
import NIOHTTP1
import NIOHTTPTypes

/// Takes a seat for a connection, and closes it if its client is too slow, or does not speak HTTP.
///
/// While seats are scarce, a connection closes after its next response, so that idle ones make room. A timer runs only
/// while a part of a request is missing, while the connection is not writable, and before it is closed. Hummingbird's
/// idle timeout is for connections on which no request begins.
final class ClientHandler: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    private enum Phase {
        case open
        /// The response in progress is the last one.
        case last
        /// Further requests are dropped: “connection: close” has told the client.
        case over
    }

    private let seats: Seats
    private let patience: HTTPServer.Patience
    private let identify: HTTPServer.Identify
    private var seat: Seats.Seat?
    private var phase = Phase.open
    private var isReceiving = false
    /// Whether the client wants the connection to end after the response in progress.
    private var isLast = false
    /// The number of requests whose responses have not ended.
    private var unanswered = 0
    private var requestLimit: Scheduled<Void>?
    private var answerLimit: Scheduled<Void>?

    init(_ seats: Seats, _ patience: HTTPServer.Patience, _ identify: @escaping HTTPServer.Identify) {
        (self.seats, self.patience, self.identify) = (seats, patience, identify)
    }

    func handlerAdded(context: ChannelHandlerContext) {
        // The requests that this handler receives have no version.
        let pipeline = context.pipeline.syncOperations
        guard let decoder = try? pipeline.handler(type: ByteToMessageHandler<HTTPRequestDecoder>.self) else { return }
        try? pipeline.addHandler(KeepAliveHandler(), position: .after(decoder))
    }

    func channelActive(context: ChannelHandlerContext) {
        context.fireChannelActive()
        identify(context.channel).assumeIsolated().whenSuccess { [self] in
            seat = seats.take($0)
            if seat == nil { context.close(promise: nil) }
            if seat == .refusal { closeSoon(context) }
        }
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        requestLimit?.cancel()
        answerLimit?.cancel()
        if let seat { seats.leave(seat) }
    }

    // MARK: Requests

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch (unwrapInboundIn(data), phase) {
        case (_, .over): return
        case (.head, .open) where seat == .refusal: return refuse(.busy, context)
        case (.head(let head), .open):
            isLast = head.headerFields[.connection] == "close"
            isReceiving = true
            unanswered += 1
        case (.head, .last):
            phase = .over
            return
        case (.body, _): break
        case (.end, _):
            isReceiving = false
            requestLimit?.cancel()
            requestLimit = nil
        }
        context.fireChannelRead(data)
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        // Most requests are complete at the first read, and need no timer.
        if isReceiving, requestLimit == nil {
            requestLimit = context.eventLoop.assumeIsolated().scheduleTask(in: patience.request) { [self] in
                // A route that waits for the body gets this error, and responds with it.
                context.fireErrorCaught(APIError.tooSlow)
                closeSoon(context)
            }
        }
        context.fireChannelReadComplete()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        // Everything that arrives after a refusal leads to an error, for which Hummingbird would close the connection
        // at once.
        if seat == .refusal || phase == .over && unanswered == 0 { return }
        guard let error = error as? HTTPParserError, unanswered == 0 else { return context.fireErrorCaught(error) }
        refuse(APIError(error), context)
        closeSoon(context)
    }

    // MARK: Answers

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        switch unwrapOutboundIn(data) {
        case .head(var head)
        where head.status.kind != .informational && unanswered == 1 && (isLast || seats.isCrowded):
            phase = .last
            head.headerFields[.connection] = "close"
            context.write(wrapOutboundOut(.head(head)), promise: promise)
        case .end:
            unanswered -= 1
            if unanswered == 0, isReceiving, phase == .open { closeSoon(context) }
            guard phase != .open else { fallthrough }
            end(context, data, promise).assumeIsolated().whenComplete { [self] _ in closeSoon(context) }
        default: context.write(data, promise: promise)
        }
    }

    /// Writes a refusal as the last response of the connection.
    private func refuse(_ error: APIError, _ context: ChannelHandlerContext) {
        context.write(wrapOutboundOut(.head(error.lastHead)), promise: nil)
        context.write(wrapOutboundOut(.body(ByteBuffer(string: error.document))), promise: nil)
        _ = end(context, wrapOutboundOut(.end(nil)))
    }

    /// Ends the last response; the output ends when the response is written.
    private func end(
        _ context: ChannelHandlerContext, _ data: NIOAny, _ promise: EventLoopPromise<Void>? = nil
    ) -> EventLoopFuture<Void> {
        phase = .over
        context.writeAndFlush(data, promise: promise)
        return context.close(mode: .output)
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        answerLimit?.cancel()
        answerLimit = context.channel.isWritable ? nil : close(context, in: patience.answer)
        context.fireChannelWritabilityChanged()
    }

    /// Closes the connection after a delay: closing at once would destroy a response that the client has not read.
    private func closeSoon(_ context: ChannelHandlerContext) {
        requestLimit?.cancel()
        requestLimit = close(context, in: patience.rest)
    }

    private func close(_ context: ChannelHandlerContext, in time: TimeAmount) -> Scheduled<Void> {
        context.eventLoop.assumeIsolated().scheduleTask(in: time) { context.close(promise: nil) }
    }
}
