// SPDX-License-Identifier: Apache-2.0
import NIOCore
import NIOHPACK
import NIOHTTP1
import NIOHTTP2
import SyncPlan

/// The server has not begun with a request, which may go out again at once (RFC 9113, section 8.7).
struct UnprocessedRequest: Error {}

/// Lets no answer through whose order async-http-client does not expect, and tells whose errors are whose.
///
/// The codec (swift-nio-http2 1.46.0) takes any number for a status, and any that begins with 1 for that of an interim
/// answer; it traps on an empty one, and reads on when the stream has ended with an interim answer. On what it makes of
/// them, async-http-client (1.37.0) traps as it does for HTTP/1.
final class StreamGuard: ChannelInboundHandler {
    typealias InboundIn = HTTP2Frame.FramePayload
    typealias InboundOut = HTTP2Frame.FramePayload

    private enum State {
        /// No final head has come.
        case waiting
        /// A final head has come, and its end has not.
        case inMessage
        case over
    }

    /// The most interim answers before the final one.
    private static let interimLimit = 32

    private let connection: ConnectionGuard
    /// How many reads of the connection there were before the request was sent.
    private let readsBefore: Int
    private var state = State.waiting
    private var interimCount = 0
    /// Whether the server has ended the stream before its time.
    private var isReset = false

    private init(connection: ConnectionGuard) {
        self.connection = connection
        readsBefore = connection.reads
    }

    /// Puts a guard before the codec of a stream.
    ///
    /// - Returns: A future that does not fail as long as the connection is open and has its own guard: async-http-client
    ///   would trap.
    static func add(to channel: any Channel) -> EventLoopFuture<Void> {
        channel.eventLoop.makeCompletedFuture {
            guard let parent = channel.parent else { throw ChannelError.operationUnsupported }
            let connection = try parent.pipeline.syncOperations.handler(type: ConnectionGuard.self)
            connection.beginStream()
            try channel.pipeline.syncOperations.addHandler(StreamGuard(connection: connection), position: .first)
        }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch (unwrapInboundIn(data), state) {
        case (_, .over): return
        case (.headers(let block), .waiting):
            guard let status = Self.status(in: block.headers), status != 101 else {
                return refuse(context, "a status that there is not")
            }
            if status >= 200 {
                state = block.endStream ? .over : .inMessage
            } else {
                interimCount += 1
                guard !block.endStream, interimCount <= Self.interimLimit else {
                    return refuse(context, "interim answers without a final one")
                }
            }
        case (.headers(let block), .inMessage):
            guard block.endStream else { return refuse(context, "a head after the head") }
            state = .over
        case (.data, .waiting): return refuse(context, "a body before the head")
        case (.data(let part), .inMessage):
            if part.endStream { state = .over }
        case (.rstStream, _): isReset = true
        default: break
        }
        if case .over = state { connection.hasAnswered = true }
        context.fireChannelRead(data)
    }

    /// The status of a head, if it is one that the server may send (RFC 9110, section 15): three digits, 100 or above.
    private static func status(in headers: HPACKHeaders) -> Int? {
        let values = headers[":status"]
        guard values.count == 1, let status = Int(values[0]), "\(status)" == values[0] else { return nil }
        return (100...999).contains(status) ? status : nil
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        guard let end = error as? NIOHTTP2Errors.StreamClosed else { return context.fireErrorCaught(error) }
        if end.streamID > connection.lastStream || isReset && end.errorCode == .refusedStream {
            context.fireErrorCaught(UnprocessedRequest())
        } else if isReset && end.errorCode == .http11Required {
            context.fireErrorCaught(HTTP1Required())
        } else if isReset {
            context.fireErrorCaught(HTTPParserError.closedConnection)
        } else {
            context.fireErrorCaught(FetchFailure.protocolViolation("\(end.errorCode)"))
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        switch state {
        case .waiting where connection.failure == nil && connection.hasAnswered && connection.reads == readsBefore:
            // The connection was kept too long: nothing is known of the request, as with HTTP/1.
            context.fireErrorCaught(UnprocessedRequest())
        case .waiting, .inMessage:
            context.fireErrorCaught(connection.failure ?? HTTPParserError.closedConnection)
        case .over: break
        }
        context.fireChannelInactive()
    }

    private func refuse(_ context: ChannelHandlerContext, _ reason: String) {
        state = .over
        context.fireErrorCaught(FetchFailure.protocolViolation(reason))
        context.close(promise: nil)
    }
}
