// SPDX-License-Identifier: Apache-2.0
import NIOCore
import NIOHTTP1

/// Counts what comes over a connection, and ends it when it is mostly something else than bodies.
///
/// Interim answers, reason phrases, extensions of chunks, heads, padding and the frames of HTTP/2 have no end that the
/// decoder would insist on, or a late one.
final class WireMeter: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    /// The most bytes besides the body, in an answer without one.
    private static let overhead = 512 << 10
    /// The most bytes besides the body that each of its bytes may bring: chunks of one byte have 5.
    private static let overheadPerByte = 8

    /// How many reads there were, the present one included.
    private(set) var reads = 0
    private(set) var isReading = false
    /// What has come since the meter was last set back.
    private(set) var bytes = 0
    /// How much of it was body.
    var bodyBytes = 0
    private var allowance = WireMeter.overhead

    /// Sets the meter back, for the answer to one request.
    func restart() {
        bytes = 0
        bodyBytes = 0
    }

    /// Lets more come besides bodies: as much as with one more answer, unless it is said how much.
    func extend(by bytes: Int = overhead) {
        allowance += bytes
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        reads += 1
        bytes += unwrapInboundIn(data).readableBytes
        isReading = true
        context.fireChannelRead(data)
        isReading = false
        guard bytes - bodyBytes > allowance + Self.overheadPerByte * bodyBytes else { return }
        context.fireErrorCaught(HTTPParserError.headerOverflow)
        context.close(promise: nil)
    }
}
