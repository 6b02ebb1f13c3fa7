// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import Glibc
import IconCache
import Reports
import Subprocess
import SyncPlan
import SystemPackage
import TestSupport
import Testing

@testable import SyncAgentCLI

@Suite("A cache that is emptied under a running agent", .timeLimit(.minutes(15)), .serialized)
struct EmptiedCacheTests {
    /// What is removed, as shell scripts in the cache folder; no two that follow one another need the same repair.
    private static let removals = [
        "rm -rf ./*", "rm -rf icons", #"d=$PWD; cd ..; rm -rf "$d""#, "rm -rf lists", "rm -rf icons/*",
        "rm -rf generations", "rm -rf by-url", #"d=$PWD; cd ..; mv "$d" aside; mkdir "$d""#, "rm manifest.json",
        #"rm "$(grep -o 'lists/[0-9a-f]*\.json' manifest.json | head -n 1)""#,
    ]

    @Test("a cache that is emptied in any way is whole again after a rescan, without a restart, and status says so")
    func healed() async throws {
        try await World.with { world in
            let world = world.setting("SYNCAGENT_LISTS_RESCAN", "100ms").setting("SYNCAGENT_LISTS_SETTLE", "10ms")
            let (cache, folder) = (world.agent.cache, world.folder)
            try await world.agent.whileRunning { agent in
                try world.drop(["Mail", "Maps", "Photos"])
                try world.drop(["Music"], as: "more.plist")
                try await world.agent.status { $0.inSync && $0.icons.ready == 4 }
                // A file that is no list: its last good version is in memory alone.
                try world.agent.drop("", as: "more.plist")
                try await world.agent.status { $0.lists.contains { $0.state == "last-good" } }

                try await Tool.run("rm", "-rf", cache.appending("staging").string)
                try await world.expectHealed(after: "rm -rf staging", with: "Notes")
                try await Tool.run("cp", "-a", cache.string, folder.appending("copy").string)
                try cache.move(to: folder.appending("original"))
                try folder.appending("copy").move(to: cache)
                try await world.expectHealed(after: "a copy in its place", with: "News")
                #expect(try await world.agent.status { _ in true }.cache.lastRepair == nil)

                for (number, script) in Self.removals.enumerated() {
                    let before = try await world.agent.status { _ in true }.cache.lastRepair
                    // The agent may make folders again while rm is still at it, which rm calls an error.
                    _ = try await Program.run("sh", "-c", "cd '\(cache)'; \(script)")
                    try await world.expectHealed(after: script, with: "icon-\(number)")
                    let repair = try await world.agent.status { _ in true }.cache.lastRepair
                    #expect(repair != before, "\(script): \(repair ?? "nothing")")
                }
                #expect(kill(agent.value, 0) == 0)
            }
            // What superseded generations name stays for its grace.
            #expect(try !CacheCheck(cache).strays().contains { $0.hasPrefix("staging/") })
        }
    }

    @Test("a cache that is emptied is found out by the next list, and a removed lock file keeps the second agent out")
    func beforeRescan() async throws {
        try await World.with { world in
            let world = world.setting("SYNCAGENT_LISTS_RESCAN", "1h")
            try await world.agent.whileRunning { agent in
                try world.drop(["Mail", "Maps"])
                try await world.published(["Mail", "Maps"])
                try #require(unlink(world.agent.cache.appending("lock").string) == 0)
                let second = try await world.agent.call("run")
                #expect(second.code == 75)
                expectContains(second.messages, "process \(agent.value)")

                _ = try await Program.run("sh", "-c", "rm -rf '\(world.agent.cache)'/*")
                try world.drop(["Music"], as: "more.plist")
                try await world.agent.status { [cache = world.agent.cache] report in
                    if report.generation != nil, access(cache.appending("manifest.json").string, F_OK) == 0 {
                        #expect(CacheCheck(cache).damages.isEmpty)
                    }
                    return report.inSync && report.icons.ready == 3
                }
                #expect(try world.expectWholeCache() == 3)
            }
        }
    }

    @Test("an older copy of the cache in its place is adopted with its generations, and gets the present lists")
    func olderCopy() async throws {
        try await World.with { world in
            let world = world.setting("SYNCAGENT_LISTS_RESCAN", "100ms")
            let cache = IconCache(at: world.agent.cache)
            try await world.agent.whileRunning { agent in
                try world.drop(["Mail", "Maps"])
                try await world.published(["Mail", "Maps"])
                let old = try cache.manifest().generation
                try await Tool.run("cp", "-a", world.agent.cache.string, world.folder.appending("copy").string)
                try world.drop(["Mail", "Music"])
                try await world.published(["Mail", "Music"])
                let newest = try cache.manifest().generation
                try world.agent.cache.move(to: world.folder.appending("aside"))
                try world.folder.appending("copy").move(to: world.agent.cache)
                try await world.agent.status { report in
                    let generation = try? cache.manifest().generation
                    return report.inSync && report.icons.ready == 2 && generation ?? 0 > newest
                }
                #expect(try cache.document(of: "apps.plist")?.apps.map(\.name) == ["Mail", "Music"])
                #expect(try world.expectWholeCache() == 2)
                // What the copy named has its grace.
                #expect(access(world.agent.cache.appending(CacheLayout.generation(old)).string, F_OK) == 0)
                #expect(kill(agent.value, 0) == 0)
            }
            let run = try await world.agent.call("run", "--once")
            #expect(run.code == 0, "\(run.messages)")
        }
    }
}

extension World {
    /// Waits until the cache is whole again with four icons, one of them new.
    fileprivate func expectHealed(after removal: String, with name: String) async throws {
        let wanted = ["icons", "lists", "generations", "by-url", "staging", "lock", "CACHEDIR.TAG"]
        var check = CacheCheck(agent.cache)
        do {
            try await waitUntil {
                check = CacheCheck(agent.cache)
                let isThere = wanted.allSatisfy { access(agent.cache.appending($0).string, F_OK) == 0 }
                guard check.damages.isEmpty, check.images.count == 4, isThere else { return false }
                return try await agent.status { _ in true }.inSync
            }
        } catch is WaitTimeout {
            Issue.record("not healed after \(removal): \(check.damages), \(check.images.count) images")
        }
        // What comes later is published, too.
        let names = ["Mail", "Maps", name]
        try drop(names)
        try await published(names)
        #expect(try expectWholeCache() == 4, "\(removal)")
    }
}
