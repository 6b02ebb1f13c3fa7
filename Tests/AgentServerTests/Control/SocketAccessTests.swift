// SPDX-License-Identifier: Apache-2.0
import AgentSettings
import Testing

@testable import AgentServer

@Suite("Access to the control socket")
struct SocketAccessTests {
    private static let group = SocketAccess.Group(name: "icons", id: 50)

    @Test(
        "the owner, root and members of the group change things; others read, or do nothing",
        arguments: [
            // The agent's user, the peer's, whether it is a member, whether there is a group, whether all may read.
            (1000, 1000, false, false, false, .change), (1000, 0, false, false, false, .change),
            (0, 0, false, false, false, .change), (1000, 1001, false, false, true, .read),
            (1000, 1001, false, false, false, .none), (1000, 1001, true, true, false, .change),
            (1000, 1001, true, true, true, .change), (1000, 1001, false, true, true, .read),
            (1000, 1001, false, true, false, .none), (1000, 1001, true, false, true, .read),
            (0, 1000, false, false, true, .read),
        ] as [(UInt32, UInt32, Bool, Bool, Bool, Access)])
    func access(owner: UInt32, user: UInt32, isMember: Bool, hasGroup: Bool, isOpen: Bool, expected: Access) {
        let access = SocketAccess(owner: owner, group: hasGroup ? Self.group : nil, isOpenToAll: isOpen)
        #expect(access.access(of: SocketAccess.Peer(user: user, isMember: isMember)) == expected)
        #expect(access.caller(nil).access == .none)
    }

    @Test(
        "the socket's file lets those connect who may do something",
        arguments: [
            (false, true, 0o666, 0o755), (true, true, 0o666, 0o755), (true, false, 0o660, 0o755),
            (false, false, 0o600, 0o700),
        ]
            as [(Bool, Bool, UInt32, UInt32)])
    func modes(hasGroup: Bool, isOpen: Bool, socket: UInt32, folder: UInt32) {
        let access = SocketAccess(owner: 1000, group: hasGroup ? Self.group : nil, isOpenToAll: isOpen)
        #expect(access.mode == socket && access.folderMode == folder)
    }

    @Test("a private cache keeps others from reading what is in it through the socket")
    func privateCache() throws {
        var settings = Settings()
        #expect(try SocketAccess(settings).isOpenToAll)
        settings.cache.mode = .group
        #expect(try !SocketAccess(settings).isOpenToAll)
        settings.cache.mode = .everybody
        settings.control.readers = .group
        #expect(try !SocketAccess(settings).isOpenToAll)
    }

    @Test("an unknown group is an error that names it")
    func unknownGroup() {
        var settings = Settings()
        settings.control.group = "no-such-group"
        #expect(throws: SocketAccess.UnknownGroup(name: "no-such-group")) { try SocketAccess(settings) }
    }

    @Test("a refusal says who may, and what to do")
    func advice() {
        let alone = SocketAccess(owner: 1000, named: "alice", isOpenToAll: true)
        #expect(
            APIError.forbidden(.change, alone.caller(SocketAccess.Peer(user: 1001))).message
                == "You may not change this agent's state. Only the agent's user (alice) and root may: run the command as "
                + "that user, or with sudo, or ask an administrator to set control.group to one of your groups.")
        let grouped = SocketAccess(owner: 0, named: "root", group: Self.group, isOpenToAll: false)
        #expect(
            APIError.forbidden(.read, grouped.caller(SocketAccess.Peer(user: 1001))).message
                == "You may not read this agent's state. Only root and members of group icons may: run the command with "
                + "sudo, or join the group and log in again.")
    }
}
