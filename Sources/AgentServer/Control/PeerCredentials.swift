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
    static func peer(of channel: any Channel, for access: SocketAccess) async -> SocketAccess.Peer? {
        guard let options = channel as? any SocketOptionProvider,
            let peer: Credentials = try? await options.unsafeGetSocketOption(
                level: NIOBSDSocket.OptionLevel(rawValue: SOL_SOCKET), name: NIOBSDSocket.Option(rawValue: SO_PEERCRED)
            ).get()
        else { return nil }
        guard access.asksForGroup(of: peer.user), let wanted = access.group?.id else {
            return SocketAccess.Peer(user: peer.user)
        }
        if peer.group == wanted { return SocketAccess.Peer(user: peer.user, isMember: true) }
        // Who has more groups than fit is no member: the kernel then tells none of them. Nor is one by a supplementary
        // group 0, which what is not filled in looks like.
        guard wanted != 0,
            let groups: Groups = try? await options.unsafeGetSocketOption(
                level: NIOBSDSocket.OptionLevel(rawValue: SOL_SOCKET), name: NIOBSDSocket.Option(rawValue: peerGroups)
            ).get()
        else { return SocketAccess.Peer(user: peer.user) }
        return SocketAccess.Peer(user: peer.user, isMember: groups.indices.contains { groups[$0] == wanted })
    }
}
