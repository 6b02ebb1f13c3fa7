// SPDX-License-Identifier: Apache-2.0
import Glibc
import IconCache
import Reports
import Subprocess
import SyncPlan
import SystemPackage
import TestSupport
import Testing

@testable import SyncAgentCLI

@Suite("Lists that vanish for a moment", .timeLimit(.minutes(15)), .serialized)
struct AbsenceTests {
    @Test("a list that is away within its quiet time stays published, however often the folder is looked at")
    func away() async throws {
        // On a busy machine, the list may be away for longer than the quiet time.
        try await withGrowingTime(from: .seconds(3)) { settle in
            try await World.with { world in try await Self.isKept(away: settle, in: world) }
        }
    }

    /// Takes a list away and brings it back.
    ///
    /// - Returns: Whether it was away for less than the quiet time.
    private static func isKept(away settle: Duration, in world: World) async throws -> Bool {
        let quiet = "\(settle.components.seconds)s"
        let world = world.setting("SYNCAGENT_LISTS_SETTLE", quiet).setting("SYNCAGENT_LISTS_SETTLE_MAX", quiet)
            .setting("SYNCAGENT_LISTS_RESCAN", "200ms")
        // A start does not wait for lists to settle.
        try world.drop(["Mail"])
        return try await world.agent.whileRunning { agent in
            try await world.published(["Mail"])
            let list = world.agent.lists.appending("apps.plist")
            let aside = world.folder.appending("aside")
            let cache = IconCache(at: world.agent.cache)
            let generation = try cache.manifest().generation
            let left = ContinuousClock.now
            try list.move(to: aside)
            let start = try await world.agent.status { _ in true }.watch.lastScan
            // The time of the last scan is in whole seconds: another one is of a scan without the list.
            repeat {
                try #require(kill(agent.value, SIGHUP) == 0)
                try #require(try await world.agent.call("sync").code == 0)
            } while try await world.agent.status { _ in true }.watch.lastScan == start
            let isThere = try cache.manifest().lists["apps.plist"] != nil
            try aside.move(to: list)
            guard ContinuousClock.now - left < settle else { return false }
            #expect(isThere)
            try await world.agent.status { $0.inSync && $0.lists.count == 1 }
            #expect(try cache.manifest().generation == generation)
            return true
        }
    }

    @Test("a removed list is gone when sync --wait returns; a renamed one is in every manifest and keeps its downloads")
    func gone() async throws {
        try await World.with { world in
            let world = world.setting("SYNCAGENT_LISTS_SETTLE", "10ms").setting("SYNCAGENT_LISTS_RESCAN", "1h")
            let cache = IconCache(at: world.agent.cache)
            let path = TestOrigin.iconPath("Mail")
            try await world.agent.whileRunning { _ in
                try world.drop(["Maps"], as: "1.plist")
                try world.drop(["Music"], as: "other.plist")
                #expect(try await world.agent.call("sync", "--wait").code == 0)
                try world.remove("other.plist")
                #expect(try await world.agent.call("sync", "--wait").code == 0)
                #expect(try cache.manifest().lists.keys.sorted() == ["1.plist"])

                world.origin.hold(path)
                try world.drop(["Maps", "Mail"], as: "1.plist")
                try await world.origin.received(1, for: path)
                try await world.agent.status { _ in
                    guard let list = (try? cache.manifest())?.lists["1.plist"] else { return false }
                    return list.apps == 2 && list.ready == 1
                }
                for number in 1..<4 {
                    let (old, new) = ("\(number).plist", "\(number + 1).plist")
                    try world.agent.lists.appending(old).move(to: world.agent.lists.appending(new))
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
