// SPDX-License-Identifier: Apache-2.0
import DemoOrigin
import Glibc
import IconCache
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
            try await world.agent.whileRunning { agent in
                try world.drop(["Mail"])
                try await world.published(["Mail"])
                let list = world.agent.lists.appending("apps.plist")
                let aside = world.folder.appending("aside")
                try #require(rename(list.string, aside.string) == 0)
                // It is published by a look that finds the other one missing.
                try world.drop(["Maps"], as: "beacon.plist")
                if trigger == .signal { try #require(kill(agent.value, SIGHUP) == 0) }
                if trigger == .sync { try #require(try await world.agent.call("sync").code == 0) }
                let cache = IconCache(at: world.agent.cache)
                try await world.agent.status { _ in (try? cache.manifest())?.lists["beacon.plist"] != nil }
                #expect(try cache.manifest().lists["apps.plist"] != nil)
                try #require(rename(aside.string, list.string) == 0)
                try await world.agent.status { $0.inSync && $0.lists.count == 2 }
                #expect(try cache.manifest().lists.keys.sorted() == ["apps.plist", "beacon.plist"])
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
                        return names == [new]
                    }
                }
                world.origin.release(path)
                try await world.published(["Maps", "Mail"], as: "4.plist")
                #expect(world.origin.requestCount(for: path) == 1)
            }
        }
    }

    @Test("with a wall clock before 1970 a drop is published")
    func early() async throws {
        guard access("/usr/bin/faketime", X_OK) == 0 else {
            print("Skipped: there is no faketime.")
            return
        }
        try await World.with { plain in
            let script = plain.folder.appending("early")
            let file = try FileDescriptor.open(
                script, .writeOnly, options: [.create, .closeOnExec], permissions: .ownerReadWriteExecute)
            let line = "exec faketime -m -f '-80y' '\(BuiltProducts.path("syncagent"))' \"$@\""
            try file.closeAfter { _ = try file.writeAll("#!/bin/sh\n\(line)\n".utf8) }
            var world = plain
            world.agent = AgentProcess(program: script, folder: plain.folder)
            world.agent.environment["FAKETIME_DONT_FAKE_MONOTONIC"] = "1"
            let agent = world
            try await agent.agent.whileRunning { _ in
                for names in [["Mail"], ["Mail", "Maps"]] {
                    try agent.drop(names)
                    try await agent.published(names)
                }
            }
        }
    }
}
