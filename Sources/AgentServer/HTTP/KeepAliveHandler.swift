// SPDX-License-Identifier: Apache-2.0
import NIOCore
import NIOHTTP1

/// Adds `connection: close` to requests after whose response the connection ends, also without that field: those of
/// HTTP/1.0, whose clients read to the end (RFC 9112, section 9.3).
final class KeepAliveHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard case .head(var head) = unwrapInboundIn(data), !head.isKeepAlive else {
            return context.fireChannelRead(data)
        }
        head.headers.replaceOrAdd(name: "connection", value: "close")
        context.fireChannelRead(wrapInboundOut(.head(head)))
    }
}
