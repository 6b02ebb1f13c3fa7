// SPDX-License-Identifier: Apache-2.0
import Hummingbird
import NIOCore
import NIOHTTPTypes

/// Takes a seat for each accepted connection; answers 503 if there is none.
///
/// While seats are scarce, a connection closes after its next response, so that idle ones make room.
final class SeatHandler: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    /// Identifies the client of a connection; it completes synchronously on the event loop.
    typealias Identify = @Sendable (any Channel) -> EventLoopFuture<Seats.Client>

    private let seats: Seats
    private let identify: Identify
    /// The time for a refused client to send a request and read the refusal, or to close after the last response.
    private let patience: TimeAmount
    private var taken: (place: Seats.Place, client: Seats.Client)?
    private var isTold = false
    private var isLast = false
    private var isOver = false
    /// Requests begun whose responses have not ended.
    private var unanswered = 0
    private var limit: Scheduled<Void>?

    init(_ seats: Seats, patience: TimeAmount, _ identify: @escaping Identify) {
        (self.seats, self.patience, self.identify) = (seats, patience, identify)
    }

    private var isRefused: Bool { taken.map { $0.place != .seat } ?? false }

    // MARK: Seats

    func handlerAdded(context: ChannelHandlerContext) {
        if context.channel.isActive { sit(context) }
    }

    func channelActive(context: ChannelHandlerContext) {
        context.fireChannelActive()
        sit(context)
    }

    private func sit(_ context: ChannelHandlerContext) {
        guard taken == nil else { return }
        identify(context.channel).assumeIsolated().whenSuccess { [self] client in
            let place = seats.take(for: client)
            taken = (place, client)
            switch place {
            case .seat: break
            case .refusal: closeSoon(context)
            case .none: context.close(promise: nil)
            }
        }
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        limit?.cancel()
        if let taken { seats.leave(taken.place, of: taken.client) }
        taken = nil
    }

    private func closeSoon(_ context: ChannelHandlerContext) {
        limit?.cancel()
        limit = context.eventLoop.assumeIsolated().scheduleTask(in: patience) { context.close(promise: nil) }
    }

    // MARK: Requests

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard isRefused else {
            if case .head = unwrapInboundIn(data) {
                unanswered += 1
                // A request after the one with the last response is dropped: “connection: close” tells the client.
                if isLast { isOver = true }
            }
            return isOver ? () : context.fireChannelRead(data)
        }
        guard case .head = unwrapInboundIn(data), !isTold else { return }
        isTold = true
        refuse(.busy, context)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        if !isRefused { context.fireErrorCaught(error) }
    }

    // MARK: Answers

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        switch unwrapOutboundIn(data) {
        case .head(var head) where head.status.kind != .informational && unanswered == 1 && seats.isCrowded:
            isLast = true
            head.headerFields[.connection] = "close"
            context.write(wrapOutboundOut(.head(head)), promise: promise)
        case .end where isLast:
            let written = promise ?? context.eventLoop.makePromise(of: Void.self)
            written.futureResult.assumeIsolated().whenComplete { [self] _ in
                context.close(mode: .output, promise: nil)
                closeSoon(context)
            }
            context.writeAndFlush(data, promise: written)
        case .end:
            unanswered -= 1
            context.write(data, promise: promise)
        default: context.write(data, promise: promise)
        }
    }
}

@available(*, unavailable)
extension SeatHandler: Sendable {}

extension ChannelOutboundHandler where OutboundOut == HTTPResponsePart {
    /// Writes a refusal as the last response of the connection.
    func refuse(_ error: APIError, _ context: ChannelHandlerContext) {
        var head = error.head
        head.headerFields[.connection] = "close"
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        context.write(wrapOutboundOut(.body(ByteBuffer(string: error.document))), promise: nil)
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
        context.close(mode: .output, promise: nil)
    }
}
