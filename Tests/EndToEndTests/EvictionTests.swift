// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import Glibc
import IconCache
import Reports
import SyncPlan
import SystemPackage
import TestSupport
import Testing

@testable import SyncAgentCLI

@Suite("Eviction and pins by hand", .timeLimit(.minutes(15)))
struct EvictionTests {
    @Test("evict removes retired images, but not those under a lease, whose reader it names")
    func evict() async throws {
        try await World.with { world in
            try world.drop(["Mail", "Maps"])
            try await world.agent.whileRunning { _ in
                try await world.published(["Mail", "Maps"])
                try #require(try await world.agent.call("evict", "--dry-run").output.contains("No image is retired"))
                let snapshot = try IconCache(at: world.agent.cache).snapshot()
                let start = ContinuousClock.now
                try world.drop(["Mail"])
                try await world.published(["Mail"])
                let maps = world.origin.iconURL("Maps")
                let plan = try await world.agent.call("evict", "--explain", maps)
                #expect(plan.code == 0)
                expectContains(plan.output, "a reader holds a lease")
                let json = try await world.agent.call("evict", "--explain", maps, "--json")
                expectContains(json.output, #""goes": false"#, "\(getpid())")
                let nothing = try await world.agent.call("evict", "--explain", "")
                #expect(nothing.code == 64 && nothing.messages.contains("''"))
                let held = try await world.agent.call("evict")
                #expect(held.code == 1)
                expectContains(
                    held.output, "\nno         1  a reader holds a lease",
                    "\n0 icons evicted, 1 kept. To see all URLs: syncagent evict --dry-run --all --socket ")
                #expect(!held.output.contains(maps))
                let all = try await world.agent.call("evict", "--dry-run", "--all")
                expectContains(all.output, maps, "\n0 icons would be evicted, 1 would stay.\n")
                snapshot.end()
                // A reader without a lease may be in the middle of what was published before.
                #expect(ContinuousClock.now - start >= .seconds(5))
                let freed = try await world.agent.call("evict")
                #expect(freed.code == 0)
                expectContains(freed.output, "1 icon evicted")
                #expect(try await world.agent.call("path", maps).code == 1)
                try world.expectWholeCache()
            }
        }
    }

    @Test("a change that retires most images is held until evict --confirm, also over a restart")
    func held() async throws {
        try await World.with { world in
            let world = world.setting("SYNCAGENT_CACHE_GRACE", "0s")
            // One more than the default of eviction.holdAbove.
            let names = (0..<21).map { "App \($0)" }
            try world.drop(names)
            try await world.agent.whileRunning { _ in
                try await world.published(names)
                try world.remove("apps.plist")
                let status = try await world.agent.status { $0.inSync && $0.lists.isEmpty }
                #expect(status.eviction.state == "held" && status.icons.retired == 21)
                #expect(try await world.agent.call("status").code == 1)
            }
            let stopped = try await world.agent.call("status", "--json")
            #expect(stopped.code == 3)
            expectContains(stopped.output, "\"state\": \"held\"")
            try await world.agent.whileRunning { _ in
                let status = try await world.agent.status { $0.inSync }
                #expect(status.eviction.state == "held" && status.cache.images == 21)
                #expect(try await world.agent.call("evict").code == 1)
                let confirmed = try await world.agent.call("evict", "--confirm")
                #expect(confirmed.code == 0)
                expectContains(confirmed.output, "21 icons evicted")
                #expect(try await world.agent.call("status").code == 0)
            }
            #expect(try files(in: world.agent.cache.appending("icons")).isEmpty)
        }
    }

    @Test("a pinned icon is kept when its list is removed, also over a restart, and retired when it is unpinned")
    func pins() async throws {
        try await World.with { world in
            let world = world.setting("SYNCAGENT_CACHE_GRACE", "0s")
            let url = world.origin.iconURL("Mail")
            try world.drop(["Mail", "Maps"])
            #expect(try await world.agent.call("pin", url).code == 69)
            try await world.agent.whileRunning { _ in
                try await world.published(["Mail", "Maps"])
                #expect(try await world.agent.call("pin", "file:///etc/passwd").code == 64)
                #expect(try await world.agent.call("pin", url).code == 0)
                try world.remove("apps.plist")
                try await world.agent.status { $0.inSync && $0.icons.retired == 0 && $0.icons.ready == 1 }
                #expect(try await world.agent.call("path", url).code == 0)
            }
            try await world.agent.whileRunning { _ in
                try await world.agent.status { $0.inSync && $0.icons.ready == 1 }
                let pins = try await world.agent.call("list", "pins")
                #expect(pins.code == 0 && !pins.output.contains("rejected"))
                expectContains(pins.output, url)
                #expect(try await world.agent.call("unpin", url).code == 0)
                try await world.agent.status { $0.inSync && $0.icons.retired == 0 && $0.icons.ready == 0 }
                #expect(try await world.agent.call("path", url).code == 1)

                #expect(try await world.agent.call("pin", "--wait", url).code == 0)
                try #require(rename(world.agent.lists.string, world.folder.appending("away").string) == 0)
                try await world.agent.status { $0.eviction.state == .suspended }
                let unpin = try await world.agent.call("unpin", url)
                expectContains(unpin.output, "its image stays: eviction is suspended: ")
            }
            #expect(world.origin.requestCount == 3)
        }
    }

    @Test("pin ends with 1 if the icon cannot be downloaded, with 0 if the download is to come; resume counts those")
    func failingPins() async throws {
        try await World.with { world in
            let base = world.origin.baseURL
            let maps = world.origin.iconURL("Maps")
            world.origin.respond(to: "/gone.png", with: OriginReply(status: 404))
            world.origin.hold(TestOrigin.iconPath("Maps"))
            try await world.agent.whileRunning { _ in
                let gone = try await world.agent.call("pin", "\(base)/gone.png?key=s3cr3t")
                #expect(gone.code == 1)
                let beginning =
                    "syncagent: \(base)/gone.png?… is pinned, but could not be downloaded: the server answered 404 "
                #expect(gone.messages.hasPrefix(beginning + "[http-404]. Next: retry in "), "\(gone.messages)")
                let refused = try await world.agent.call("pin", "http://10.0.0.1/a.png")
                #expect(refused.code == 1)
                expectContains(refused.messages, "[address-refused]")
                let pinned = try await world.agent.call("pin", world.origin.iconURL("Mail"))
                #expect(pinned.code == 0 && pinned.output.hasPrefix("Pinned ") && pinned.messages.isEmpty, "\(pinned)")
                try #require(try await world.agent.call("pause").code == 0)
                let later = try await world.agent.call("pin", maps)
                #expect(later.code == 0)
                expectContains(later.messages, "is pinned, but not ready yet: ")
                let pins = try await world.agent.call("list", "pins", "--json").output
                #expect(try AppListDocument(json: Array(pins.utf8)).apps.count == 4)

                #expect(try await world.agent.call("resume").output == "Downloads are resumed: 1 icon to download.\n")
                world.origin.release(TestOrigin.iconPath("Maps"))
                let waited = try await world.agent.call("pin", "--wait", maps)
                #expect(waited.output == "Pinned \(maps): the icon is ready.\n")
            }
        }
    }
}
