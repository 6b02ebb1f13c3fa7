// SPDX-License-Identifier: Apache-2.0
import Glibc
import NIOCore

/// The credentials of the process at the other end of a Unix socket, as they were when it connected.
enum PeerCredentials {
    /// `struct ucred` (unix(7)).
    private struct Credentials: Sendable {
        var process: Int32 = 0
        var user: UInt32 = 0
        var group: UInt32 = 0
    }

    /// Supplementary groups; unused elements stay 0.
    private typealias Groups = InlineArray<1024, UInt32>

    private static let peerGroups: Int32 = 59

    /// Reads the peer's user, and its group membership if that matters for `access`; `nil` if the kernel gives none.
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
            // The kernel returns no groups if there are more than fit: such a process counts as no member. Membership
            // of group 0 by a supplementary group is not recognised, because unused elements are 0 too.
            guard wanted != 0 else { return channel.eventLoop.makeSucceededFuture(alone) }
            let groups: EventLoopFuture<Groups> = option(peerGroups, of: channel)
            return groups.map { groups in
                SocketAccess.Peer(user: peer.user, isMember: groups.indices.contains { groups[$0] == wanted })
            }.recover { _ in alone }
        }.map(Optional.some).recover { _ in nil }
    }

    /// Reads a socket option, synchronously on the connection's event loop.
    private static func option<Value: Sendable>(_ name: Int32, of channel: any Channel) -> EventLoopFuture<Value> {
        guard let options = channel as? any SocketOptionProvider else {
            return channel.eventLoop.makeFailedFuture(ChannelError.operationUnsupported)
        }
        return options.unsafeGetSocketOption(
            level: NIOBSDSocket.OptionLevel(rawValue: SOL_SOCKET), name: NIOBSDSocket.Option(rawValue: name))
    }
}
