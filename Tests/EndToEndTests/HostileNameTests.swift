// SPDX-License-Identifier: Apache-2.0
import AppLists
import CacheFormat
import DemoOrigin
import SystemPackage
import TestSupport
import Testing

@testable import SyncAgentCLI

@Suite("Names of lists that are made to do harm")
struct HostileNameTests {
    /// A name that is shown backwards, ends a line, and turns a terminal red.
    private static let name = "a\u{202E}b\u{2028}c\u{1B}[31m\u{9B}\n.plist"
    private static let shown = "a\\u202eb\\u2028c\\u001b[31m\\u009b\\u000a.plist"
    /// The same in JSON, which has a shorter escape for the end of a line.
    private static let inJSON = shown.replacing("\\u000a", with: "\\n")

    /// Whether a text does nothing to a terminal.
    private static func isHarmless(_ text: String) -> Bool {
        text.split(separator: "\n", omittingEmptySubsequences: false).allSatisfy { printable(String($0)) == $0 }
    }

    @Test(
        "do nothing to a terminal or a log: status, list, check, sync, run --once, also as JSON",
        arguments: [true, false])
    func terminal(isGood: Bool) async throws {
        try await World.with { world in
            let text =
                isGood
                ? "( { name = \"\u{202E}x\"; icon = \"\(world.origin.iconURL("Mail"))\"; }, \"\u{202E}:\" )" : "junk"
            try world.agent.drop(text, as: Self.name)
            let file = world.agent.lists.appending(Self.name).string
            let commands = [
                ["run", "--once", "--log-level", "debug"], ["check", file], ["check", "--json", file], ["status"],
                ["status", "--json"], ["list"], ["list", "--json"], ["list", Self.name], ["list", Self.name, "--json"],
                ["sync", "--wait", Self.name],
            ]
            for command in commands.dropLast() { try await expectHarmless(command, world) }
            try await world.agent.whileRunning { _ in
                for command in commands.dropFirst() { try await expectHarmless(command, world) }
                let sync = try await world.agent.call("sync", "--wait", Self.name)
                #expect(
                    sync.code == (isGood ? 0 : 1) && sync.output == "\(isGood ? 1 : 0) ready, 0 failed, 0 pending\n")
                let message = "syncagent: \(Self.shown): \(ListRejection.noKnownShape.message)\n"
                #expect(sync.messages == (isGood ? "" : message), "\(sync.messages)")
            }
        }
    }

    @Test(
        "a command line does nothing to a terminal either, and is shown where it is refused",
        arguments: [
            ["status", "--a\u{1B}[31m"], ["run", "--log-level", "a\u{1B}[31m"],
            ["run", "--allow-network", "a\u{1B}[31m"], ["pin", "http://a\u{1B}[31m/"],
        ])
    func commandLine(command: [String]) async throws {
        try await World.with { world in
            let answer = try await world.agent.call(command)
            #expect(answer.code == 64 && Self.isHarmless(answer.messages), "\(answer.messages.debugDescription)")
            #expect(answer.messages.contains("a\\u001b[31m"), "\(answer.messages)")
        }
    }

    private func expectHarmless(_ command: [String], _ world: World) async throws {
        let answer = try await world.agent.call(command)
        #expect(Self.isHarmless(answer.output), "\(command): \(answer.output.debugDescription)")
        #expect(Self.isHarmless(answer.messages), "\(command): \(answer.messages.debugDescription)")
        let isOfOneList = command[0] == "list" && command.count > 1 && command[1] != "--json"
        if !isOfOneList, command[0] != "sync" {
            let all = answer.output + answer.messages
            #expect(all.contains(Self.shown) || all.contains(Self.inJSON), "\(command): \(all)")
        }
    }

    @Test("sync --wait takes a name with a line break in it for one name")
    func lineBreak() async throws {
        try await World.with { world in
            try await world.agent.whileRunning { _ in
                try world.drop(["Mail"], as: "a\nb.plist")
                let sync = try await world.agent.call("sync", "--wait", "a\nb.plist")
                #expect(sync.code == 0 && sync.output == "1 ready, 0 failed, 0 pending\n", "\(sync.messages)")
                let missing = try await world.agent.call("sync", "--wait", "c\nd.plist")
                #expect(missing.code == 1)
                let words = "syncagent: c\\u000ad.plist: there is no such list in the lists folder."
                #expect(missing.messages == words + " Did you mean $'a\\012b.plist'?\n", "\(missing.messages)")
            }
        }
    }

    @Test("the log tells a list that never was good from one whose last good version stays")
    func log() async throws {
        try await World.with { world in
            try world.agent.drop("junk", as: "apps.plist")
            let never = try await world.agent.call("run", "--once", "--log-level", "info")
            #expect(never.messages.contains(" warning list rejected: it has no good version "), "\(never.messages)")
            try world.drop(["Mail"])
            try #require(try await world.agent.call("run", "--once").code == 0)
            try world.agent.drop("junk", as: "apps.plist")
            let later = try await world.agent.call("run", "--once", "--log-level", "info")
            #expect(
                later.messages.contains(" warning list rejected, keeping its last good version "), "\(later.messages)"
            )
            try world.remove("apps.plist")
            try #require(try await world.agent.call("run", "--once").code == 0)
            try world.agent.drop("junk", as: "apps.plist")
            let gone = try await world.agent.call("run", "--once", "--log-level", "info")
            #expect(gone.messages.contains(" warning list rejected: it has no good version "), "\(gone.messages)")
        }
    }
}
