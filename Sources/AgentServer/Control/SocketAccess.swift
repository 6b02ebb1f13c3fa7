// SPDX-License-Identifier: Apache-2.0
package import AgentSettings
import Glibc
import SyncPlan
import SystemPackage

/// Who may do what at the control socket, by the credentials of the process that connected.
package struct SocketAccess: Equatable, Sendable {
    /// A process as the kernel knew it when it connected (SO_PEERCRED, SO_PEERGROUPS).
    struct Peer: Equatable, Sendable {
        var user: UInt32
        /// Whether it has the group that may change things, as its own or as a supplementary one.
        var isMember = false
    }

    /// The group that may change things.
    struct Group: Equatable, Sendable {
        var name: String
        var id: UInt32
    }

    /// The user that the agent runs as.
    let owner: UInt32
    let group: Group?
    /// Whether everyone on the machine may read.
    let isOpenToAll: Bool
    /// Who may change things, or also read, and how to become one of them.
    private let advice: String

    /// - Throws: ``UnknownGroup`` if there is no group of the name that is configured.
    package init(_ settings: Settings) throws(UnknownGroup) {
        var group: Group?
        if let name = settings.control.group {
            guard let id = getgrnam(name)?.pointee.gr_gid else { throw UnknownGroup(name: name) }
            group = Group(name: name, id: id)
        }
        let owner = geteuid()
        let name = getpwuid(owner).map { String(cString: $0.pointee.pw_name) }
        // What the cache tells, the socket tells too: who may not read the one may not read the other.
        let isOpenToAll = settings.control.readers == .everyone && settings.cache.mode == .everybody
        self.init(owner: owner, named: name, group: group, isOpenToAll: isOpenToAll)
    }

    init(owner: UInt32, named name: String? = nil, group: Group? = nil, isOpenToAll: Bool) {
        self.owner = owner
        self.group = group
        self.isOpenToAll = isOpenToAll
        let others = owner == 0 ? "Root" : "The agent's user (\(name ?? "\(owner)")), root"
        let advice = owner == 0 ? "run the command with sudo" : "run the command as that user, or with sudo"
        self.advice =
            if let group {
                "\(others) and members of the group \(group.name) may: \(advice), or join the group and log in again."
            } else if owner == 0 {
                "Root may: \(advice), or have control.group set to a group of yours."
            } else {
                "The agent's user (\(name ?? "\(owner)")) and root may: \(advice), or have control.group set to a group of "
                    + "yours."
            }
    }

    func access(of peer: Peer) -> Access {
        if peer.user == owner || peer.user == 0 || group != nil && peer.isMember { return .change }
        return isOpenToAll ? .read : .none
    }

    /// Whether the group of a process makes a difference to what it may do.
    func asksForGroup(of user: UInt32) -> Bool { group != nil && user != owner && user != 0 }

    /// A client at the socket; `nil` stands for one that the kernel does not tell of.
    func caller(_ peer: Peer?) -> Caller {
        Caller(access: peer.map(access) ?? .none, howToRead: advice, howToChange: advice)
    }

    /// Whose seats a connection takes.
    func client(_ peer: Peer?) -> Seats.Client {
        guard let peer else { return .other(user: .max) }
        return access(of: peer) == .change ? .any : .other(user: peer.user)
    }

    /// The mode of the socket's file: whoever may write to it may connect.
    var mode: mode_t {
        if isOpenToAll { return 0o666 }
        return group == nil ? 0o600 : 0o660
    }

    /// Lets those connect who may do something.
    func open(_ socket: FilePath) {
        let isGiven = mode != 0o660 || chown(socket.string, uid_t.max, group?.id ?? .max) == 0
        // An agent that is no member of the group cannot give the file to it: then all may connect, and the credentials
        // decide alone.
        chmod(socket.string, isGiven ? mode : 0o666)
    }

    /// The mode of a folder that is made for the socket: whoever may enter it may connect.
    var folderMode: mode_t { mode == 0o600 ? 0o700 : 0o755 }

    /// The group that is configured does not exist.
    package struct UnknownGroup: Error, Equatable, CustomStringConvertible {
        package var name: String
        package var description: String {
            "control.group: there is no group “\(name)” on this machine: create it with groupadd, or name another one."
        }
    }
}
