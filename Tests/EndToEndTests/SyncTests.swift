// SPDX-License-Identifier: Apache-2.0
import AppLists
import DemoOrigin
import IconCache
import Reports
import SyncPlan
import Synchronization
import SystemPackage
import TestSupport
import Testing

@testable import SyncAgentCLI

@Suite("Waiting with sync", .timeLimit(.minutes(15)))
struct SyncTests {
    @Test("sync --wait returns once the lists folder is published; a list that was only touched is not published again")
    func barrier() async throws {
        /// A file that has just changed may go on changing: it is read at the next look.
        @Sendable func waitUntilOld() async throws {
            let changed = ContinuousClock.now
            try await waitUntil { ContinuousClock.now - changed > .milliseconds(100) }
        }
        try await World.with { world in
            // Without events, only the look of sync finds a list.
            let world = world.setting("SYNCAGENT_LISTS_SETTLE", "1h").setting("SYNCAGENT_LISTS_SETTLE_MAX", "1h")
            #expect(try await world.agent.call("sync", "--wait").code == 69)
            try await world.agent.whileRunning { _ in
                try world.drop(["Mail", "Maps"])
                try await waitUntilOld()
                let result = try await world.agent.call("sync", "--wait")
                #expect(result.code == 0, "\(result.messages)")
                expectContains(result.output, "2 ready")
                #expect(try world.expectWholeCache() == 2)
                try world.drop(["Mail", "Maps", "Music"], as: "more.plist")
                try await waitUntilOld()
                #expect(try await world.agent.call("sync", "--wait", "more.plist").code == 0)
                #expect(try await world.agent.call("sync", "more.plist").code == 0)
                #expect(try world.expectWholeCache() == 3)

                let generation = try IconCache(at: world.agent.cache).manifest().generation
                try await Tool.run("touch", "-d", "2030-01-01", world.agent.lists.appending("apps.plist").string)
                try await waitUntilOld()
                #expect(try await world.agent.call("sync", "--wait").code == 0)
                #expect(try IconCache(at: world.agent.cache).manifest().generation == generation)
            }
        }
    }

    /// The names of icons, in the order in which they were asked for.
    private final class RequestLog: Sendable {
        let names = Mutex<[String]>([])

        /// Records a request.
        ///
        /// - Returns: How many there were with it.
        func record(_ name: String) -> Int {
            names.withLock {
                $0.append(name)
                return $0.count
            }
        }
    }

    @Test("a small list behind a large one is downloaded next, and sync --wait for the small one waits for no other")
    func smallBehindLarge() async throws {
        try await World.with { world in
            let log = RequestLog()
            let (isDropped, end) = (Gate(), Gate())
            let large = (0..<60).map { "large \($0)" }
            let small = (0..<5).map { "small \($0)" }
            for name in large + small {
                world.origin.respond(to: TestOrigin.iconPath(name)) { _ in
                    let number = log.record(name)
                    // Of the origin's four slots one is left after a while.
                    try? await (number < 4 ? end : isDropped).wait()
                    return .icon(IconDrawing(name))
                }
            }
            try await world.agent.whileRunning { _ in
                try world.drop(large, as: "large.plist")
                try await world.origin.received(4)
                try world.drop(small, as: "small.plist")
                try await world.agent.status { $0.lists.count == 2 }
                isDropped.open()
                try await world.agent.status { $0.lists.last?.ready == 5 }
                let order = log.names.withLock(\.self)
                #expect(order.prefix(12).count { $0.hasPrefix("small") } == 5, "\(order)")
                let result = try await world.agent.call("sync", "--wait", "small.plist")
                #expect(result.code == 0, "\(result.messages)")
                expectContains(result.output, "5 ready")
                let document = try IconCache(at: world.agent.cache).document(of: "small.plist")
                #expect(document?.apps.allSatisfy(\.isReady) == true)
                #expect(try await world.agent.status { _ in true }.downloads.active >= 3)
                end.open()
                #expect(try await world.agent.call("sync", "--wait").code == 0)
                #expect(try world.expectWholeCache() == 65)
            }
        }
    }

    @Test("sync --wait does not wait for a file that keeps growing, and reports it; other lists are published")
    func growing() async throws {
        try await World.with { world in
            let world = world.setting("SYNCAGENT_LISTS_SETTLE_MAX", "300ms")
            try await world.agent.whileRunning { _ in
                try await withThrowingTaskGroup(of: Void.self) { group in
                    let growing = try FileDescriptor.open(
                        world.agent.lists.appending("growing.plist"), .writeOnly, options: [.create, .closeOnExec],
                        permissions: .ownerReadWrite)
                    defer { try? growing.close() }
                    group.addTask {
                        while !Task.isCancelled {
                            try growing.writeAll(" ".utf8)
                            await Task.yield()
                        }
                    }
                    try world.drop(["Mail"])
                    // The file grows until this has returned.
                    let result = try await world.agent.call("sync", "--wait")
                    #expect(result.code == 1)
                    expectContains(result.output, "1 ready")
                    expectContains(result.messages, "growing.plist: The file is still being written")
                    #expect(try world.expectWholeCache() == 1)
                    group.cancelAll()
                    try await group.waitForAll()
                    _ = try growing.writeAll("(\"\(world.origin.iconURL("Maps"))\")".utf8)
                }
                #expect(try await world.agent.call("sync", "--wait").code == 0)
                try await world.published(["Maps"], as: "growing.plist")
            }
        }
    }

    @Test("sync --wait ends with 1 for a failed icon, a rejected or missing list, and icons that a pause holds back")
    func troubles() async throws {
        try await World.with { world in
            try await world.agent.whileRunning { _ in
                world.origin.respond(to: "/gone.png", with: OriginReply(status: 404))
                let gone = "\(world.origin.baseURL)/gone.png"
                try world.agent.drop(propertyList([("A", gone), ("B", world.origin.iconURL("B"))]), as: "apps.plist")
                let failed = try await world.agent.call("sync", "--wait")
                #expect(failed.code == 1)
                expectContains(failed.output, "1 ready, 1 failed")
                let missing = try await world.agent.call("sync", "--wait", "none.plist")
                #expect(missing.code == 1)
                expectContains(missing.messages, "none.plist: there is no such list")
                try world.drop(["C"], as: "Apps.PLIST")
                for options in [[], ["--wait"]] {
                    let ignored = try await world.agent.call(["sync", "Apps.PLIST"] + options)
                    #expect(ignored.code == 1)
                    expectContains(ignored.messages, "Apps.PLIST: the lists folder ignores this file name: ")
                }
                try world.agent.drop("not a list", as: "bad.plist")
                let bad = try await world.agent.call("sync", "--wait", "bad.plist")
                #expect(bad.code == 1)
                expectContains(bad.messages, "bad.plist")
                try world.agent.drop("", as: "empty.plist")
                let both = try await world.agent.call("sync", "--wait")
                // On a slow machine, it shows its progress.
                let lines = both.messages.split(separator: "\n").filter { !$0.contains(" %: ") }
                #expect(both.code == 1 && lines.count == 3, "\(both.messages)")
                #expect(lines.first?.hasPrefix("syncagent: bad.plist: The file is not a property list (") == true)
                let socket = world.folder.appending("control.sock")
                let empty = "syncagent: empty.plist: \(ListRejection.emptyFile.message)"
                let failure = "syncagent: 1 icon failed. See: syncagent status --socket \(socket)"
                #expect(lines.dropFirst() == [empty[...], failure[...]])
                let one = try await world.agent.call("sync", "--wait", "empty.plist")
                #expect(one.code == 1 && one.messages == empty + "\n", "\(one.messages)")
                try world.remove("bad.plist")
                try world.remove("empty.plist")
                try #require(try await world.agent.call("pause").code == 0)
                try world.drop(["New"], as: "new.plist")
                let paused = try await world.agent.call("sync", "--wait", "new.plist")
                #expect(paused.code == 1)
                expectContains(paused.output, "1 pending")
                #expect(try await world.agent.call("sync").code == 0)
                #expect(try await world.agent.call("sync", "new.plist").code == 0)
            }
        }
    }
}
