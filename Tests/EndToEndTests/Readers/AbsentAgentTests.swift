// SPDX-License-Identifier: Apache-2.0
import DemoOrigin
import Glibc
import Subprocess
import SystemPackage
import TestSupport
import Testing

@testable import SyncAgentCLI

@Suite("What an agent that was killed leaves behind", .serialized)
struct AbsentAgentTests {
    private static let names = ["Mail", "Maps", "Music"]

    @Test(
        "can be copied in any way, and an agent that starts on the copy, offline, has every icon",
        arguments: [
            ("cp", "cp -a \"$cache\" \"$copy\""), ("rsync", "rsync -a \"$cache/\" \"$copy\""),
            ("tar", "mkdir \"$copy\" && tar -C \"$cache\" -c . | tar -C \"$copy\" -x"),
        ])
    func copy(tool: String, command: String) async throws {
        guard Tool.areInstalled(tool) else {
            print("skipped: \(tool) is not installed")
            return
        }
        try await World.with { world in
            try await Self.publishAndDie(in: world)
            let folder = world.folder.appending("other")
            let other = World(
                origin: world.origin, agent: AgentProcess(program: BuiltProducts.path("syncagent"), folder: folder))
            try makeFolder(folder)
            try makeFolder(other.agent.lists)
            let result = try await Program.run(
                "sh", "-c", command,
                environment: ["cache": world.agent.cache.string, "copy": other.agent.cache.string])
            #expect(result.code == 0, "\(result.messages)")
            #expect(try other.expectWholeCache() == Self.names.count)

            await world.origin.cutOff()
            try other.drop(Self.names)
            try await other.agent.whileRunning { _ in try await other.published(Self.names) }
            #expect(try other.expectWholeCache() == Self.names.count)
        }
    }

    @Test(
        "is read by another user",
        .enabled(
            if: geteuid() == 0 && Tool.areInstalled("setpriv"),
            "becoming another user takes root's rights and setpriv"))
    func otherUser() async throws {
        try await World.with { world in
            try await Self.publishAndDie(in: world)
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

    private static func publishAndDie(in world: World) async throws {
        try world.drop(names)
        try await world.agent.whileRunning(endedBy: .kill) { _ in try await world.published(names) }
    }
}
