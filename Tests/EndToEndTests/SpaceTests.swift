// SPDX-License-Identifier: Apache-2.0
import Glibc
import IconCache
import Reports
import SyncPlan
import SystemPackage
import TestSupport
import Testing

@testable import SyncAgentCLI

@Suite("Full disk", .timeLimit(.minutes(15)), .serialized)
struct SpaceTests {
    private static let names = (0..<40).map { "icon-\($0)" }

    /// Runs the body with an agent whose cache is a small file system, and which leaves 5 % of it free.
    private func withSmallCache(
        _ options: String, _ body: @escaping @Sendable (World) async throws -> Void
    ) async throws {
        try await World.with { world in
            try makeFolder(world.agent.cache)
            try await SmallDisk.mounted(options, at: world.agent.cache) {
                try await body(world.setting("SYNCAGENT_CACHE_MIN_FREE", "5%"))
            }
        }
    }

    @Test("a full cache says so and stays whole; it takes more icons when a list is removed or the disk grows")
    func fills() async throws {
        try await withSmallCache("size=1m") { plain in
            let world = plain.setting("SYNCAGENT_CACHE_GRACE", "100ms")
            try await world.agent.whileRunning { _ in
                try world.drop((0..<8).map { "old-\($0)" }, bytes: 50_000, as: "old.plist")
                try await world.whole { $0.inSync && $0.icons.ready == 8 }
                try world.drop(Self.names, bytes: 50_000)
                let full = try await world.whole { $0.isFull && $0.lists.count == 2 }
                #expect((10...19).contains(full.icons.ready), "\(full.json.line)")
                #expect(full.icons.pending == 48 - full.icons.ready && full.icons.failed == 0)
                #expect(full.downloads.blocked == full.icons.pending && full.publication.error == nil)
                let status = try await world.agent.call("status")
                #expect(status.code == 1)
                expectContains(status.output, "pending", "cache.minFree (5%)", world.agent.cache.string)
                // Downloads that were on their way when it was full came to nothing; none was begun since.
                let asked = world.origin.requestCount
                #expect(asked <= 48 + 4)

                try world.remove("old.plist")
                try await world.whole {
                    $0.isFull && $0.lists.count == 1 && $0.icons.ready > full.icons.ready - 8
                }
                try SmallDisk.remount(world.agent.cache, "size=4m")
                try await world.whole { $0.inSync && $0.icons.ready == 40 }
                // Each was asked for once more, but for those on their way when it was full again.
                #expect(world.origin.requestCount <= asked + full.icons.pending + 8)
                #expect(try await world.agent.call("status").code == 0)
            }
            #expect(try world.expectWholeCache() == 40)
        }
    }

    @Test("a file system without inodes is as full as one without bytes")
    func inodes() async throws {
        // The cache's folders take more than 500; an image and its by-url name take one each.
        try await withSmallCache("size=64m,nr_inodes=600") { world in
            try await world.agent.whileRunning { _ in
                try world.drop(Self.names, bytes: 0)
                let full = try await world.whole { $0.isFull }
                #expect(full.icons.ready < 40 && full.icons.failed == 0)
                // Downloads that began at the same time may find out by themselves.
                let reason = full.downloads.reason ?? ""
                #expect(reason.contains("inodes are free") || reason.contains("No space left"), "\(full.json.line)")
                try SmallDisk.remount(world.agent.cache, "size=64m,nr_inodes=2000")
                try await world.whole { $0.inSync && $0.icons.ready == 40 }
            }
            #expect(try world.expectWholeCache() == 40)
        }
    }

    @Test("a long list document waits for room; a small list and its removal do not")
    func documents() async throws {
        try await withSmallCache("size=1m") { plain in
            // None is requested.
            let world = plain.setting("SYNCAGENT_NETWORK_DENY_HOSTS", "host.example")
            @Sendable func dropLarge(_ version: String) throws {
                let apps = (0..<5000).map { ("\(version) \($0)", "http://host.example/\($0).png") }
                try world.agent.drop(propertyList(apps), as: "large.plist")
            }
            try await world.agent.whileRunning { _ in
                let cache = IconCache(at: world.agent.cache)
                try dropLarge("old")
                try await world.whole { $0.inSync && $0.icons.failed == 5000 }
                try dropLarge("new")
                try await world.whole { $0.downloads.reason?.contains("of list documents do not fit") ?? false }
                try world.drop(["Mail"], as: "small.plist")
                try await world.whole { _ in (try? cache.document(of: "small.plist"))?.apps.first?.isReady ?? false }
                #expect(try await world.agent.call("sync", "--wait", "small.plist").code == 0)
                try world.remove("small.plist")
                try await world.whole { _ in (try? cache.manifest())?.lists["small.plist"] == nil }
                let large = try await world.agent.call("sync", "--wait", "large.plist")
                #expect(large.code == 1 && large.messages.contains("do not fit"), "\(large.messages)")
                #expect(try cache.document(of: "large.plist")?.apps.first?.name == "old 0")
                expectContains(try await world.agent.call("status").output, "do not fit")
                try SmallDisk.remount(world.agent.cache, "size=4m")
                try await world.whole { $0.inSync }
                #expect(try cache.document(of: "large.plist")?.apps.first?.name == "new 0")
            }
        }
    }

    @Test("a disk that others fill to the last byte loses nothing, and the agent recovers without a restart")
    func filledByOthers() async throws {
        try await World.with { world in
            let disk = world.agent.cache.removingLastComponent().appending("disk")
            try makeFolder(disk)
            try await SmallDisk.mounted("size=2m", at: disk) {
                let world = world.setting("SYNCAGENT_CACHE_MIN_FREE", "5%").setting("SYNCAGENT_CACHE_GRACE", "100ms")
                for name in ["cache", "state"] {
                    try makeFolder(disk.appending(name))
                    let link = world.agent.cache.removingLastComponent().appending(name)
                    try #require(symlink(disk.appending(name).string, link.string) == 0)
                }
                let names = try await world.agent.whileRunning { _ in
                    try world.drop(["Mail", "Maps"])
                    try await world.published(["Mail", "Maps"])
                    let (names, full) = try await dropUntilFull(world, filler: disk.appending("filler"))
                    #expect(full.publication.error?.contains("No space left") == true, "\(full.json.line)")
                    #expect(full.downloads.reason != nil && full.icons.failed == 0)
                    #expect(try await world.agent.call("status").code == 1)
                    // Maps is not in the list any more, if its document found room.
                    #expect(try world.expectWholeCache() >= 1)
                    return names
                }
                // What the agent gave back at its end is taken, too.
                try fill(disk.appending("filler"))
                try await world.agent.whileRunning { _ in
                    let (names, _) = try await dropUntilFull(world, from: names, filler: disk.appending("filler"))
                    #expect(try world.expectWholeCache() >= 1)
                    try #require(unlink(disk.appending("filler").string) == 0)
                    try await world.published(names)
                    #expect(try await world.agent.call("status").code == 0)
                }
                let why = try await world.agent.call("why", world.origin.iconURL("Music"))
                expectContains(why.output, "ETag")
            }
        }
    }

    /// Drops one icon more after the other, with nothing left free each time, until there is no room to publish one.
    ///
    /// A few pages may come free by themselves, as at a checkpoint of the database: then an icon finds room, or a document
    /// alone, which names it as pending.
    private func dropUntilFull(
        _ world: World, from first: [String] = ["Mail", "Music"], filler: FilePath
    ) async throws -> ([String], StatusReport) {
        var names = first
        while true {
            try fill(filler)
            try world.drop(names)
            let wanted = names.map { world.origin.iconURL($0) }
            let cache = IconCache(at: world.agent.cache)
            let report = try await world.whole { report in
                let apps = try? cache.document(of: "apps.plist")?.apps
                let isWaiting = report.downloads.blocked > 0 && apps?.map(\.icon.text) == wanted
                return report.publication.error != nil || isWaiting
                    || report.inSync && apps?.filter(\.isReady).map(\.icon.text) == wanted
            }
            if report.publication.error != nil { return (names, report) }
            names.append("icon-\(names.count)")
        }
    }

    /// Writes at the end of a file until there is no room for more.
    private func fill(_ path: FilePath) throws {
        let file = try FileDescriptor.open(
            path, .writeOnly, options: [.create, .append, .closeOnExec], permissions: .ownerReadWrite)
        try file.closeAfter {
            let zeros = [UInt8](repeating: 0, count: 4096)
            let error = #expect(throws: Errno.self) { while true { _ = try file.writeAll(zeros) } }
            #expect(error == .noSpace)
        }
    }
}

extension World {
    /// Drops a list of apps with icons of so many bytes.
    fileprivate func drop(_ names: [String], bytes: Int, as list: String = "apps.plist") throws {
        try agent.drop(propertyList(names.map { ($0, origin.iconURL($0, bytes: bytes)) }), as: list)
    }

    /// Returns the agent's status as soon as it is as wanted; whatever is published until then is whole.
    @discardableResult
    fileprivate func whole(until isWanted: @escaping @Sendable (StatusReport) -> Bool) async throws -> StatusReport {
        try await agent.status { report in
            if report.generation != nil {
                do { try expectWholeCache() } catch { Issue.record(error) }
            }
            return isWanted(report)
        }
    }
}

extension StatusReport {
    /// Whether there is no room for more, and what there is has been published.
    fileprivate var isFull: Bool { downloads.reason != nil && downloads.active == 0 && icons.ready == cache.images }
}
