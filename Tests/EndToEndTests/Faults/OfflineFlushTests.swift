// SPDX-License-Identifier: Apache-2.0
import Glibc
import IconCache
import SystemPackage
import TestSupport
import Testing

@testable import SyncAgentCLI

/// What commands do without an agent when the disk does not flush.
@Suite(
    "Failed flushes without an agent", .timeLimit(.minutes(15)),
    .enabled(if: Tool.areInstalled("strace"), "strace is not installed"))
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

    @Test("purge removes no image while the empty generation may not be durable, and says if the state may come back")
    func purge() async throws {
        try await World.with { world in
            try world.drop(["Mail", "Maps"])
            try #require(try await world.agent.call("run", "--once").code == 0)
            let images = try files(in: world.agent.cache.appending("icons"))
            let generations = try files(in: world.agent.cache.appending("generations"))
            try #require(images.count == 2)

            // Before the manifest is replaced, and after.
            for flush in 1...2 {
                let purge = try await Self.run(["purge", "--yes"], failing: "syncfs", when: "\(flush)", in: world)
                #expect(purge.code == 73 && purge.output.isEmpty, "flush \(flush): \(purge.code) \(purge.output)")
                expectContains(purge.messages, "Input/output error", "o image was removed")
                #expect(try files(in: world.agent.cache.appending("icons")) == images, "flush \(flush)")
                // What a power failure may bring back is whole.
                let left = try files(in: world.agent.cache.appending("generations"))
                #expect(Set(left).isSuperset(of: generations), "flush \(flush): \(left)")
            }

            let number = try IconCache(at: world.agent.cache).manifest().generation
            let again = try await world.agent.call("purge", "--yes")
            #expect(again.code == 0 && again.output.hasPrefix("2 images removed."), "\(again.output) \(again.messages)")
            // What may be lost is not relied on: another generation is published.
            #expect(try IconCache(at: world.agent.cache).manifest().generation == number + 1)
            #expect(try files(in: world.agent.cache.appending("icons")).isEmpty)

            try #require(try await world.agent.call("run", "--once").code == 0)
            let ofState = try await Self.run(["purge", "--yes"], failing: "fsync", when: "1+", in: world)
            #expect(ofState.code == 1)
            expectContains(ofState.messages, "Input/output error")
        }
    }

    @Test("verify --repair tells that a repair may be lost, and export fails until every flush has worked")
    func repairAndExport() async throws {
        try await World.with { world in
            try world.drop(["Mail"])
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
            #expect(!repair.messages.contains("Cannot repair"))
            expectContains(repair.messages, "Input/output error")

            // A new folder that may be lost is removed.
            let target = world.folder.appending("export")
            let export = try await Self.run(["export", target.string], failing: "fsync", when: "1", in: world)
            #expect(export.code == 73)
            expectContains(export.messages, "Input/output error")
            #expect(access(target.string, F_OK) != 0 && errno == ENOENT)
            let again = try await world.agent.call("export", target.string)
            #expect(again.code == 0, "\(again.messages)")

            // An export that changes nothing flushes what one before it could not.
            for flush in 1...3 {
                let target = world.folder.appending("export-\(flush)").string
                let failed = try await Self.run(["export", target], failing: "syncfs", when: "\(flush)+", in: world)
                #expect(failed.code == 73, "flush \(flush): \(failed.messages)")
                let second = try await Self.run(["export", target], failing: "syncfs", when: "1+", in: world)
                #expect(second.code == 73, "flush \(flush)")
                expectContains(second.messages, "Input/output error")
                let whole = try await world.agent.call("export", target)
                #expect(whole.code == 0, "flush \(flush): \(whole.messages)")
                let unchanged = try await Self.run(["export", target], failing: "syncfs", when: "1+", in: world)
                #expect(unchanged.code == 73, "flush \(flush): \(unchanged.messages)")
            }
        }
    }
}
