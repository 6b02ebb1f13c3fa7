// SPDX-License-Identifier: Apache-2.0
import Subprocess
import SystemPackage
import TestSupport
import Testing

@testable import SyncAgentCLI

@Suite("On a terminal", .enabled(if: Tool.areInstalled("script"), "script makes the terminal"))
struct TerminalTests {
    @Test("run --once shows its progress below the log and takes it away at the end; on a pipe it shows none")
    func progress() async throws {
        try await World.with { world in
            try world.drop(["Mail", "Maps"])
            var world = world
            world.agent.runOptions = ["--allow-network", "127.0.0.0/8"]
            var terminal = try world.after(
                "exec script -qefc \"stty cols 80 rows 24; '\(BuiltProducts.path("syncagent"))' $*\" /dev/null")
            terminal.agent.environment["TERM"] = "xterm"
            let shown = try await terminal.agent.call("run", "--once")
            #expect(shown.code == 0, "\(shown.output)")
            let erasing = "\r\u{1B}[J"
            let progress = /(Reading the lists folder|\d of 1 list, .*)\r\x1B\[J/
            #expect(shown.output.firstMatch(of: progress) != nil, "\(shown.output)")
            // What is left of each line.
            let lines = shown.output.replacing("\r\n", with: "\n").split(separator: "\n").compactMap {
                $0.split(separator: erasing, omittingEmptySubsequences: false).last.map(String.init)
            }.filter { !$0.isEmpty }
            #expect(lines.allSatisfy { $0.wholeMatch(of: /\d{4}-\S+Z info .*/) != nil }, "\(lines)")
            #expect(lines.contains { $0.contains(" info published ") }, "\(lines)")
            let piped = try await world.agent.call("run", "--once")
            #expect(piped.code == 0 && piped.messages.contains(" info stopped "), "\(piped.messages)")
            #expect(!piped.messages.contains("\u{1B}") && !piped.messages.contains("icons"), "\(piped.messages)")
        }
    }
}
