// SPDX-License-Identifier: Apache-2.0
import Glibc
import IconCache
import SystemPackage
import TestSupport
import Testing

@testable import SyncAgentCLI

/// Copies of a cache in use, made as the documentation says.
///
/// `COPIES` in the environment is how many of each kind are made while generations were published.
@Suite("Copies of a busy cache", .timeLimit(.minutes(15)), .serialized)
struct CopyTests {
    private static let copies = environmentNumber("COPIES") ?? 1

    @Test("a copy that is made within the grace is a valid cache if its manifest is copied first")
    func withinGrace() async throws {
        let examples = try Article("Copies").examples(in: "sh")
        try await Churn.run(grace: "10m") { churn in
            for (tool, commands) in zip(["cp", "tar", "rsync"], examples) where Self.canRun(tool) {
                try await Self.repeatWhilePublished(churn) { number in
                    let copy = churn.world.folder.appending("\(tool)-\(number)")
                    try makeFolder(copy)
                    let result = try await Self.run(commands, from: churn.world.agent.cache, to: copy)
                    #expect(result.code == 0 || Self.isWarning(result.code, of: tool), "\(tool): \(result.messages)")
                    // Some file systems list folders without a name that is just being replaced.
                    try churn.read(IconCache(at: copy), mayLackNames: true)
                }
            }
        }
    }

    @Test("a copy that is made under a lease is a valid cache without any grace, also while it is brought up to date")
    func underLease() async throws {
        guard Self.canRun("rsync"), Self.canRun("flock") else { return }
        let commands = try Article("Copies").examples(in: "sh")[3]
        try await Churn.run(grace: "0s") { churn in
            let folder = churn.world.folder.appending("copy")
            let copy = IconCache(at: folder)
            try makeFolder(folder)
            try await withThrowingTaskGroup(of: Void.self) { group in
                // The second one brings the first one up to date.
                try await Self.repeatWhilePublished(churn, atLeast: 2) { number in
                    let result = try await Self.run(commands, from: churn.world.agent.cache, to: folder)
                    #expect(result.code == 0, "\(result.messages)")
                    try churn.read(copy, mayLackNames: true)
                    guard number == 0 else { return }
                    group.addTask {
                        while !Task.isCancelled { try Self.readUnlessReplaced(copy, of: churn) }
                    }
                }
                group.cancelAll()
                try await group.waitForAll()
            }
        }
    }

    @Test("a copy that is made in any order is put right by an agent and verify --repair")
    func anyOrder() async throws {
        try await Churn.run(grace: "0s") { churn in
            let folder = churn.world.folder.appending("other")
            var other = World(
                origin: churn.world.origin,
                agent: AgentProcess(program: BuiltProducts.path("syncagent"), folder: folder))
            other.agent.environment = churn.world.agent.environment
            other = other.setting("SYNCAGENT_NETWORK_ALLOW", "127.0.0.0/8")
            try makeFolder(folder)
            try makeFolder(other.agent.lists)
            let names = Churn.lasting + ["Mail"]
            try other.drop(names)
            try await Self.repeatWhilePublished(churn) { _ in
                try await Tool.run("rm", "-rf", other.agent.cache.string)
                let copy = "cp -a \"$cache\" \"$copy\""
                let result = try await Self.run(copy, from: churn.world.agent.cache, to: other.agent.cache)
                #expect(result.code == 0 || Self.isWarning(result.code, of: "cp"), "\(result.messages)")
                let run = try await other.agent.call("run", "--once")
                #expect(run.code == 0, "\(run.messages)")
                try await other.agent.whileRunning { [other] _ in
                    _ = try await other.agent.call("verify", "--repair")
                    try await other.published(names)
                }
                #expect(try other.expectWholeCache() == names.count)
            }
        }
    }

    private static func canRun(_ tool: String) -> Bool {
        guard !Tool.areInstalled(tool) else { return true }
        print("skipped: \(tool) is not installed")
        return false
    }

    private static func run(_ commands: String, from cache: FilePath, to copy: FilePath) async throws -> Program {
        try await Program.run("sh", "-c", commands, environment: ["cache": cache.string, "copy": copy.string])
    }

    /// Runs the body until it did so often enough while generations were published.
    private static func repeatWhilePublished(
        _ churn: Churn, atLeast minimum: Int = 1, _ body: (Int) async throws -> Void
    ) async throws {
        let wanted = max(copies, minimum)
        var published = 0
        for number in 0..<(20 * wanted) where published < wanted {
            let before = try churn.cache.manifest().generation
            try await body(number)
            if try churn.cache.manifest().generation > before { published += 1 }
        }
        try #require(published == wanted, "the agent published too seldom for the test to tell anything")
    }

    /// Whether this exit code says no more than that files were removed while they were copied.
    private static func isWarning(_ code: Int?, of tool: String) -> Bool {
        code == (tool == "rsync" ? 24 : 1)
    }

    /// Reads the copy, but for what goes when another manifest comes meanwhile: a copy gives no grace.
    private static func readUnlessReplaced(_ copy: IconCache, of churn: Churn) throws {
        let manifest = try copy.manifest()
        do {
            try churn.read(copy, mayLackNames: true)
        } catch {
            if try copy.manifest() == manifest { throw error }
        }
    }
}
