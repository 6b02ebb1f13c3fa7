// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import IconCache
import Reports
import SyncPlan
import SystemPackage
import TestSupport
import Testing

@testable import SyncAgentCLI

@Suite(
    "Errors of file systems that hosts share", .timeLimit(.minutes(15)), .serialized,
    .enabled(if: Tool.areInstalled("strace"), "strace is not installed"))
struct SharedFolderFaultTests {
    private static func manifest(of world: World) -> String {
        world.agent.cache.appending(CacheLayout.manifest).string
    }

    /// Shows a list while calls on the manifest fail.
    private static func list(
        in world: World, _ call: String, _ fault: String
    ) async throws -> (code: Int32, output: String, messages: String) {
        let options = ["-P", manifest(of: world), "-e", "trace=\(call)", "-e", "inject=\(call):\(fault)"]
        return try await world.traced(by: options, log: world.folder.appending("trace")).call("list", "apps.plist")
    }

    @Test("a reader opens a manifest that goes while it is read once more, and does without a lease where locks fail")
    func reader() async throws {
        try await World.with { world in
            try world.drop(["Mail"])
            #expect(try await world.agent.call("run", "--once").code == 0)
            for error in ["ESTALE", "ENOENT", "EIO"] {
                let once = try await Self.list(in: world, "pread64", "error=\(error):when=1..1")
                #expect(once.code == 0, "\(error): \(once.output) \(once.messages)")
            }
            let twice = try await Self.list(in: world, "pread64", "error=ESTALE:when=1..2")
            #expect(twice.code != 0, "\(twice.output)")
            expectContains(twice.messages, "\(Self.manifest(of: world)): Stale file handle")

            for error in ["EOPNOTSUPP", "ENOLCK", "EROFS"] {
                let unlocked = try await Self.list(in: world, "flock", "error=\(error)")
                #expect(unlocked.code == 0, "\(error): \(unlocked.messages)")
                expectContains(unlocked.output, "Mail")
            }
        }
    }

    @Test("leases that cannot be tested leave the grace alone to decide; an error that may pass keeps retired icons")
    func leases() async throws {
        try await World.with { plain in
            let world = plain.setting("SYNCAGENT_CACHE_GRACE", "0s")
            let generations = (1...20).flatMap { ["-P", world.agent.cache.appending("generations/\($0).json").string] }
            let agent = { @Sendable (error: String) in
                try world.traced(
                    by: generations + ["-e", "trace=flock", "-e", "inject=flock:error=\(error)"],
                    log: world.folder.appending("trace"), getsSignals: true)
            }
            try world.drop(["Mail", "Maps"])
            #expect(try await world.agent.call("run", "--once").code == 0)

            let untestable = try agent("EBADF")
            let snapshot = try IconCache(at: world.agent.cache).snapshot()
            try world.drop(["Mail"])
            try await untestable.whileRunning { _ in
                // The agent cannot know of the lease.
                let status = try await untestable.status {
                    $0.inSync && $0.icons.retired == 0 && $0.eviction.leases != nil
                }
                #expect(status.eviction.state == "active")
                #expect(status.problems.map(\.code).contains("leases-unseen"))
                expectContains(try await world.agent.call("status").output, "refuses locks (Bad file descriptor)")
            }
            snapshot.end()

            let failing = try agent("EIO")
            try world.drop(["Maps"])
            try await failing.whileRunning { _ in
                try await failing.status { $0.inSync && $0.icons.retired == 1 }
                let evicted = try await world.agent.call("evict")
                #expect(evicted.code == 1, "\(evicted.output)")
                let status = try await failing.status { $0.inSync }
                #expect(status.icons.retired == 1 && status.eviction.leases == nil)
            }
        }
    }
}
