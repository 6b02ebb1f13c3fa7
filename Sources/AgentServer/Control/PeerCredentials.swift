// SPDX-License-Identifier: Apache-2.0
import Glibc
import NIOCore

/// What the kernel tells of the process at the other end of a Unix socket, as it was when it connected.
enum PeerCredentials {
    /// `struct ucred` (unix(7)).
    private struct Credentials: Sendable {
        var process: Int32 = 0
        var user: UInt32 = 0
        var group: UInt32 = 0
    }

    /// The supplementary groups; those beyond the last one stay 0.
    private typealias Groups = InlineArray<1024, UInt32>

    private static let peerGroups: Int32 = 59

    /// Asks for the peer of a connection.
    ///
    /// - Parameters:
    ///   - channel: The connection.
    ///   - access: What makes a difference.
    /// - Returns: `nil` if the kernel does not tell.
    static func peer(of channel: any Channel, for access: SocketAccess) -> EventLoopFuture<SocketAccess.Peer?> {
        let credentials: EventLoopFuture<Credentials> = option(SO_PEERCRED, of: channel)
        return credentials.flatMap { peer in
            let alone = SocketAccess.Peer(user: peer.user)
            guard access.asksForGroup(of: peer.user), let wanted = access.group?.id else {
                return channel.eventLoop.makeSucceededFuture(alone)
            }
            if peer.group == wanted {
                return channel.eventLoop.makeSucceededFuture(SocketAccess.Peer(user: peer.user, isMember: true))
            }
            // Who has more groups than fit is no member: the kernel then tells none of them. Nor is one by a
            // supplementary group 0, which what is not filled in looks like.
            guard wanted != 0 else { return channel.eventLoop.makeSucceededFuture(alone) }
            let groups: EventLoopFuture<Groups> = option(peerGroups, of: channel)
            return groups.map { groups in
                SocketAccess.Peer(user: peer.user, isMember: groups.indices.contains { groups[$0] == wanted })
            }.recover { _ in alone }
        }.map(Optional.some).recover { _ in nil }
    }

    /// Reads an option of a socket: at once, on the connection's event loop.
    private static func option<Value: Sendable>(_ name: Int32, of channel: any Channel) -> EventLoopFuture<Value> {
        guard let options = channel as? any SocketOptionProvider else {
            return channel.eventLoop.makeFailedFuture(ChannelError.operationUnsupported)
        }
        return options.unsafeGetSocketOption(
            level: NIOBSDSocket.OptionLevel(rawValue: SOL_SOCKET), name: NIOBSDSocket.Option(rawValue: name))
    }
}
