// SPDX-License-Identifier: Apache-2.0
import Hummingbird
import NIOCore
import NIOHTTP1
import NIOHTTPTypes

/// Ends the connection of a client that is too slow, or that sends something else than requests.
///
/// A time is set only while the rest of a request is missing, or while there is more to be written than the connection
/// takes. That a request does not begin is noticed by Hummingbird.
final class SlowClientHandler: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    /// How long a client may take.
    struct Patience: Sendable {
        /// To send a request; the default is 10 s.
        var request: TimeAmount = .seconds(10)
        /// To read what fills the buffers of its connection; the default is 30 s.
        var answer: TimeAmount = .seconds(30)
        /// To read a refusal, and to send the rest of a request that is answered already; the default is 2 s.
        var rest: TimeAmount = .seconds(2)
    }

    private let patience: Patience
    /// Whether the request that is being received has not come to its end.
    private var isReceiving = false
    /// How many requests have begun whose answers have not ended.
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
        // Most requests are whole by now.
        if isReceiving, requestLimit == nil {
            requestLimit = context.eventLoop.assumeIsolated().scheduleTask(in: patience.request) {
                // Whoever waits for the body answers with this error.
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

    /// Closes the connection when its client had the time to read an answer: what it still sends would destroy that.
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
