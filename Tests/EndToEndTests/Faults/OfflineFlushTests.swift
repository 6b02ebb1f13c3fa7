// SPDX-License-Identifier: Apache-2.0
import Glibc
import IconCache
import SystemPackage
import TestSupport
import Testing

@testable import SyncAgentCLI

/// What commands do without an agent when the disk does not flush.
@Suite("Failed flushes without an agent", .enabled(if: Tool.areInstalled("strace"), "strace is not installed"))
struct OfflineFlushTests {
    private static func run(
        _ arguments: [String], failing call: String, when number: String, in world: World
    ) async throws -> (code: Int32, output: String, messages: String) {
        let log = world.folder.appending("trace")
        let options = ["-e", "trace=\(call)", "-e", "inject=\(call):error=EIO:when=\(number)"]
        let result = try await world.traced(by: options, log: log).call(arguments)
        let trace = String(decoding: try FileBytes.read(log), as: UTF8.self)
        try #require(trace.contains("(INJECTED)"), "\(trace)")
        return result
    }

    @Test("purge removes no image while the empty generation may not be durable; the next one does", arguments: [1, 2])
    func purge(flush: Int) async throws {
        try await World.with { world in
            try world.drop(["Mail", "Maps"])
            try #require(try await world.agent.call("run", "--once").code == 0)
            let images = try files(in: world.agent.cache.appending("icons"))
            let generations = try files(in: world.agent.cache.appending("generations"))
            try #require(images.count == 2)

            let purge = try await Self.run(["purge", "--yes"], failing: "syncfs", when: "\(flush)", in: world)
            #expect(purge.code == 73 && purge.output.isEmpty, "\(purge.output)")
            #expect(
                purge.messages.contains("Input/output error") && purge.messages.contains("o image was removed"),
                "\(purge.messages)")
            #expect(try files(in: world.agent.cache.appending("icons")) == images)
            // What a power failure may bring back is whole.
            let left = try files(in: world.agent.cache.appending("generations"))
            #expect(Set(left).isSuperset(of: generations), "\(left)")

            let number = try IconCache(at: world.agent.cache).manifest().generation
            let again = try await world.agent.call("purge", "--yes")
            #expect(again.code == 0 && again.output.hasPrefix("2 images removed."), "\(again.output) \(again.messages)")
            // What may be lost is not relied on: another generation is published.
            #expect(try IconCache(at: world.agent.cache).manifest().generation == number + 1)
            #expect(try files(in: world.agent.cache.appending("icons")).isEmpty)
        }
    }

    @Test("purge tells that the state may come back")
    func purgeOfState() async throws {
        try await World.with { world in
            try world.drop(["Mail"])
            try #require(try await world.agent.call("run", "--once").code == 0)
            let purge = try await Self.run(["purge", "--yes"], failing: "fsync", when: "1+", in: world)
            #expect(purge.code == 1 && purge.messages.contains("Input/output error"), "\(purge.messages)")
        }
    }

    @Test("verify --repair tells that what it repaired may be lost")
    func repair() async throws {
        try await World.with { world in
            try world.drop(["Mail", "Maps"])
            try #require(try await world.agent.call("run", "--once").code == 0)
            let document = try #require(try IconCache(at: world.agent.cache).document(of: "apps.plist"))
            guard case .ready(let image) = document.apps[0].state else { return #expect(Bool(false), "not ready") }
            try #require(unlink(world.agent.cache.appending(image.path).string) == 0)
            let repair = try await Self.run(["verify", "--repair"], failing: "syncfs", when: "1", in: world)
            #expect(repair.code == 1)
            #expect(
                repair.messages.hasPrefix(
                    "syncagent: 1 of 1 damaged file repaired, but this may be lost in a power failure: "),
                "\(repair.messages)")
            #expect(repair.messages.contains("Input/output error") && !repair.messages.contains("Cannot repair"))
        }
    }

    @Test("export into a new folder fails if the folder may be lost, and the next one makes it again")
    func newExportFolder() async throws {
        try await World.with { world in
            try world.drop(["Mail"])
            try #require(try await world.agent.call("run", "--once").code == 0)
            let target = world.folder.appending("export")
            let export = try await Self.run(["export", target.string], failing: "fsync", when: "1", in: world)
            #expect(export.code == 73 && export.messages.contains("Input/output error"), "\(export.messages)")
            #expect(access(target.string, F_OK) != 0 && errno == ENOENT)
            let again = try await world.agent.call("export", target.string)
            #expect(again.code == 0, "\(again.messages)")
        }
    }

    @Test("an export that changes nothing flushes what one before it could not", arguments: 1...3)
    func unchangedExport(flush: Int) async throws {
        try await World.with { world in
            try world.drop(["Mail"])
            try #require(try await world.agent.call("run", "--once").code == 0)
            let target = world.folder.appending("export")
            let failed = try await Self.run(["export", target.string], failing: "syncfs", when: "\(flush)+", in: world)
            #expect(failed.code == 73, "\(failed.messages)")
            let again = try await Self.run(["export", target.string], failing: "syncfs", when: "1+", in: world)
            #expect(again.code == 73 && again.messages.contains("Input/output error"), "\(again.messages)")
            let whole = try await world.agent.call("export", target.string)
            #expect(whole.code == 0, "\(whole.messages)")
            let unchanged = try await Self.run(["export", target.string], failing: "syncfs", when: "1+", in: world)
            #expect(unchanged.code == 73, "\(unchanged.messages)")
        }
    }
}
