// SPDX-License-Identifier: Apache-2.0
import CTLS
import NIOCore

/// Speaks TLS on a connection that was accepted, with libssl between two buffers in memory.
final class TLSServerHandler: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    /// What ended the connection, with libssl's code (`SSL_get_error`).
    struct Failure: Error {
        let code: CInt
    }

    /// Keeps the certificate for as long as there are connections.
    private let context: TLSContext
    private let connection: OpaquePointer
    private let received: OpaquePointer?
    private let toSend: OpaquePointer?
    /// After an error, libssl must not be asked to end the connection in order.
    private var hasFailed = false
    private var chunk = [UInt8](repeating: 0, count: 1 << 14)

    init(_ context: TLSContext) throws {
        self.context = context
        guard let connection = context.connection() else { throw Failure(code: SSL_ERROR_SSL) }
        self.connection = connection
        (received, toSend) = (BIO_new(BIO_s_mem()), BIO_new(BIO_s_mem()))
        SSL_set_bio(connection, received, toSend)
        SSL_set_accept_state(connection)
    }

    deinit { SSL_free(connection) }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        unwrapInboundIn(data).withUnsafeReadableBytes { bytes in
            _ = BIO_write(received, bytes.baseAddress, CInt(bytes.count))
        }
        // It goes on with the handshake, too.
        var code: CInt = 0
        repeat {
            // SSL_get_error looks at the errors of the thread, which may be those of another connection.
            ERR_clear_error()
            let count = SSL_read(connection, &chunk, CInt(chunk.count))
            code = SSL_get_error(connection, count)
            if count > 0 { context.fireChannelRead(wrapInboundOut(ByteBuffer(bytes: chunk[..<Int(count)]))) }
        } while code == SSL_ERROR_NONE
        send(context: context, promise: nil)
        switch code {
        case SSL_ERROR_WANT_READ: break
        case SSL_ERROR_ZERO_RETURN: context.close(promise: nil)
        default:
            hasFailed = true
            context.fireErrorCaught(Failure(code: code))
            context.close(promise: nil)
        }
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        let buffer = unwrapOutboundIn(data)
        ERR_clear_error()
        let count = buffer.withUnsafeReadableBytes { SSL_write(connection, $0.baseAddress, CInt($0.count)) }
        guard count == buffer.readableBytes else {
            promise?.fail(Failure(code: SSL_get_error(connection, count)))
            return
        }
        send(context: context, promise: promise)
    }

    func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
        if mode == .all, !hasFailed, SSL_is_init_finished(connection) == 1 {
            ERR_clear_error()
            SSL_shutdown(connection)
            send(context: context, promise: nil)
        }
        context.close(mode: mode, promise: promise)
    }

    /// Sends what libssl has written.
    private func send(context: ChannelHandlerContext, promise: EventLoopPromise<Void>?) {
        var records = context.channel.allocator.buffer(capacity: 0)
        while case let count = BIO_read(toSend, &chunk, CInt(chunk.count)), count > 0 {
            records.writeBytes(chunk[..<Int(count)])
        }
        guard records.readableBytes > 0 || promise != nil else { return }
        context.writeAndFlush(wrapOutboundOut(records), promise: promise)
    }
}
