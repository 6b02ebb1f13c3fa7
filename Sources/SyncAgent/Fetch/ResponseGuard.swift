// SPDX-License-Identifier: Apache-2.0
import NIOCore
import NIOHTTP1

/// A kept-alive connection ended before the first byte of an answer: nothing is known of the request, which may go out
/// again over another one.
struct StaleConnection: Error {}

/// Lets no answer through whose order async-http-client does not expect, and tells whose errors are whose.
///
/// async-http-client (1.37.0)
/// - takes any status below 200 but 101 for an interim answer, and traps when the message ends without another head: one
///   line, `HTTP/1.1 000 x`, would end the process;
/// - reads chunks whatever other coding `Transfer-Encoding` names;
/// - sends the next request while the decoder still is in the middle of what it has read: for what follows an answer,
///   the download of another URL would fail;
/// - does not tell a connection that was kept alive too long from one that broke.
final class ResponseGuard: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPClientResponsePart
    typealias InboundOut = HTTPClientResponsePart
    typealias OutboundIn = HTTPClientRequestPart
    typealias OutboundOut = HTTPClientRequestPart

    private enum State {
        case idle
        /// A request has gone out, and no final head has come.
        case waiting
        /// A final head has come, and its end has not.
        case inMessage
        case broken
    }

    private let meter: WireMeter
    private var state = State.idle
    /// How many requests were answered to the end.
    private var answered = 0
    /// The read in which the request was sent, if it was sent in the middle of one: what else is in it is no answer, and
    /// an error for the decoder.
    private var readBefore: Int?

    private init(meter: WireMeter) {
        self.meter = meter
    }

    /// Puts a guard behind the HTTP decoder of a connection, and its meter before it.
    static func add(to channel: any Channel) -> EventLoopFuture<Void> {
        channel.eventLoop.makeCompletedFuture {
            let pipeline = channel.pipeline.syncOperations
            let decoder = try pipeline.handler(type: ByteToMessageHandler<HTTPResponseDecoder>.self)
            let meter = WireMeter()
            try pipeline.addHandler(meter, position: .before(decoder))
            try pipeline.addHandler(ResponseGuard(meter: meter), position: .after(decoder))
        }
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        if case .head = unwrapOutboundIn(data), case .idle = state {
            state = .waiting
            readBefore = meter.isReading ? meter.reads : nil
            meter.restart()
        }
        context.write(data, promise: promise)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch (unwrapInboundIn(data), state) {
        case (_, .broken): return
        case (.head(let head), .waiting) where head.status.code >= 200 || head.status.code == 101:
            guard Self.isPlain(head.headers) else { return refuse(context, HTTPParserError.unknown) }
            state = .inMessage
            context.fireChannelRead(data)
        case (.head(let head), .waiting) where head.status.code >= 100: context.fireChannelRead(data)
        case (.body(let bytes), .inMessage):
            meter.bodyBytes += bytes.readableBytes
            context.fireChannelRead(data)
        case (.end, .inMessage):
            state = .idle
            answered += 1
            context.fireChannelRead(data)
        default: refuse(context, HTTPParserError.invalidStatus)
        }
    }

    /// Whether the body comes as it is, or in chunks and nothing else (RFC 9112, section 6.1): none was asked for.
    private static func isPlain(_ headers: HTTPHeaders) -> Bool {
        let codings = headers["Transfer-Encoding"]
        return codings.isEmpty || codings.count == 1 && codings[0].lowercased() == "chunked"
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.fireErrorCaught(isStale ? StaleConnection() : error)
    }

    func channelInactive(context: ChannelHandlerContext) {
        if case .waiting = state {
            context.fireErrorCaught(isStale ? StaleConnection() : HTTPParserError.closedConnection)
        }
        context.fireChannelInactive()
    }

    /// Whether the request went out over a connection that had answered before, and nothing has come since.
    private var isStale: Bool {
        guard case .waiting = state else { return false }
        return answered > 0 && (meter.bytes == 0 || readBefore == meter.reads)
    }

    private func refuse(_ context: ChannelHandlerContext, _ error: any Error) {
        state = .broken
        context.fireErrorCaught(error)
        context.close(promise: nil)
    }
}
