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

@Suite("A lists folder that is taken away", .timeLimit(.minutes(15)), .serialized)
struct FolderTroubleTests {
    @Test("a lists folder that is taken away suspends eviction, loses nothing, and is trusted again once it is back")
    func running() async throws {
        try await concurrently(FolderTrouble.all) { trouble in
            try await Self.withLists(in: trouble) { world, run in
                try await world.agent.whileRunning { agent in
                    let before = try await world.dropped()
                    try await run(trouble.script)
                    try await world.expectDoubt(after: trouble, since: before)
                    try await run(trouble.remedy)
                    try await world.expectHealed(after: trouble, since: before)
                    #expect(kill(agent.value, 0) == 0)
                }
            }
        }
    }

    @Test("a lists folder that a start finds empty is no reason to evict, and is trusted again without another start")
    func start() async throws {
        // What a start sees: another folder, another file system, and another folder of the same one.
        let names = ["rm -rf and mkdir", "umount of a tmpfs", "umount of the same file system"]
        let troubles = FolderTrouble.all.filter { names.contains($0.name) }
        try #require(troubles.count == names.count && troubles.allSatisfy { $0.reason == FolderTrouble.empty })
        try await concurrently(troubles) { trouble in
            try await Self.withLists(in: trouble) { world, run in
                let before = try await world.agent.whileRunning { _ in try await world.dropped() }
                try await run(trouble.script)
                #expect(try await world.agent.call("run", "--once").code == 1, "\(trouble.name)")
                try await world.agent.whileRunning { _ in
                    try await world.expectDoubt(after: trouble, since: before)
                    try await run(trouble.remedy)
                    try await world.expectHealed(after: trouble, since: before)
                }
            }
        }
    }

    /// Runs the body in a world whose lists folder is in a folder of its own.
    ///
    /// Retired icons would be gone at once in it, and the folder is looked at twice a second.
    private static func withLists(
        in trouble: FolderTrouble,
        _ body: @escaping @Sendable (World, @Sendable (String) async throws -> Void) async throws -> Void
    ) async throws {
        guard !trouble.isRoots || geteuid() == 0 else {
            print("Skipped: \(trouble.name): only root mounts file systems")
            return
        }
        try await World.with { plain in
            var world = try plain.setting("SYNCAGENT_CACHE_GRACE", "0s").setting("SYNCAGENT_LISTS_RESCAN", "500ms")
                .heedingModes()
            let parent = world.folder.appending("parent")
            try makeFolder(parent)
            world.agent.lists = parent.appending("lists.d")
            let environment = [
                "LISTS": world.agent.lists.string, "PARENT": parent.string,
                "ASIDE": world.folder.appending("aside").string,
            ]
            let run = { @Sendable (script: String) in
                let result = try await Program.run("sh", "-ec", script, environment: environment)
                try #require(result.code == 0, "\(script): \(result.messages)")
            }
            let clean = {
                for path in [world.agent.lists, parent, world.folder.appending("aside")] {
                    umount2(path.string, Int32(MNT_DETACH))
                    chmod(path.string, 0o755)
                }
            }
            do {
                try await run(trouble.preparation)
                try await body(world, run)
            } catch {
                clean()
                throw error
            }
            clean()
        }
    }
}

extension World {
    private static let names = ["Mail", "Maps", "Music"]

    /// Drops two lists.
    ///
    /// - Returns: The status when they are published.
    fileprivate func dropped() async throws -> StatusReport {
        try drop(Array(Self.names.prefix(2)), as: "a.plist")
        try drop(Array(Self.names.suffix(2)), as: "b.plist")
        return try await agent.status { $0.inSync && $0.icons.ready == 3 && $0.lists.count == 2 }
    }

    /// Waits until eviction is suspended, and until the folder was looked at once more.
    fileprivate func expectDoubt(after trouble: FolderTrouble, since before: StatusReport) async throws {
        // Between two commands of a trouble there may be another one.
        let doubt = try await agent.status {
            $0.eviction.state == "suspended" && $0.eviction.reason?.contains(trouble.reason) == true
        }
        #expect(doubt.eviction.reason?.contains(agent.lists.string) == true, "\(trouble.name): \(doubt.eviction)")
        let later = try await agent.status { $0.watch.lastScan != doubt.watch.lastScan }
        #expect(later.eviction == doubt.eviction, "\(trouble.name)")
        #expect(later.icons.ready == before.icons.ready, "\(trouble.name)")
        #expect(try await agent.call("status").code == 1, "\(trouble.name)")
        #expect(later.lists == before.lists && later.generation == before.generation, "\(trouble.name)")
        #expect(try expectWholeCache() == Self.names.count, "\(trouble.name)")
    }

    /// Waits until everything is as it was before, and a change counts.
    fileprivate func expectHealed(after trouble: FolderTrouble, since before: StatusReport) async throws {
        let healed = try await agent.status {
            $0.eviction.state == "active" && $0.watch.isEstablished && $0.inSync && $0.lists == before.lists
        }
        #expect(healed.icons == before.icons && origin.requestCount == Self.names.count, "\(trouble.name)")
        try drop(["News"], as: "c.plist")
        try await published(["News"], as: "c.plist")
        #expect(try expectWholeCache() == Self.names.count + 1, "\(trouble.name)")
    }
}
