// SPDX-License-Identifier: Apache-2.0
import DemoOrigin
import Glibc
import IconCache
import SystemPackage
import TestSupport
import Testing

@testable import SyncAgentCLI

/// The power fails while lists change without a pause, in a file system of its own.
///
/// `POWER_CUTS` in the environment is how often it does for each row; once without it.
@Suite(
    "Power cuts", .timeLimit(.minutes(15)), .serialized, .enabled(if: geteuid() == 0, "only root mounts file systems"))
struct PowerCutTests {
    private static let cuts = environmentNumber("POWER_CUTS") ?? 1
    private static let rows = Volume.Kind.allCases.flatMap { kind in [true, false].map { (kind, $0) } }

    @Test("a publication survives a power cut whole, and the next run completes the sync", arguments: rows)
    func churn(on kind: Volume.Kind, withState: Bool) async throws {
        try await World.with(kind, state: withState) { world, volume in
            let world = world.setting("SYNCAGENT_CACHE_GRACE", "10ms").setting("SYNCAGENT_EVICTION_HOLD_ABOVE", "100%")
            // Files of many pages too.
            for number in stride(from: 0, to: 40, by: 4) {
                world.origin.respond(
                    to: TestOrigin.iconPath("icon-\(number)"),
                    with: .icon(IconDrawing("icon-\(number)", paddedTo: 100_000)))
            }
            var published = 0
            var synced = 0
            for cut in 0..<Self.cuts {
                if cut.isMultiple(of: 5) {
                    try await world.empty(volume)
                    // Half of the rows begin with a cache in use.
                    if withState {
                        _ = try world.dropAny()
                        #expect(try await world.agent.call("run", "--once").code == 0)
                    }
                }
                let before = CacheCheck(world.agent.cache).generation ?? 0
                let moment = Duration.milliseconds(Int.random(in: 0..<800))
                let acknowledged = try await world.cutPower(
                    of: volume, after: moment, onceAcknowledged: withState == cut.isMultiple(of: 2))
                try await volume.restorePower()
                let found = CacheCheck(world.agent.cache)
                #expect(found.damages.isEmpty, "cut \(cut), after \(moment)")
                #expect(found.generation ?? 0 >= acknowledged.generation, "cut \(cut), after \(moment)")
                let isKept = try acknowledged.isKept(in: IconCache(at: world.agent.cache))
                #expect(isKept, "cut \(cut), after \(moment)")
                published += max(acknowledged.generation - before, 0)
                synced += acknowledged.synced

                let names = try world.dropAny()
                let run = try await world.setting("SYNCAGENT_CACHE_GRACE", "0s").agent.call("run", "--once")
                #expect(run.code == 0, "\(run.messages)")
                let end = CacheCheck(world.agent.cache)
                let wrong = try end.damages + end.strays()
                #expect(wrong.isEmpty)
                #expect(Set(end.images.keys) == Set(names.map { IconURL(world.origin.iconURL($0)) }))
            }
            #expect(!withState || synced > 0)
            let state = withState ? "beside the cache" : "elsewhere"
            print(
                "\(kind), state \(state): \(Self.cuts) cuts, after \(published) publications and \(synced) lists that"
                    + " sync --wait acknowledged")
        }
    }

    @Test(
        "run --once ends when its generation is durable, also one that a killed run left; a skipped barrier is seen",
        .enabled(if: Tool.areInstalled("strace"), "strace is not installed"), arguments: Volume.Kind.allCases)
    func once(on kind: Volume.Kind) async throws {
        try await World.with(kind) { world, volume in
            for names in [["Mail", "Maps"], ["Maps", "Music"]] {
                try world.drop(names)
                let run = try await world.agent.call("run", "--once")
                #expect(run.code == 0, "\(run.messages)")
                try await volume.failPower()
                let found = CacheCheck(world.agent.cache)
                #expect(found.damages.isEmpty && found.images.count == 2, "\(found.damages)")
            }

            try world.drop(["Mail"])
            #expect(try await world.agent.call("run", "--once").code == 0)
            let before = try #require(CacheCheck(world.agent.cache).generation)
            try world.drop(["Mail", "Photos"])
            // The second time this is done, the manifest has just been replaced, and nothing flushed yet.
            let point = FaultPoint("unlinkat", on: "staging/publication", in: world.agent.cache, number: 2)
            let log = world.folder.appending("trace")
            let killed = try world.traced(by: Fault.kill.options(at: point), log: log)
            #expect(try await killed.call("run", "--once").code == 128 + SIGKILL)
            #expect(try #require(CacheCheck(world.agent.cache).generation) > before)
            #expect(try await world.agent.call("run", "--once").code == 0)
            try await volume.failPower()
            let found = CacheCheck(world.agent.cache)
            #expect(found.damages.isEmpty && found.images.count == 2, "\(found.damages)")

            // Without the barrier there is damage, so that the above says something.
            try world.drop(["News", "Notes"])
            let careless = try world.traced(by: ["-e", "trace=syncfs", "-e", "inject=syncfs:retval=0"], log: log)
            #expect(try await careless.call("run", "--once").code == 0)
            try volume.writeJournal()
            try await volume.failPower()
            #expect(!CacheCheck(world.agent.cache).damages.isEmpty)
        }
    }
}
