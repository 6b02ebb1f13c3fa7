// SPDX-License-Identifier: Apache-2.0
import NIOCore
import NIOHTTP1
import NIOHTTP2
import NIOSSL
import SyncPlan

/// Ends an HTTP/2 connection that is of no use any more, and knows what its streams have to know of it.
///
/// async-http-client (1.37.0)
/// - goes on with a connection that the codec has given up, until every request over it has timed out;
/// - goes on with one that has fallen silent, for as long as the kernel does;
/// - keeps one without requests that the server wants to end (GOAWAY), and waits for its end when the client shuts down;
/// - counts the end of a pushed stream (PUSH_PROMISE) as that of a request, and traps when there are more ends than
///   requests.
final class ConnectionGuard: ChannelDuplexHandler {
    typealias InboundIn = HTTP2Frame
    typealias InboundOut = HTTP2Frame
    typealias OutboundIn = HTTP2Frame
    typealias OutboundOut = HTTP2Frame

    /// How much of an answer async-http-client lets a server send ahead.
    private static let window = 8 << 20

    private let meter: WireMeter
    private let farewell: Farewell
    private let silence: TimeAmount
    private var lastRead: NIODeadline
    /// The streams with a request that has been sent, and whose end has not come.
    private var openStreams: Set<HTTP2StreamID> = []

    /// The last stream that the server answers; what was sent on others it has not looked at.
    private(set) var lastStream = HTTP2StreamID.maxID
    /// Why the connection was given up, if it is not known which stream is to blame.
    private(set) var failure: FetchFailure?
    /// Whether any request was answered over it.
    var hasAnswered = false
    /// How many reads there were.
    var reads: Int { meter.reads }

    private init(meter: WireMeter, farewell: Farewell, silence: TimeAmount, now: NIODeadline) {
        self.meter = meter
        self.farewell = farewell
        self.silence = silence
        lastRead = now
    }

    /// Puts a guard behind the HTTP/2 codec of a connection, and what it has to see of the bytes before it.
    ///
    /// - Parameters:
    ///   - channel: The connection.
    ///   - silence: How long a server may be silent.
    /// - Returns: A future that is complete: frames that come before its end would find async-http-client unprepared.
    static func add(to channel: any Channel, silence: TimeAmount) -> EventLoopFuture<Void> {
        channel.eventLoop.makeCompletedFuture {
            let pipeline = channel.pipeline.syncOperations
            let codec = try pipeline.handler(type: NIOHTTP2Handler.self)
            let meter = WireMeter()
            let farewell = Farewell()
            let guardian = ConnectionGuard(
                meter: meter, farewell: farewell, silence: silence, now: channel.eventLoop.now)
            try pipeline.addHandlers([meter, farewell], position: .before(codec))
            try pipeline.addHandler(guardian, position: .after(codec))
        }
    }

    /// Takes note of one more request.
    func beginStream() {
        meter.extend()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let frame = unwrapInboundIn(data)
        lastRead = context.eventLoop.now
        switch frame.payload {
        case .pushPromise:
            giveUp(context, "it pushes what was not asked for")
        case .goAway(let last, _, _):
            lastStream = min(lastStream, last)
            context.fireChannelRead(data)
            if openStreams.isEmpty { context.close(promise: nil) }
        case .data(let part):
            meter.bodyBytes += part.data.readableBytes
            context.fireChannelRead(data)
        default:
            context.fireChannelRead(data)
        }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event {
        case let event as NIOHTTP2StreamCreatedEvent:
            guard Int(event.streamID) % 2 == 1 else { return giveUp(context, "it begins a stream of its own") }
            openStreams.insert(event.streamID)
        case let event as StreamClosedEvent:
            // A stream that was promised in a wrong way has an end, and no beginning.
            guard openStreams.remove(event.streamID) != nil else { return }
        default: break
        }
        context.fireUserInboundEventTriggered(event)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        if farewell.isSaid || error is HTTPParserError { giveUp(context, "\(error)") }
        context.fireErrorCaught(error)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        context.write(data, promise: promise)
        guard case .rstStream = unwrapOutboundIn(data).payload else { return }
        // What is under way of the answer is for nobody.
        meter.extend(by: Self.window)
        // A stream that is given up after a long silence has waited in vain, and the next ones would as well.
        if context.eventLoop.now - lastRead >= silence {
            context.eventLoop.assumeIsolated().execute { Self.breakOff(context) }
        }
    }

    private func giveUp(_ context: ChannelHandlerContext, _ reason: String) {
        // The request that is to blame may be another one: for each of them it may be over in a second.
        failure = .protocolViolation(reason, .passing)
        Self.breakOff(context)
    }

    /// Closes the connection without the farewell of TLS, for which the server would be waited for.
    private static func breakOff(_ context: ChannelHandlerContext) {
        let tls = try? context.pipeline.syncOperations.context(handlerType: NIOSSLClientHandler.self)
        (tls ?? context).close(promise: nil)
    }
}

/// Sees whether the codec has said that it goes away (GOAWAY): it does so for errors that are those of the connection.
private final class Farewell: ChannelOutboundHandler {
    typealias OutboundIn = IOData
    typealias OutboundOut = IOData

    private(set) var isSaid = false

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        // Each frame begins a buffer of its own; its type is in the fourth byte (RFC 9113, section 4.1).
        if case .byteBuffer(let frame) = unwrapOutboundIn(data),
            frame.getInteger(at: frame.readerIndex + 3, as: UInt8.self) == 7
        {
            isSaid = true
        }
        context.write(data, promise: promise)
    }
}
