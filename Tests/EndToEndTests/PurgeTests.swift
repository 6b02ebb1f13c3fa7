// SPDX-License-Identifier: Apache-2.0
import Glibc
import IconCache
import Reports
import SyncAgent
import SyncPlan
import SystemPackage
import TestSupport
import Testing

@testable import SyncAgentCLI

@Suite("Purging all but the lists", .timeLimit(.minutes(15)))
struct PurgeTests {
    @Test("purge has a running agent remove all images and download them anew; without a terminal it needs --yes")
    func running() async throws {
        try await World.with { world in
            try world.drop(["Mail", "Maps"])
            try await world.agent.whileRunning { _ in
                try await world.published(["Mail", "Maps"])
                let refused = try await world.agent.call("purge")
                #expect(refused.code == 64)
                expectContains(refused.messages, "--yes")
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

    @Test("purge without an agent keeps lists, other files, generation numbers, and leased images until the lease ends")
    func stopped() async throws {
        try await World.with { world in
            // The first generation is empty.
            #expect(try await world.agent.call("run", "--once").code == 0)
            try world.drop(["Mail", "Maps"])
            try await world.agent.whileRunning { _ in
                try await world.published(["Mail", "Maps"])
                _ = try await world.agent.call("pause")
            }
            let none = world.folder.appending("none").string
            let misspelt = try await world.agent.call("purge", "--yes", "--cache", none)
            #expect(misspelt.code == 73 && misspelt.output.isEmpty, "\(misspelt)")
            // The state is still there.
            #expect(try await world.agent.call("events", "--limit", "1").code == 0)

            let cache = world.agent.cache
            let icons = cache.appending("icons")
            let generation = try IconCache(at: cache).manifest().generation
            try #require(mknod(icons.appending("notes.txt").string, S_IFREG | 0o644, 0) == 0)
            let purge = try await world.agent.call("purge", "--yes")
            #expect(purge.code == 0 && purge.output.hasPrefix("2 images removed."), "\(purge)")
            let left = try files(in: cache)
            let document = try #require(try IconCache(at: cache).manifest().lists["apps.plist"]).document
            #expect(
                left == [
                    "CACHEDIR.TAG", "generations/\(generation + 1).json", "icons/notes.txt", document, "lock",
                    "manifest.json",
                ])
            #expect(try files(in: world.agent.lists) == ["apps.plist"])
            #expect(try await world.agent.call("purge", "--yes").output.hasPrefix("0 images removed."))
            try await world.agent.whileRunning { _ in
                try await world.published(["Mail", "Maps"])
                #expect(try await world.agent.status { $0.pid != nil }.state == .running)
            }
            try world.expectWholeCache()

            let snapshot = try IconCache(at: cache).snapshot()
            let leased = try await world.agent.call("purge", "--yes")
            #expect(leased.code == 0 && leased.output.hasPrefix("0 images removed."), "\(leased)")
            expectContains(leased.messages, "Readers hold a lease")
            #expect(try files(in: icons).count == 3)
            snapshot.end()
            let again = try await world.agent.call("purge", "--yes")
            #expect(again.output.hasPrefix("2 images removed."), "\(again)")
        }
    }

    @Test("after a purge without an agent, the next one downloads leased images again; without its database it starts")
    func leased() async throws {
        try await World.with { world in
            try world.drop(["Mail", "Maps"])
            let lists = [["Mail", "Maps"], ["Mail"], ["Mail", "Maps"]]
            #expect(try await world.agent.call("run", "--once").code == 0)
            let snapshot = try IconCache(at: world.agent.cache).snapshot()
            for (round, names) in lists.enumerated() {
                let requests = world.origin.requestCount
                let purge = try await world.agent.call("purge", "--yes")
                #expect(purge.code == 0 && purge.output.hasPrefix("0 images removed."), "\(purge)")
                if round == 2 {
                    try write("no database", to: world.folder.appending("state").appending(StateStore.files[0]))
                }
                try world.drop(names)
                #expect(try await world.agent.call("run", "--once").code == 0)
                // Without the database, the purge is forgotten, but the agent starts.
                #expect(world.origin.requestCount == requests + (round == 2 ? 0 : names.count))
                try world.expectWholeCache()
            }
            snapshot.end()
        }
    }

    @Test(
        "purge ends with 1 if it cannot remove a file, and keeps the images that a remaining generation names",
        .enabled(if: geteuid() == 0 && Tool.areInstalled("chattr"), "takes root and chattr"))
    func unremovable() async throws {
        try await World.with { world in
            let cache = world.agent.cache
            let (generations, icons) = (cache.appending("generations"), cache.appending("icons"))
            for apps in [["Mail"], ["Mail", "Maps"]] {
                try world.drop(apps)
                #expect(try await world.agent.call("run", "--once").code == 0)
            }
            let newest = try IconCache(at: cache).manifest().generation
            let older = try files(in: generations).filter { $0 != "\(newest).json" }.map { generations.appending($0) }
            try #require(!older.isEmpty)
            let stopped = try await Self.whileImmutable(older) { try await world.agent.call("purge", "--yes") }
            #expect(stopped.code == 1)
            expectContains(stopped.messages, "Operation not permitted")
            #expect(try files(in: icons).count == 1)
            #expect(try await world.agent.call("purge", "--yes").output.hasPrefix("1 image removed."))

            try await world.agent.whileRunning { _ in
                for round in 0..<2 {
                    try await world.published(["Mail", "Maps"])
                    let parts = Set(try files(in: icons).map { icons.appending(String($0.prefix(2))) })
                    try await Self.whileImmutable(round == 0 ? [generations] : Array(parts)) {
                        let purge = try await world.agent.call("purge", "--yes")
                        #expect(purge.code == 1 && purge.output.isEmpty, "\(purge.output)")
                        expectContains(purge.messages, "Partly purged: ", "Operation not permitted")
                        let events = try await world.agent.call("events").output.split(separator: "\n")
                        #expect(events.count { $0.contains("purge-failed") } > round, "\(events)")
                        #expect(events.count { $0.contains("Purged: ") } == round, "\(events)")
                    }
                    let again = try await world.agent.call("purge", "--yes")
                    #expect(again.code == 0, "\(again.messages)")
                }
                try await world.published(["Mail", "Maps"])
            }
        }
    }

    /// Runs the body while these files and folders cannot be changed; cancels the test where that is not possible.
    static func whileImmutable<R: Sendable>(
        _ paths: [FilePath], _ body: @Sendable () async throws -> R
    ) async throws -> R {
        for path in paths {
            do {
                try await Tool.run("chattr", "+i", path.string)
            } catch {
                try Test.cancel("this file system has no immutable files")
            }
        }
        let result: Result<R, any Error>
        do {
            result = .success(try await body())
        } catch {
            result = .failure(error)
        }
        for path in paths { try await Tool.run("chattr", "-i", path.string) }
        return try result.get()
    }
}
