// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import Glibc
import Reports
import Subprocess
import SyncPlan
import SystemPackage
import TestSupport
import Testing

@testable import SyncAgentCLI

@Suite("Folders that cannot be watched", .timeLimit(.minutes(15)), .serialized)
struct PollingTests {
    /// Runs a program with limits of its own on inotify, in a user namespace (user_namespaces(7)).
    private static func limiting(_ limit: String, to program: FilePath) -> String {
        "exec unshare -Ur sh -c 'echo 0 >/proc/sys/user/\(limit); exec \"$0\" \"$@\"' '\(program)' \"$@\""
    }

    @Test(
        "a folder is polled where a limit of inotify is reached, and status says what to raise",
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
            // Only polling finds the list.
            var world = plain.setting("SYNCAGENT_LISTS_RESCAN", "1h")
            let environment = world.agent.environment
            world.agent = AgentProcess(program: script, folder: plain.folder)
            world.agent.environment = environment
            try await world.agent.whileRunning { [world] agent in
                let report = try await world.agent.status { $0.watch.mode == "polling" }
                expectContains(report.watch.reason ?? "", remedy)
                expectContains(try await world.agent.call("status").output, remedy)
                try world.drop(["Mail"])
                try await world.published(["Mail"])
            }
        }
    }
}
