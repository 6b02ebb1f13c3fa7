// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import Fleet
import Glibc
import IconCache
import Reports
import SystemPackage
import TestSupport
import Testing

@testable import SyncAgentCLI

@Suite("A folder as an upstream", .timeLimit(.minutes(15)), .serialized)
struct FolderUpstreamTests {
    /// A second agent that takes icons from the folder and never asks an origin.
    private static func follower(_ world: World, of folder: String) throws -> World {
        var follower = world
        let own = world.folder.appending("follower")
        follower.agent = AgentProcess(program: BuiltProducts.path("syncagent"), folder: own)
        try makeFolder(own)
        try makeFolder(follower.agent.lists)
        return follower.setting("SYNCAGENT_UPSTREAM_URLS", "file://\(folder)")
            .setting("SYNCAGENT_UPSTREAM_FALLBACK", "never").setting("SYNCAGENT_UPSTREAM_POLL", "100ms")
            .setting("SYNCAGENT_UPSTREAM_BREAK_FOR", "100ms").setting("SYNCAGENT_UPSTREAM_BREAK_MAX", "100ms")
    }

    private static func export(_ world: World, _ names: [String], to folder: FilePath) async throws {
        try world.drop(names)
        #expect(try await world.agent.call("run", "--once").code == 0)
        let export = try await world.agent.call("export", folder.string)
        #expect(export.code == 0, "\(export)")
    }

    @Test("an upstream folder serves icons without a network, and costs no icon when it vanishes, is older or damaged")
    func folder() async throws {
        try await World.with { world in
            let (folder, away) = (world.folder.appending("usb stick"), world.folder.appending("away"))
            try await Self.export(world, ["Mail", "Maps"], to: folder)
            let old = world.folder.appending("old")
            #expect(try await Program.run("cp", "-a", folder.string, old.string).code == 0)
            let follower = try Self.follower(world, of: folder.string.replacing(" ", with: "%20"))
            await world.origin.cutOff()
            let requests = world.origin.requestCount
            try follower.drop(["Mail", "Maps"])
            try await follower.agent.whileRunning { _ in
                try await follower.published(["Mail", "Maps"])

                // Pulled out: what is there stays, and the status says that the upstream is down.
                try folder.move(to: away)
                let gone = try await follower.agent.status { $0.upstreams.first?.state.known != .fresh }
                #expect(gone.icons.ready == 2 && gone.icons.retired == 0)
                try follower.drop(["Mail", "Maps", "Notes"])
                try await follower.agent.status { $0.icons.pending == 1 && $0.icons.ready == 2 }

                // Another one that has it: an older one, then the newer one.
                try old.move(to: folder)
                try await follower.agent.status { $0.upstreams.first?.state.known == .fresh }
                try folder.move(to: old)
                try away.move(to: folder)
                try await follower.agent.status { $0.upstreams.first?.state.known == .fresh && $0.icons.ready == 2 }
            }
            #expect(world.origin.requestCount == requests)
            // A pipe in place of the manifest is no file, and nothing waits for it.
            let manifest = folder.appending("manifest.json")
            try #require(unlink(manifest.string) == 0 && mkfifo(manifest.string, 0o644) == 0)
            try await follower.agent.whileRunning { _ in
                let report = try await follower.agent.status { $0.upstreams.first?.state.known != .fresh }
                #expect(report.icons.ready == 2)
            }
        }
    }
}
