// SPDX-License-Identifier: Apache-2.0
import Hummingbird
import NIOCore
import NIOHTTP1
import NIOHTTPTypes

/// Closes the connection of a client that is too slow, or that does not speak HTTP.
///
/// A timer runs only while the rest of a request is missing, or while the connection is not writable. Hummingbird's
/// idle timeout covers requests that do not begin.
final class SlowClientHandler: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    struct Patience: Sendable {
        /// For sending a request; 10 s by default.
        var request: TimeAmount = .seconds(10)
        /// For reading what fills the connection's buffers; 30 s by default.
        var answer: TimeAmount = .seconds(30)
        /// For reading a refusal, and for sending the rest of a request that was answered early; 2 s by default.
        var rest: TimeAmount = .seconds(2)
    }

    private let patience: Patience
    private var isReceiving = false
    /// Requests begun whose responses have not ended.
    private var unanswered = 0
    private var isRefused = false
    private var requestLimit: Scheduled<Void>?
    private var answerLimit: Scheduled<Void>?

    init(_ patience: Patience = Patience()) {
        self.patience = patience
    }

    // MARK: Requests

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head:
            isReceiving = true
            unanswered += 1
        case .body: break
        case .end:
            isReceiving = false
            requestLimit?.cancel()
            requestLimit = nil
        }
        context.fireChannelRead(data)
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        // Most requests are complete at the first read, and need no timer.
        if isReceiving, requestLimit == nil {
            requestLimit = context.eventLoop.assumeIsolated().scheduleTask(in: patience.request) {
                // A route that waits for the body responds with this error.
                context.fireErrorCaught(APIError.tooSlow)
                self.closeSoon(context)
            }
        }
        context.fireChannelReadComplete()
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        context.write(data, promise: promise)
        guard case .end = unwrapOutboundIn(data) else { return }
        unanswered -= 1
        if unanswered == 0, isReceiving { closeSoon(context) }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        if isRefused { return }
        guard let error = error as? HTTPParserError, unanswered == 0 else { return context.fireErrorCaught(error) }
        isRefused = true
        refuse(APIError(error), context)
        closeSoon(context)
    }

    /// Closes the connection after a delay: closing at once would destroy a response that the client has not read.
    private func closeSoon(_ context: ChannelHandlerContext) {
        requestLimit?.cancel()
        requestLimit = context.eventLoop.assumeIsolated().scheduleTask(in: patience.rest) {
            context.close(promise: nil)
        }
    }

    // MARK: Answers

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        answerLimit?.cancel()
        answerLimit = nil
        if !context.channel.isWritable {
            answerLimit = context.eventLoop.assumeIsolated().scheduleTask(in: patience.answer) {
                context.close(promise: nil)
            }
        }
        context.fireChannelWritabilityChanged()
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        requestLimit?.cancel()
        answerLimit?.cancel()
    }
}

@available(*, unavailable)
extension SlowClientHandler: Sendable {}
