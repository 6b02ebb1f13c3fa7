// SPDX-License-Identifier: Apache-2.0
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

@Suite("Lists that vanish for a moment", .serialized)
struct AbsenceTests {
    enum Trigger: CaseIterable {
        case rescan, signal, sync
    }

    @Test("the quiet time of a removal is its own, whoever has the folder looked at", arguments: Trigger.allCases)
    func away(trigger: Trigger) async throws {
        try await World.with { world in
            let world = world.setting("SYNCAGENT_LISTS_SETTLE", "3s").setting("SYNCAGENT_LISTS_SETTLE_MAX", "3s")
                .setting("SYNCAGENT_LISTS_RESCAN", trigger == .rescan ? "200ms" : "1h")
            // A start does not wait for lists to settle.
            try world.drop(["Mail"])
            try await world.agent.whileRunning { agent in
                try await world.published(["Mail"])
                let list = world.agent.lists.appending("apps.plist")
                let aside = world.folder.appending("aside")
                let start = try await world.agent.status { _ in true }.watch.lastScan
                try #require(rename(list.string, aside.string) == 0)
                // The time of the last look is in whole seconds: this takes one at most.
                repeat {
                    if trigger == .signal { try #require(kill(agent.value, SIGHUP) == 0) }
                    if trigger == .sync { try #require(try await world.agent.call("sync").code == 0) }
                } while try await world.agent.status { _ in true }.watch.lastScan == start
                let cache = IconCache(at: world.agent.cache)
                let generation = try cache.manifest().generation
                #expect(try cache.manifest().lists["apps.plist"] != nil)
                try #require(rename(aside.string, list.string) == 0)
                try await world.agent.status { $0.inSync && $0.lists.count == 1 }
                #expect(try cache.manifest().generation == generation)
            }
        }
    }

    @Test("a removal that sync --wait finds is published before it returns")
    func barrier() async throws {
        try await World.with { world in
            let world = world.setting("SYNCAGENT_LISTS_RESCAN", "1h")
            try await world.agent.whileRunning { _ in
                try world.drop(["Mail"])
                try world.drop(["Maps"], as: "other.plist")
                #expect(try await world.agent.call("sync", "--wait").code == 0)
                try world.remove("other.plist")
                #expect(try await world.agent.call("sync", "--wait").code == 0)
                #expect(try IconCache(at: world.agent.cache).manifest().lists.keys.sorted() == ["apps.plist"])
            }
        }
    }

    @Test("a list that is renamed goes on with its downloads, and no manifest is without it")
    func renamed() async throws {
        try await World.with { world in
            let world = world.setting("SYNCAGENT_LISTS_SETTLE", "10ms").setting("SYNCAGENT_LISTS_RESCAN", "1h")
            let path = DemoOrigin.iconPath("Mail")
            world.origin.hold(path)
            try await world.agent.whileRunning { _ in
                try world.drop(["Maps", "Mail"], as: "1.plist")
                try await world.origin.received(1, for: path)
                let cache = IconCache(at: world.agent.cache)
                try await world.agent.status { _ in (try? cache.manifest())?.lists["1.plist"]?.ready == 1 }
                for number in 1..<4 {
                    let lists = world.agent.lists
                    let (old, new) = ("\(number).plist", "\(number + 1).plist")
                    try #require(
                        rename(lists.appending(old).string, lists.appending(new).string) == 0)
                    try await world.agent.status { _ in
                        let names = (try? cache.manifest())?.lists.keys.sorted() ?? []
                        #expect(!names.isEmpty)
                        return names == [ListName(new)]
                    }
                }
                world.origin.release(path)
                try await world.published(["Maps", "Mail"], as: "4.plist")
                #expect(world.origin.requestCount(for: path) == 1)
            }
        }
    }
}
