// SPDX-License-Identifier: Apache-2.0
import NIOCore

/// Closes the connection of a client that does not read what it asked for.
///
/// A time is set only while there is more to be written than the connection takes.
final class SlowReaderHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = NIOAny
    typealias InboundOut = NIOAny

    /// How long a client may read nothing.
    private let patience: TimeAmount
    private var end: Scheduled<Void>?

    init(patience: TimeAmount = .seconds(30)) {
        self.patience = patience
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        end?.cancel()
        end = nil
        if !context.channel.isWritable {
            end = context.eventLoop.scheduleTask(in: patience) { [channel = context.channel] in
                channel.close(promise: nil)
            }
        }
        context.fireChannelWritabilityChanged()
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        end?.cancel()
        end = nil
    }
}

@available(*, unavailable)
extension SlowReaderHandler: Sendable {}
