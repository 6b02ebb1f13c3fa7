// SPDX-License-Identifier: Apache-2.0
import Reports
import SyncPlan
import SystemPackage
import TestSupport
import Testing

@testable import SyncAgentCLI

@Suite("Known failures", .timeLimit(.minutes(15)), .serialized)
struct MuteTests {
    @Test("a muted URL no longer makes status exit 1, also over a restart, until it is unmuted; --quiet is silent then")
    func mute() async throws {
        try await World.with { world in
            let gone = world.origin.baseURL + "/gone.png"
            world.origin.respond(to: "/gone.png", with: OriginReply(status: 404))
            try world.agent.drop(propertyList([("Gone", gone)]), as: "apps.plist")
            #expect(try await world.agent.call("mute", gone).code == 69)
            try await world.agent.whileRunning { _ in
                try await world.agent.status { $0.inSync && $0.icons.failed == 1 }
                let loud = try await world.agent.call("status", "--quiet")
                #expect(loud.code == 1 && loud.output.hasPrefix("http-404: 1 icon failed"), "\(loud.output)")
                let muted = try await world.agent.call("mute", gone, "--for", "30d")
                #expect(muted.code == 0 && muted.output == "Muted \(gone) for 30d.\n", "\(muted)")
                let quiet = try await world.agent.call("status", "--quiet")
                #expect(quiet.code == 0 && quiet.output.isEmpty, "\(quiet)")
                let status = try await world.agent.call("status").output
                expectContains(status, "1 URL or list is muted: 1 failure does not count")
                expectContains(try await world.agent.call("why", gone).output, "muted")
            }
            let stopped = try await world.agent.call("mute")
            #expect(stopped.code == 0 && stopped.output.hasPrefix("\(gone), for another "), "\(stopped)")
            let other = world.folder.appending("other state")
            try makeFolder(other)
            let nothing = try await world.agent.call("mute", "--state", other.string)
            #expect(nothing.code == 0 && nothing.output == "Nothing is muted.\n", "\(nothing)")
            try write("damaged", to: other.appending("state.sqlite"))
            let unknown = try await world.agent.call("mute", "--state", other.string)
            #expect(unknown.code == 69 && unknown.output.isEmpty, "\(unknown)")
            expectContains(unknown.messages, "its state in \(other) cannot be read")
            try await world.agent.whileRunning { _ in
                try await world.agent.status { $0.inSync && $0.icons.failed == 1 }
                #expect(try await world.agent.call("status").code == 0)
                #expect(try await world.agent.call("unmute", gone).code == 0)
                #expect(try await world.agent.call("status").code == 1)
                let again = try await world.agent.call("unmute", gone)
                #expect(again.code == 1)
                expectContains(again.messages, "is not muted")
                #expect(try await world.agent.call("mute", "--list", "apps.plist").code == 0)
                #expect(try await world.agent.call("status").code == 0)
                expectContains(try await world.agent.call("list").output, "1 failed, muted")
            }
        }
    }
}
