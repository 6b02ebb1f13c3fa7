// SPDX-License-Identifier: Apache-2.0
import NIOCore
import NIOHTTP1

/// Lets no answer through whose order async-http-client does not expect.
///
/// It takes any status below 200 but 101 for an interim answer, and traps (1.37.0) when the message ends without another
/// head: one line, `HTTP/1.1 000 x`, would end the process.
final class ResponseGuard: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPClientResponsePart
    typealias InboundOut = HTTPClientResponsePart

    private enum State {
        case idle
        /// A final head has come, and its end has not.
        case inMessage
        case broken
    }

    private var state = State.idle

    /// Puts a guard behind the HTTP decoder of a connection.
    static func add(to channel: any Channel) -> EventLoopFuture<Void> {
        channel.eventLoop.makeCompletedFuture {
            let pipeline = channel.pipeline.syncOperations
            let decoder = try pipeline.handler(type: ByteToMessageHandler<HTTPResponseDecoder>.self)
            try pipeline.addHandler(ResponseGuard(), position: .after(decoder))
        }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch (unwrapInboundIn(data), state) {
        case (_, .broken): return
        case (.head(let head), _) where head.status.code < 100: refuse(context)
        case (.head(let head), _) where head.status.code >= 200 || head.status.code == 101:
            state = .inMessage
            context.fireChannelRead(data)
        case (.head, _): context.fireChannelRead(data)
        case (.body, .idle), (.end, .idle): refuse(context)
        case (.body, _): context.fireChannelRead(data)
        case (.end, _):
            state = .idle
            context.fireChannelRead(data)
        }
    }

    private func refuse(_ context: ChannelHandlerContext) {
        state = .broken
        context.fireErrorCaught(HTTPParserError.invalidStatus)
        context.close(promise: nil)
    }
}
