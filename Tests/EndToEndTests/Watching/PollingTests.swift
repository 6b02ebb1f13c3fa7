// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import DemoOrigin
import Glibc
import Reports
import Subprocess
import SyncPlan
import SystemPackage
import TestSupport
import Testing

@testable import SyncAgentCLI

@Suite("Folders that cannot be watched", .serialized)
struct PollingTests {
    /// Runs a program with limits of its own on inotify, in a user namespace (user_namespaces(7)).
    private static func limiting(_ limit: String, to program: FilePath) -> String {
        "exec unshare -Ur sh -c 'echo 0 >/proc/sys/user/\(limit); exec \"$0\" \"$@\"' '\(program)' \"$@\""
    }

    @Test(
        "where a limit is reached the folder is polled, and status says what to raise",
        arguments: [
            ("max_inotify_watches", "fs.inotify.max_user_watches"),
            ("max_inotify_instances", "fs.inotify.max_user_instances"),
        ])
    func limits(limit: String, remedy: String) async throws {
        let trial = try await Program.run("sh", "-c", Self.limiting(limit, to: "/bin/true"))
        guard trial.code == 0 else {
            print("Skipped: no namespace with a limit of its own: \(trial.messages)")
            return
        }
        try await World.with { plain in
            let script = try makeScript(Self.limiting(limit, to: BuiltProducts.path("syncagent")), in: plain.folder)
            var world = plain
            world.agent = AgentProcess(program: script, folder: plain.folder)
            world.agent.environment = plain.agent.environment
            try await world.agent.whileRunning { [world] agent in
                let report = try await world.agent.status { $0.watch.mode == "polling" }
                #expect(report.watch.reason?.contains(remedy) == true, "\(report.watch.reason ?? "")")
                #expect(try await world.agent.call("status").output.contains(remedy))
                try world.drop(["Mail"])
                let start = ContinuousClock.now
                try await world.published(["Mail"])
                #expect(ContinuousClock.now - start < .seconds(3))
            }
        }
    }

    @Test("where changes in a layer below are not told the folder is polled")
    func overlay() async throws {
        try await World.with { world in
            _ = try await Place.overlay.made(in: world.folder) { place in
                try #require(rmdir(world.agent.lists.string) == 0)
                try #require(symlink(place.string, world.agent.lists.string) == 0)
                try await world.agent.whileRunning { _ in
                    let report = try await world.agent.status { $0.watch.mode == "polling" }
                    #expect(report.watch.reason == "overlayfs does not report changes made elsewhere")
                    // What is done through it is told all the same.
                    try world.drop(["Mail"])
                    try await world.published(["Mail"])
                }
            }
        }
    }
}
