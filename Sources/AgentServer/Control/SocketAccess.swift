// SPDX-License-Identifier: Apache-2.0
package import AgentSettings
import Glibc
import SystemPackage

package struct SocketAccess: Equatable, Sendable {
    /// A process's credentials when it connected (SO_PEERCRED, SO_PEERGROUPS).
    struct Peer: Equatable, Sendable {
        var user: UInt32
        /// Whether it is in the group with change access, by its primary or a supplementary group.
        var isMember = false
    }

    struct Group: Equatable, Sendable {
        var name: String
        var id: UInt32
    }

    let owner: UInt32
    let group: Group?
    /// Whether every user may read.
    let isOpenToAll: Bool
    /// A sentence on who has access, and how to get it.
    private let advice: String

    /// - Throws: ``UnknownGroup`` if the configured group does not exist.
    package init(_ settings: Settings) throws(UnknownGroup) {
        var group: Group?
        if let name = settings.control.group {
            guard let id = getgrnam(name)?.pointee.gr_gid else { throw UnknownGroup(name: name) }
            group = Group(name: name, id: id)
        }
        let owner = geteuid()
        let name = getpwuid(owner).map { String(cString: $0.pointee.pw_name) }
        // The socket reveals the contents of the cache, so only users who may read the cache may read the socket.
        let isOpenToAll = settings.control.readers == .everyone && settings.cache.mode == .everybody
        self.init(owner: owner, named: name, group: group, isOpenToAll: isOpenToAll)
    }

    init(owner: UInt32, named name: String? = nil, group: Group? = nil, isOpenToAll: Bool) {
        self.owner = owner
        self.group = group
        self.isOpenToAll = isOpenToAll
        let others = owner == 0 ? "root" : "the agent's user (\(name ?? "\(owner)")), root"
        let advice = owner == 0 ? "run the command with sudo" : "run the command as that user, or with sudo"
        self.advice =
            if let group {
                "Only \(others) and members of group \(group.name) may: \(advice), or join the group and log in again."
            } else if owner == 0 {
                "Only root may: \(advice), or ask an administrator to set control.group to one of your groups."
            } else {
                "Only the agent's user (\(name ?? "\(owner)")) and root may: \(advice), or ask an administrator to set "
                    + "control.group to one of your groups."
            }
    }

    func access(of peer: Peer) -> Access {
        if peer.user == owner || peer.user == 0 || group != nil && peer.isMember { return .change }
        return isOpenToAll ? .read : .none
    }

    func asksForGroup(of user: UInt32) -> Bool { group != nil && user != owner && user != 0 }

    /// The caller for a peer; `nil` stands for unknown credentials, which have no access.
    func caller(_ peer: Peer?) -> Caller {
        Caller(access: peer.map(access) ?? .none, advice: advice)
    }

    func seat(_ peer: Peer?) -> Seats.Seat {
        guard let peer else { return .other(user: .max) }
        return access(of: peer) == .change ? .any : .other(user: peer.user)
    }

    /// The socket's mode: write permission allows connecting.
    var mode: mode_t {
        if isOpenToAll { return 0o666 }
        return group == nil ? 0o600 : 0o660
    }

    /// Sets owner group and mode of the socket, so that those with access can connect.
    func open(_ socket: FilePath) {
        let isGiven = mode != 0o660 || chown(socket.string, uid_t.max, group?.id ?? .max) == 0
        // An agent that is not in the group cannot give the socket to it. Then every user may connect, and only the
        // credentials decide.
        chmod(socket.string, isGiven ? mode : 0o666)
    }

    /// The mode of the socket's folder: search permission allows connecting.
    var folderMode: mode_t { mode == 0o600 ? 0o700 : 0o755 }

    package struct UnknownGroup: Error, Equatable, CustomStringConvertible {
        package var name: String
        package var description: String {
            "control.group: there is no group “\(name)” on this machine: create it with groupadd, or name another one."
        }
    }
}
