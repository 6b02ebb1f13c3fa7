// SPDX-License-Identifier: Apache-2.0
import AppLists
import CacheFormat
import SystemPackage
import TestSupport
import Testing

@testable import SyncAgentCLI

@Suite("Hostile names", .timeLimit(.minutes(15)))
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

    @Test("names and texts of lists, and arguments, do nothing to a terminal or a log, also as JSON")
    func terminal() async throws {
        try await World.with { world in
            for isGood in [false, true] {
                let apps = "( { name = \"\u{202E}x\"; icon = \"\(world.origin.iconURL("Mail"))\"; }, \"\u{202E}:\" )"
                try world.agent.drop(isGood ? apps : "junk", as: Self.name)
                let file = world.agent.lists.appending(Self.name).string
                let commands = [
                    ["check", file], ["check", "--json", file], ["status"], ["status", "--json"], ["list"],
                    ["list", "--json"], ["list", Self.name], ["list", Self.name, "--json"],
                ]
                try await expectHarmless(["run", "--once", "--log-level", "debug"], world)
                for command in commands { try await expectHarmless(command, world) }
                try await world.agent.whileRunning { _ in
                    // The first one waits until the list is read.
                    for command in [["sync", "--wait", Self.name]] + commands {
                        try await expectHarmless(command, world)
                    }
                    let sync = try await world.agent.call("sync", "--wait", Self.name)
                    #expect(sync.code == (isGood ? 0 : 1))
                    expectLines(sync.output, "\(isGood ? 1 : 0) ready, 0 failed, 0 pending\n")
                    let message = "syncagent: \(Self.shown): \(ListRejection.noKnownShape.message)\n"
                    expectLines(sync.messages, isGood ? "" : message)
                    if isGood { try await expectLineBreak(world) }
                }
            }
            for command in [
                ["status", "--a\u{1B}[31m"], ["run", "--log-level", "a\u{1B}[31m"],
                ["run", "--allow-network", "a\u{1B}[31m"], ["pin", "http://a\u{1B}[31m/"],
            ] {
                let answer = try await world.agent.call(command)
                #expect(answer.code == 64 && Self.isHarmless(answer.messages), "\(answer.messages.debugDescription)")
                expectContains(answer.messages, "a\\u001b[31m")
            }
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

    /// Expects `sync --wait` to take a name with a line break in it for one name.
    private func expectLineBreak(_ world: World) async throws {
        try world.drop(["Mail"], as: "a\nb.plist")
        let sync = try await world.agent.call("sync", "--wait", "a\nb.plist")
        #expect(sync.code == 0 && sync.output == "1 ready, 0 failed, 0 pending\n", "\(sync.messages)")
        let missing = try await world.agent.call("sync", "--wait", "c\nd.plist")
        #expect(missing.code == 1)
        let words = "syncagent: c\\u000ad.plist: there is no such list in the lists folder."
        expectLines(missing.messages, words + " Did you mean $'a\\012b.plist'?\n")
    }

    @Test("the log distinguishes a rejected list that never was good from one whose last good version stays")
    func log() async throws {
        try await World.with { world in
            func runOnce() async throws -> (code: Int32, messages: String) {
                let end = try await world.agent.call("run", "--once", "--log-level", "info")
                return (end.code, end.messages)
            }
            try world.agent.drop("junk", as: "apps.plist")
            let never = try await runOnce()
            #expect(never.code == 1)
            expectContains(never.messages, " warning list rejected: it has no good version ")
            try world.drop(["Mail"])
            try #require(try await runOnce().code == 0)
            try world.agent.drop("junk", as: "apps.plist")
            expectContains(try await runOnce().messages, " warning list rejected, keeping its last good version ")
            try world.remove("apps.plist")
            try #require(try await runOnce().code == 0)
            try world.agent.drop("junk", as: "apps.plist")
            expectContains(try await runOnce().messages, " warning list rejected: it has no good version ")
        }
    }
}
