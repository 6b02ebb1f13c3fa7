// SPDX-License-Identifier: Apache-2.0
import DemoOrigin
import Glibc
import Subprocess
import SystemPackage
import TestSupport
import Testing

@testable import SyncAgentCLI

@Suite("A cache without its agent", .timeLimit(.minutes(15)), .serialized)
struct AbsentAgentTests {
    private static let names = ["Mail", "Maps", "Music"]

    @Test("a cache that a killed agent left is read by other users, and its copies serve agents that are offline")
    func left() async throws {
        try await World.with { world in
            try world.drop(Self.names)
            try await world.agent.whileRunning(endedBy: .kill) { _ in try await world.published(Self.names) }
            try await Self.expectReadableByOthers(world)
            await world.origin.cutOff()
            for (tool, command) in [
                ("cp", "cp -a \"$cache\" \"$copy\""), ("rsync", "rsync -a \"$cache/\" \"$copy\""),
                ("tar", "mkdir \"$copy\" && tar -C \"$cache\" -c . | tar -C \"$copy\" -x"),
            ] {
                guard Tool.areInstalled(tool) else {
                    print("skipped: \(tool) is not installed")
                    continue
                }
                let folder = world.folder.appending("with-\(tool)")
                let other = World(
                    origin: world.origin, agent: AgentProcess(program: BuiltProducts.path("syncagent"), folder: folder))
                try makeFolder(folder)
                try makeFolder(other.agent.lists)
                let result = try await Program.run(
                    "sh", "-c", command,
                    environment: ["cache": world.agent.cache.string, "copy": other.agent.cache.string])
                #expect(result.code == 0, "\(tool): \(result.messages)")
                #expect(try other.expectWholeCache() == Self.names.count, "\(tool)")
                try other.drop(Self.names)
                try await other.agent.whileRunning { _ in try await other.published(Self.names) }
                #expect(try other.expectWholeCache() == Self.names.count, "\(tool)")
            }
        }
    }

    /// Expects another user to find and read an image, and to be unable to write; skips that where it takes root.
    private static func expectReadableByOthers(_ world: World) async throws {
        guard geteuid() == 0, Tool.areInstalled("setpriv") else {
            print("skipped: becoming another user takes root's rights and setpriv")
            return
        }
        try #require(chmod(world.folder.string, 0o755) == 0)
        let program = BuiltProducts.path("syncagent").string
        func runAsNobody(_ command: String) async throws -> Program {
            try await Program.run(
                "setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "sh", "-c", command,
                environment: [
                    "program": program, "cache": world.agent.cache.string, "url": world.origin.iconURL("Mail"),
                ])
        }
        guard try await runAsNobody("test -x \"$program\"").code == 0 else {
            print("skipped: another user cannot run \(program)")
            return
        }
        #expect(try await runAsNobody("touch \"$cache/new\"").code != 0)
        let found = try await runAsNobody("\"$program\" path \"$url\" --cache \"$cache\"")
        #expect(found.code == 0, "\(found.messages)")
        let size = try await runAsNobody("wc -c < '\(found.output.dropLast())'")
        #expect(size.output == "\(IconDrawing("Mail").png().count)\n", "\(size.messages)")
    }
}
