// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import DemoOrigin
import Glibc
import IconCache
import Reports
import SyncPlan
import SystemPackage
import TestSupport
import Testing

@testable import SyncAgentCLI

@Suite("What is removed, and what is kept, by hand")
struct EvictionTests {
    @Test("evict removes what is retired, but not what a reader holds, and names the reader")
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
                #expect(plan.code == 0 && plan.output.contains("a reader holds a lease"), "\(plan.output)")
                let json = try await world.agent.call("evict", "--explain", maps, "--json")
                #expect(json.output.contains(#""goes": false"#) && json.output.contains("\(getpid())"))
                let nothing = try await world.agent.call("evict", "--explain", "")
                #expect(nothing.code == 64 && nothing.messages.contains("''"))
                let held = try await world.agent.call("evict")
                #expect(held.code == 1 && held.output.contains("0 icons evicted, 1 kept:\n"), "\(held.output)")
                snapshot.end()
                // A reader without a lease may be in the middle of what was published before.
                #expect(ContinuousClock.now - start >= .seconds(5))
                let freed = try await world.agent.call("evict")
                #expect(freed.code == 0 && freed.output.contains("1 icon evicted"), "\(freed.output)")
                #expect(try await world.agent.call("path", maps).code == 1)
                try world.expectWholeCache()
            }
        }
    }

    @Test("a list that names most icons, and is removed, is held until it is confirmed; also over a restart")
    func held() async throws {
        try await World.with { world in
            let world = world.setting("SYNCAGENT_CACHE_GRACE", "0s")
            let names = (0..<25).map { "App \($0)" }
            try world.drop(names)
            try await world.agent.whileRunning { _ in
                try await world.published(names)
                try world.remove("apps.plist")
                let status = try await world.agent.status { $0.inSync && $0.lists.isEmpty }
                #expect(status.eviction.state == "held" && status.icons.retired == 25)
                #expect(try await world.agent.call("status").code == 1)
            }
            let stopped = try await world.agent.call("status", "--json")
            #expect(stopped.code == 3 && stopped.output.contains("\"state\": \"held\""), "\(stopped.output)")
            try await world.agent.whileRunning { _ in
                let status = try await world.agent.status { $0.inSync }
                #expect(status.eviction.state == "held" && status.cache.images == 25)
                #expect(try await world.agent.call("evict").code == 1)
                let confirmed = try await world.agent.call("evict", "--confirm")
                #expect(confirmed.code == 0 && confirmed.output.contains("25 icons evicted"), "\(confirmed.output)")
                #expect(try await world.agent.call("status").code == 0)
            }
            #expect(try files(in: world.agent.cache.appending("icons")).isEmpty)
        }
    }

    @Test("what a change retired is held until it is confirmed, although other images were lost; also over a restart")
    func heldAfterLosses() async throws {
        try await World.with { world in
            let world = world.setting("SYNCAGENT_CACHE_GRACE", "0s")
            let lists = ["lost": 50, "gone": 40, "kept": 10].mapValues { 0..<$0 }
            for (list, numbers) in lists { try world.drop(numbers.map { "\(list) \($0)" }, as: "\(list).plist") }
            try await world.agent.whileRunning { _ in
                try await world.agent.status { $0.inSync && $0.icons.ready == 100 }
            }
            for number in 0..<50 {
                let name = "lost \(number)"
                let link = world.agent.cache.appending(CacheLayout.byURL(IconURL(world.origin.iconURL(name)))).string
                let image = try await world.agent.call("path", world.origin.iconURL(name)).output.dropLast()
                try #require(unlink(link) == 0 && unlink(String(image)) == 0)
                world.origin.respond(to: DemoOrigin.iconPath(name), with: OriginReply(status: 404))
            }
            try await world.agent.whileRunning { _ in
                try await world.agent.status { $0.inSync && $0.icons.failed == 50 && $0.cache.images == 50 }
                try world.remove("gone.plist")
                let held = try await world.agent.status { $0.inSync && $0.lists.count == 2 }
                #expect(held.eviction.state == "held" && held.icons.retired == 40, "\(held.json.line)")
                for _ in 0..<3 {
                    #expect(try await world.agent.call("sync", "--wait").code == 1)
                    #expect(try await world.agent.call("evict").code == 1)
                }
                let still = try await world.agent.status { $0.inSync }
                #expect(still.eviction.state == "held" && still.icons.retired == 40, "\(still.json.line)")
            }
            try await world.agent.whileRunning { _ in
                let status = try await world.agent.status { $0.inSync }
                #expect(status.eviction.state == "held" && status.cache.images == 50, "\(status.json.line)")
                #expect(try await world.agent.call("evict", "--confirm").output.contains("40 icons evicted"))
                try await world.agent.status { $0.inSync && $0.eviction == .active && $0.cache.images == 10 }
            }
        }
    }

    @Test("a pinned icon is kept when its list goes, and goes when it is unpinned")
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
                #expect(
                    pins.code == 0 && pins.output.contains(url) && !pins.output.contains("rejected"), "\(pins.output)")
                #expect(try await world.agent.call("unpin", url).code == 0)
                try await world.agent.status { $0.inSync && $0.icons.retired == 0 && $0.icons.ready == 0 }
                #expect(try await world.agent.call("path", url).code == 1)
            }
            #expect(world.origin.requestCount == 2)
        }
    }

    @Test("pin says what became of the icon: 1 if it cannot be downloaded, 0 if that is still to come")
    func failingPins() async throws {
        try await World.with { world in
            let base = world.origin.baseURL
            world.origin.respond(to: "/gone.png", with: OriginReply(status: 404))
            try await world.agent.whileRunning { _ in
                let gone = try await world.agent.call("pin", "\(base)/gone.png?key=s3cr3t")
                #expect(gone.code == 1, "\(gone.messages)")
                let beginning =
                    "syncagent: \(base)/gone.png?… is pinned, but could not be downloaded: the server answered 404 "
                #expect(gone.messages.hasPrefix(beginning + "[http-404]. Next: retry in "), "\(gone.messages)")
                let refused = try await world.agent.call("pin", "http://10.0.0.1/a.png")
                #expect(refused.code == 1 && refused.messages.contains("[address-refused]"), "\(refused.messages)")
                let pinned = try await world.agent.call("pin", world.origin.iconURL("Mail"))
                #expect(
                    pinned.code == 0 && pinned.output.hasPrefix("Pinned ") && pinned.messages.isEmpty,
                    "\(pinned.messages)")
                try #require(try await world.agent.call("pause").code == 0)
                let later = try await world.agent.call("pin", world.origin.iconURL("Maps"))
                #expect(
                    later.code == 0 && later.messages.contains("is pinned, but not ready yet: "), "\(later.messages)")
                let pins = try await world.agent.call("list", "pins", "--json").output
                #expect(try AppListDocument(json: Array(pins.utf8)).apps.count == 4)
            }
        }
    }
}
