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
    "Errors of file systems that hosts share", .serialized,
    .enabled(if: Tool.areInstalled("strace"), "strace is not installed"))
struct SharedFolderFaultTests {
    @Test(
        "a reader opens the manifest again, once, if it goes while it is read",
        arguments: [("ESTALE", 1, true), ("ENOENT", 1, true), ("EIO", 1, true), ("ESTALE", 2, false)])
    func reread(error: String, times: Int, isRead: Bool) async throws {
        try await World.with { world in
            try world.drop(["Mail"])
            #expect(try await world.agent.call("run", "--once").code == 0)
            let manifest = world.agent.cache.appending(CacheLayout.manifest).string
            let reader = try world.traced(
                by: [
                    "-P", manifest, "-e", "trace=pread64", "-e", "inject=pread64:error=\(error):when=1..\(times)",
                ], log: world.folder.appending("trace"))
            let list = try await reader.call("list", "apps.plist")
            #expect((list.code == 0) == isRead, "\(list.output) \(list.messages)")
            if !isRead { #expect(list.messages.contains("\(manifest): Stale file handle"), "\(list.messages)") }
        }
    }

    @Test(
        "a reader goes on without a lease where files cannot be locked", arguments: ["EOPNOTSUPP", "ENOLCK", "EROFS"])
    func noLease(error: String) async throws {
        try await World.with { world in
            try world.drop(["Mail"])
            #expect(try await world.agent.call("run", "--once").code == 0)
            let reader = try world.traced(
                by: [
                    "-P", world.agent.cache.appending(CacheLayout.manifest).string, "-e", "trace=flock",
                    "-e", "inject=flock:error=\(error)",
                ], log: world.folder.appending("trace"))
            let list = try await reader.call("list", "apps.plist")
            #expect(list.code == 0 && list.output.contains("Mail"), "\(list.output) \(list.messages)")
        }
    }

    /// The agent of a world that has published two icons without a grace period, for which locks of generations fail.
    private static func agent(of plain: World, whoseLocksFailWith error: String) async throws -> AgentProcess {
        let world = plain.setting("SYNCAGENT_CACHE_GRACE", "0s")
        try world.drop(["Mail", "Maps"])
        #expect(try await world.agent.call("run", "--once").code == 0)
        let generations = (1...9).flatMap { ["-P", world.agent.cache.appending("generations/\($0).json").string] }
        return try world.traced(
            by: generations + ["-e", "trace=flock", "-e", "inject=flock:error=\(error)"],
            log: world.folder.appending("trace"), getsSignals: true)
    }

    @Test("where leases cannot be tested, the grace alone decides; the log and the status say so")
    func untestable() async throws {
        try await World.with { world in
            let agent = try await Self.agent(of: world, whoseLocksFailWith: "EBADF")
            let snapshot = try IconCache(at: world.agent.cache).snapshot()
            defer { snapshot.end() }
            try world.drop(["Mail"])
            try await agent.whileRunning { _ in
                // The agent cannot know of the lease.
                let status = try await agent.status { $0.inSync && $0.icons.retired == 0 && $0.eviction.leases != nil }
                #expect(status.eviction.state == "active")
                #expect(status.problems.map(\.code).contains("leases-unseen"))
                let text = try await world.agent.call("status").output
                #expect(text.contains("refuses locks (Bad file descriptor)"), "\(text)")
            }
        }
    }

    @Test("an error that may pass keeps what it is about, and is said")
    func failing() async throws {
        try await World.with { world in
            let agent = try await Self.agent(of: world, whoseLocksFailWith: "EIO")
            try world.drop(["Mail"])
            try await agent.whileRunning { _ in
                try await agent.status { $0.inSync && $0.icons.retired == 1 }
                let evicted = try await world.agent.call("evict")
                #expect(evicted.code == 1, "\(evicted.output)")
                let status = try await agent.status { $0.inSync }
                #expect(status.icons.retired == 1 && status.eviction.leases == nil)
            }
        }
    }
}
