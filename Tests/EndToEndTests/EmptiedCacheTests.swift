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

@Suite("A cache that is emptied under a running agent", .serialized)
struct EmptiedCacheTests {
    /// What is removed, as shell scripts in the cache folder.
    static let deeds = [
        "rm -rf ./*", "rm -rf icons", "rm -rf icons/*", "rm -rf lists", "rm -rf generations", "rm -rf by-url",
        "rm -rf staging", "rm manifest.json", #"rm "$(grep -o 'lists/[0-9a-f]*\.json' manifest.json | head -n 1)""#,
        #"d=$PWD; cd ..; rm -rf "$d""#, #"d=$PWD; cd ..; mv "$d" aside; mkdir "$d""#,
        #"d=$PWD; cd ..; mv "$d" aside; cp -a aside "$d""#,
    ]

    @Test("it is whole again after a rescan, without a restart, and it is said", arguments: deeds)
    func healed(deed: String) async throws {
        try await World.with { world in
            let world = world.setting("SYNCAGENT_LISTS_RESCAN", "500ms")
            try await world.agent.whileRunning { agent in
                try world.drop(["Mail", "Maps"])
                try world.drop(["Music"], as: "more.plist")
                try await world.agent.status { $0.inSync && $0.icons.ready == 3 }
                // A file that is no list: its last good version is in memory alone.
                try world.agent.drop("", as: "more.plist")
                try await world.agent.status { $0.lists.contains { $0.state == "last-good" } }
                // The agent may make folders again while rm is still at it, which rm calls an error.
                _ = try await Program.run("sh", "-c", "cd '\(world.agent.cache)'; \(deed)")
                try await world.healed()
                let needsWords = deed != "rm -rf staging" && !deed.hasSuffix("cp -a aside \"$d\"")
                let repair = try await world.agent.status { _ in true }.cache.lastRepair
                #expect((repair != nil) == needsWords, "\(deed): \(repair ?? "nothing")")
                // What comes later is published, too.
                try world.drop(["Mail", "Maps", "Photos"])
                try await world.agent.status { $0.inSync && $0.icons.ready == 4 }
                #expect(try world.expectWholeCache() == 4)
                #expect(kill(agent.value, 0) == 0)
            }
            // What superseded generations name stays for its grace.
            #expect(try !CacheCheck(world.agent.cache).strays().contains { $0.hasPrefix("staging/") })
        }
    }

    @Test("one more list finds it out before it is published, however long the next rescan takes")
    func listAfterwards() async throws {
        try await World.with { world in
            let world = world.setting("SYNCAGENT_LISTS_RESCAN", "1h")
            try await world.agent.whileRunning { _ in
                try world.drop(["Mail", "Maps"])
                try await world.published(["Mail", "Maps"])
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

    @Test("an agent whose lock file was removed keeps the second one out, and one in another place of it too")
    func locked() async throws {
        try await World.with { world in
            let world = world.setting("SYNCAGENT_LISTS_RESCAN", "1h")
            try await world.agent.whileRunning { agent in
                try await world.agent.status { $0.watch.lastScan != nil }
                try #require(unlink(world.agent.cache.appending("lock").string) == 0)
                let second = try await world.agent.call("run")
                #expect(second.code == 75 && second.messages.contains("process \(agent.value)"), "\(second.messages)")
            }
        }
    }

    @Test("an older copy of the cache in its place is taken up, with its generations, and has the lists as they are")
    func olderCopy() async throws {
        try await World.with { world in
            let world = world.setting("SYNCAGENT_LISTS_RESCAN", "500ms")
            let cache = IconCache(at: world.agent.cache)
            try await world.agent.whileRunning { agent in
                try world.drop(["Mail", "Maps"])
                try await world.published(["Mail", "Maps"])
                let old = try cache.manifest().generation
                try await Tool.run("cp", "-a", world.agent.cache.string, world.folder.appending("copy").string)
                try world.drop(["Mail", "Music"])
                try await world.published(["Mail", "Music"])
                let newest = try cache.manifest().generation
                let replace = "cd '\(world.folder)'; mv '\(world.agent.cache)' aside; mv copy '\(world.agent.cache)'"
                try #require(try await Program.run("sh", "-ec", replace).code == 0)
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
    /// Returns when everything that three icons need is in the cache again.
    fileprivate func healed() async throws {
        let names = ["icons", "lists", "generations", "by-url", "staging", "lock", "CACHEDIR.TAG"]
        var check = CacheCheck(agent.cache)
        do {
            try await waitUntil {
                check = CacheCheck(agent.cache)
                let isThere = names.allSatisfy { access(agent.cache.appending($0).string, F_OK) == 0 }
                guard check.damages.isEmpty, check.images.count == 3, isThere else { return false }
                return try await agent.status { _ in true }.inSync
            }
        } catch is WaitTimeout {
            Issue.record("not healed: \(check.damages), \(check.images.count) images")
        }
    }
}
