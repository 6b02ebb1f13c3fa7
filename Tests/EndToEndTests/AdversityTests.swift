// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import DemoOrigin
import Glibc
import IconCache
import Reports
import Subprocess
import SyncPlan
import SystemPackage
import TestSupport
import Testing

@testable import SyncAgentCLI

@Suite("An agent in adversity", .timeLimit(.minutes(15)), .serialized)
struct AdversityTests {
    @Test("an agent asks for every URL once, however many lists name it, and not again after a restart or a rename")
    func once() async throws {
        try await World.with { world in
            let names = (0..<100).map { "icon-\($0)" }
            func drop(_ prefix: String) throws {
                for list in 0..<60 {
                    let named = names.enumerated().filter { ($0.offset + list) % 2 == 0 }.map(\.element)
                    try world.drop(named, as: "\(prefix)\(list).plist")
                }
            }
            try drop("old")
            let first = try await world.agent.call("run", "--once")
            #expect(first.code == 0, "\(first.messages)")
            #expect(world.origin.requestCount == 100)
            #expect(try world.expectWholeCache() == 100)
            let cache = IconCache(at: world.agent.cache)
            let generation = try cache.manifest().generation
            let second = try await world.agent.call("run", "--once")
            #expect(second.code == 0, "\(second.messages)")
            #expect(try cache.manifest().generation == generation)

            // A run that has many lists to read, and as many to forget, ends.
            for list in 0..<60 { try world.remove("old\(list).plist") }
            try drop("new")
            let renamed = try await world.agent.call("run", "--once")
            #expect(renamed.code == 0, "\(renamed.messages)")
            let lists = try cache.manifest().lists
            #expect(lists.count == 60 && lists.keys.allSatisfy { $0.text.hasPrefix("new") })
            #expect(world.origin.requestCount == 100)
        }
    }

    @Test("an origin that is down takes no ready icon away, whether the agent runs, is stopped, or starts")
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
            expectContains(failed.messages, "connect")
            let once = try await world.agent.call("run", "--once")
            #expect(once.code == 1)
            #expect(try world.expectWholeCache() == 1)
        }
    }

    @Test("kill -9 at any moment leaves the manifest's images whole, and the next run completes the sync")
    func killed() async throws {
        try await World.with { world in
            let names = (0..<120).map { "icon-\($0)" }
            for (list, part) in stride(from: 0, to: 120, by: 20).enumerated() {
                try world.drop(names[part..<part + 20], as: "\(list).plist")
            }
            for moment in 1...5 {
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
            #expect(try world.expectWholeCache() == 120)
            let images = Set(names.map { Digest.of(IconDrawing($0).png()) })
            #expect(try files(in: world.agent.cache.appending("icons")).count == images.count)
            #expect(try files(in: world.agent.cache.appending("staging")).isEmpty)
        }
    }

    @Test("SIGTERM ends an agent while downloads hang, and publishes the downloaded images")
    func terminated() async throws {
        try await World.with { plain in
            // No download ends by itself.
            let world = plain.setting("SYNCAGENT_FETCH_IDLE_TIMEOUT", "1h")
                .setting("SYNCAGENT_FETCH_TOTAL_TIMEOUT", "1h")
            let slow = TestOrigin.iconPath("Slow")
            let names = ["Slow"] + (0..<40).map { "icon-\($0)" }
            world.origin.hold(slow)
            try await world.agent.whileRunning { _ in
                try world.drop(names)
                try await world.origin.received(for: slow)
                try await world.origin.received(20)
            }
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
