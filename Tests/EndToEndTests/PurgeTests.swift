// SPDX-License-Identifier: Apache-2.0
import DemoOrigin
import Glibc
import IconCache
import Reports
import SyncPlan
import SystemPackage
import TestSupport
import Testing

@testable import SyncAgentCLI

@Suite("Everything but the lists is purged")
struct PurgeTests {
    @Test("by a running agent, which downloads it anew; without a terminal and --yes nothing is done")
    func running() async throws {
        try await World.with { world in
            try world.drop(["Mail", "Maps"])
            try await world.agent.whileRunning { _ in
                try await world.published(["Mail", "Maps"])
                let refused = try await world.agent.call("purge")
                #expect(refused.code == 64 && refused.messages.contains("--yes"), "\(refused.messages)")
                let generation = try #require(try await world.agent.status { $0.inSync }.generation)
                let purge = try await world.agent.call("purge", "--yes")
                #expect(purge.code == 0 && purge.messages.isEmpty, "\(purge.messages)")
                try await world.agent.status { ($0.generation ?? 0) > generation + 1 && $0.inSync }
                try await world.published(["Mail", "Maps"])
                let whole = try world.expectWholeCache()
                #expect(whole == 2)
            }
        }
    }

    @Test(
        "what cannot be removed is told, with exit code 1 and an event",
        .enabled(if: geteuid() == 0 && Tool.areInstalled("chattr"), "takes root and chattr"),
        arguments: ["generations", "icons/*"])
    func immutable(path: String) async throws {
        try await World.with { world in
            try world.drop(["Mail", "Maps"])
            try await world.agent.whileRunning { _ in
                try await world.published(["Mail", "Maps"])
                let cache = world.agent.cache
                let folders =
                    path == "generations"
                    ? [cache.appending(path)]
                    : Set(try files(in: cache.appending("icons")).map { $0.prefix(2) }).map {
                        cache.appending("icons/\($0)")
                    }
                for folder in folders {
                    do {
                        try await Tool.run("chattr", "+i", folder.string)
                    } catch {
                        try Test.cancel("this file system has no immutable folders")
                    }
                }
                let purge = try await world.agent.call("purge", "--yes")
                let events = try await world.agent.call("events", "--limit", "50").output
                for folder in folders { try await Tool.run("chattr", "-i", folder.string) }
                #expect(purge.code == 1 && purge.output.isEmpty, "\(purge.output)")
                #expect(purge.messages.contains("Partly purged: "), "\(purge.messages)")
                #expect(purge.messages.contains("Operation not permitted"), "\(purge.messages)")
                #expect(events.contains("purge-failed") && !events.contains("Purged: "), "\(events)")
                let again = try await world.agent.call("purge", "--yes")
                #expect(again.code == 0, "\(again.messages)")
                try await world.published(["Mail", "Maps"])
            }
        }
    }

    @Test("of a stopped agent: lists, other files and the numbers of generations stay")
    func stopped() async throws {
        try await World.with { world in
            // The first generation is empty.
            #expect(try await world.agent.call("run", "--once").code == 0)
            try world.drop(["Mail", "Maps"])
            try await world.agent.whileRunning { _ in
                try await world.published(["Mail", "Maps"])
                _ = try await world.agent.call("pause")
            }
            let cache = world.agent.cache
            let generation = try IconCache(at: cache).manifest().generation
            let foreign = cache.appending("icons/notes.txt")
            try #require(mknod(foreign.string, S_IFREG | 0o644, 0) == 0)
            let purge = try await world.agent.call("purge", "--yes")
            #expect(purge.code == 0 && purge.output.hasPrefix("2 images removed."), "\(purge.output) \(purge.messages)")
            let left = try files(in: cache)
            #expect(
                left == [
                    "CACHEDIR.TAG", "generations/\(generation + 1).json", "icons/notes.txt", "lock", "manifest.json",
                ])
            #expect(try files(in: world.agent.lists) == ["apps.plist"])
            #expect(try await world.agent.call("purge", "--yes").output.hasPrefix("0 images removed."))
            try await world.agent.whileRunning { _ in
                try await world.published(["Mail", "Maps"])
                #expect(try await world.agent.status { $0.pid != nil }.state == .running)
            }
            try world.expectWholeCache()
        }
    }

    @Test(
        "of a stopped agent: what a generation names that cannot be removed stays",
        .enabled(if: geteuid() == 0 && Tool.areInstalled("chattr"), "takes root and chattr"))
    func unremovable() async throws {
        try await World.with { world in
            for apps in [["Mail"], ["Mail", "Maps"]] {
                try world.drop(apps)
                #expect(try await world.agent.call("run", "--once").code == 0)
            }
            let generations = world.agent.cache.appending("generations")
            let newest = try IconCache(at: world.agent.cache).manifest().generation
            let older = try files(in: generations).filter { $0 != "\(newest).json" }
            try #require(!older.isEmpty)
            for file in older {
                do {
                    try await Tool.run("chattr", "+i", generations.appending(file).string)
                } catch {
                    try Test.cancel("this file system has no immutable files")
                }
            }
            let result = try? await world.agent.call("purge", "--yes")
            for file in older { try await Tool.run("chattr", "-i", generations.appending(file).string) }
            let purge = try #require(result)
            #expect(purge.code == 1 && purge.messages.contains("Operation not permitted"), "\(purge.messages)")
            #expect(try files(in: world.agent.cache.appending("icons")).count == 1)
            #expect(try await world.agent.call("purge", "--yes").output.hasPrefix("1 image removed."))
        }
    }

    @Test("what a reader holds a lease on stays until the lease ends")
    func lease() async throws {
        try await World.with { world in
            try world.drop(["Mail"])
            try await world.agent.whileRunning { _ in try await world.published(["Mail"]) }
            let snapshot = try IconCache(at: world.agent.cache).snapshot()
            let purge = try await world.agent.call("purge", "--yes")
            #expect(purge.code == 0 && purge.output.hasPrefix("0 images removed."), "\(purge.output)")
            #expect(purge.messages.contains("Readers hold a lease"), "\(purge.messages)")
            #expect(try files(in: world.agent.cache.appending("icons")).count == 1)
            snapshot.end()
            let again = try await world.agent.call("purge", "--yes")
            #expect(again.output.hasPrefix("1 image removed."), "\(again.output) \(again.messages)")
        }
    }
}
