// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import DemoOrigin
import Glibc
import IconCache
import Reports
import Subprocess
import SyncPlan
import Synchronization
import SystemPackage
import TestSupport
import Testing

@testable import SyncAgentCLI

@Suite("What happens to agents", .serialized)
struct AdversityTests {
    @Test("every URL is asked for once, however many lists name it, and not again by the next run")
    func once() async throws {
        try await World.with { world in
            let names = (0..<1000).map { "icon-\($0)" }
            for list in 0..<10 {
                try world.drop(
                    names.enumerated().filter { ($0.offset + list) % 2 == 0 }.map(\.element), as: "\(list).plist")
            }
            let first = try await world.agent.call("run", "--once")
            #expect(first.code == 0, "\(first.messages)")
            #expect(world.origin.requestCount == 1000)
            #expect(try world.expectWholeCache() == 1000)
            let generation = try IconCache(at: world.agent.cache).manifest().generation
            let second = try await world.agent.call("run", "--once")
            #expect(second.code == 0, "\(second.messages)")
            #expect(world.origin.requestCount == 1000)
            #expect(try IconCache(at: world.agent.cache).manifest().generation == generation)
        }
    }

    @Test("a run that has many lists to read, and others to forget, ends, and downloads nothing again")
    func renamed() async throws {
        try await World.with { world in
            for list in 0..<200 { try world.drop(["Mail", "Maps"], as: "old\(list).plist") }
            #expect(try await world.agent.call("run", "--once").code == 0)
            for list in 0..<200 {
                try world.remove("old\(list).plist")
                try world.drop(["Mail", "Maps"], as: "new\(list).plist")
            }
            let run = try await world.agent.call("run", "--once")
            #expect(run.code == 0, "\(run.messages)")
            let lists = try IconCache(at: world.agent.cache).manifest().lists
            #expect(lists.count == 200 && lists.keys.allSatisfy { $0.text.hasPrefix("new") })
            #expect(world.origin.requestCount == 2)
        }
    }

    @Test("a lists folder that is removed suspends eviction, and heals when it is back")
    func folderRemoved() async throws {
        try await World.with { world in
            let world = world.setting("SYNCAGENT_CACHE_GRACE", "0s")
            try await world.agent.whileRunning { _ in
                try world.drop(["Mail"])
                try await world.published(["Mail"])
                try world.remove("apps.plist")
                try #require(rmdir(world.agent.lists.string) == 0)
                let report = try await world.agent.status { $0.eviction.state == "suspended" }
                #expect(report.eviction.reason?.contains(world.agent.lists.string) == true)
                #expect(report.icons.ready == 1)
                #expect(try world.expectWholeCache() == 1)
                #expect(try await world.agent.call("status").code == 1)
                try makeFolder(world.agent.lists)
                try world.drop(["Mail", "Maps"])
                try await world.published(["Mail", "Maps"])
                let healed = try await world.agent.status { $0.watch.isEstablished }
                #expect(healed.eviction.state == "active")
            }
            #expect(world.origin.requestCount == 2)
        }
    }

    @Test("with the origin down nothing that is ready is taken away, and a restart asks for nothing")
    func offline() async throws {
        try await World.with { world in
            try await world.agent.whileRunning { _ in
                try world.drop(["Mail"])
                try await world.published(["Mail"])
                await world.origin.cutOff()
                try world.drop(["Mail", "Maps"])
                let report = try await world.agent.status { $0.icons.failed == 1 }
                #expect(report.icons.ready == 1)
                #expect(report.downloads.waiting + report.downloads.active + report.downloads.queued == 1)
            }
            let status = try await world.agent.call("status")
            #expect(status.code == 3)
            #expect(try await world.agent.call("path", world.origin.iconURL("Mail")).code == 0)
            let failed = try await world.agent.call("path", world.origin.iconURL("Maps"))
            #expect(failed.code == 1)
            #expect(failed.messages.contains("connect"))
            let once = try await world.agent.call("run", "--once")
            #expect(once.code == 1)
            #expect(try world.expectWholeCache() == 1)
        }
    }

    @Test("after kill -9 at any moment the manifest's images are whole, and the next run completes the sync")
    func killed() async throws {
        try await World.with { world in
            let names = (0..<400).map { "icon-\($0)" }
            for (list, part) in stride(from: 0, to: 400, by: 40).enumerated() {
                try world.drop(names[part..<part + 40], as: "\(list).plist")
            }
            for moment in 1...10 {
                // The moment is a number of requests, so that it comes however fast the machine is.
                try await world.agent.whileRunning(endedBy: .kill) { _ in
                    try await world.origin.received(world.origin.requestCount + 4 * moment)
                }
                if access(world.agent.cache.appending("manifest.json").string, F_OK) == 0 {
                    try world.expectWholeCache()
                }
            }
            let run = try await world.agent.call("run", "--once")
            #expect(run.code == 0, "\(run.messages)")
            #expect(try world.expectWholeCache() == 400)
            let images = Set(names.map { Digest.of(IconDrawing($0).png()) })
            #expect(try files(in: world.agent.cache.appending("icons")).count == images.count)
            #expect(try files(in: world.agent.cache.appending("staging")).isEmpty)
        }
    }

    @Test("SIGTERM ends the agent within 2 seconds while downloads hang, and what was downloaded is published")
    func terminated() async throws {
        try await World.with { world in
            let slow = DemoOrigin.iconPath("Slow")
            let names = ["Slow"] + (0..<100).map { "icon-\($0)" }
            world.origin.hold(slow)
            let start = Mutex(ContinuousClock.now)
            try await world.agent.whileRunning { _ in
                try world.drop(names)
                try await world.origin.received(30)
                start.withLock { $0 = .now }
            }
            #expect(ContinuousClock.now - start.withLock(\.self) < .seconds(2))
            // At most fetch.perHost downloads were under way.
            #expect(try world.expectWholeCache() >= world.origin.requestCount - 4)
            #expect(try files(in: world.agent.cache.appending("staging")).isEmpty)
            world.origin.release(slow)
            #expect(try await world.agent.call("run", "--once").code == 0)
            #expect(world.origin.requestCount <= names.count + 4)
            #expect(try world.expectWholeCache() == names.count)
        }
    }
}
