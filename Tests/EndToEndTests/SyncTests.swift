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

@Suite("Waiting for what was dropped")
struct SyncTests {
    @Test("what was in the folder when it was asked for is published when it returns")
    func barrier() async throws {
        try await World.with { world in
            // Without events, only this look finds the list.
            let world = world.setting("SYNCAGENT_LISTS_SETTLE", "1h").setting("SYNCAGENT_LISTS_SETTLE_MAX", "1h")
            #expect(try await world.agent.call("sync", "--wait").code == 69)
            try await world.agent.whileRunning { _ in
                try world.drop(["Mail", "Maps"])
                let result = try await world.agent.call("sync", "--wait")
                #expect(result.code == 0 && result.output.contains("2 ready"), "\(result.output)\(result.messages)")
                #expect(try world.expectWholeCache() == 2)
                try world.drop(["Mail", "Maps", "Music"], as: "more.plist")
                #expect(try await world.agent.call("sync", "--wait", "more.plist").code == 0)
                #expect(try await world.agent.call("sync", "more.plist").code == 0)
                #expect(try world.expectWholeCache() == 3)
            }
        }
    }

    /// The names of icons, in the order in which they were asked for.
    private final class RequestLog: Sendable {
        let names = Mutex<[String]>([])

        /// Notes a request.
        ///
        /// - Returns: How many there were with it.
        func note(_ name: String) -> Int {
            names.withLock {
                $0.append(name)
                return $0.count
            }
        }
    }

    @Test("a small list behind a large one is asked for next, and who waits for it does not wait for the large one")
    func smallBehindLarge() async throws {
        try await World.with { world in
            let log = RequestLog()
            let (isDropped, end) = (Gate(), Gate())
            let large = (0..<400).map { "large \($0)" }
            let small = (0..<5).map { "small \($0)" }
            for name in large + small {
                world.origin.respond(to: DemoOrigin.iconPath(name)) { _ in
                    let number = log.note(name)
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
                #expect(result.code == 0 && result.output.contains("5 ready"), "\(result.output)\(result.messages)")
                let document = try IconCache(at: world.agent.cache).document(of: "small.plist")
                #expect(document?.apps.allSatisfy(\.isReady) == true)
                #expect(try await world.agent.status { _ in true }.downloads.active >= 3)
                end.open()
                #expect(try await world.agent.call("sync", "--wait").code == 0)
                #expect(try world.expectWholeCache() == 405)
            }
        }
    }

    @Test("a list that was only touched is not published again")
    func touched() async throws {
        try await World.with { world in
            try await world.agent.whileRunning { _ in
                try world.drop(["Mail"])
                #expect(try await world.agent.call("sync", "--wait").code == 0)
                let generation = try IconCache(at: world.agent.cache).manifest().generation
                try await Tool.run("touch", "-d", "2030-01-01", world.agent.lists.appending("apps.plist").string)
                #expect(try await world.agent.call("sync", "--wait").code == 0)
                #expect(try IconCache(at: world.agent.cache).manifest().generation == generation)
            }
        }
    }

    @Test("it does not wait for a file that goes on growing, and says so; what is whole is published")
    func growing() async throws {
        try await World.with { world in
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
                    let start = ContinuousClock.now
                    let result = try await world.agent.call("sync", "--wait")
                    #expect(ContinuousClock.now - start < .seconds(6))
                    #expect(result.code == 1 && result.output.contains("1 ready"), "\(result.output)")
                    #expect(result.messages.contains("growing.plist: The file is still being written"))
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

    @Test("it ends with 1 when an icon failed, a list is not acceptable or not there, and downloads are paused")
    func troubles() async throws {
        try await World.with { world in
            try await world.agent.whileRunning { _ in
                world.origin.respond(to: "/gone.png", with: OriginReply(status: 404))
                let gone = "\(world.origin.baseURL)/gone.png"
                try world.agent.drop(propertyList([("A", gone), ("B", world.origin.iconURL("B"))]), as: "apps.plist")
                let failed = try await world.agent.call("sync", "--wait")
                #expect(failed.code == 1 && failed.output.contains("1 ready, 1 failed"), "\(failed.output)")
                let missing = try await world.agent.call("sync", "--wait", "none.plist")
                #expect(missing.code == 1 && missing.messages.contains("none.plist: there is no such list"))
                try world.agent.drop("not a list", as: "bad.plist")
                let bad = try await world.agent.call("sync", "--wait", "bad.plist")
                #expect(bad.code == 1 && bad.messages.contains("bad.plist"))
                try world.agent.drop("", as: "empty.plist")
                let both = try await world.agent.call("sync", "--wait")
                let lines = both.messages.split(separator: "\n")
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
                #expect(paused.code == 1 && paused.output.contains("1 pending"), "\(paused.output)")
                #expect(try await world.agent.call("sync").code == 0)
                #expect(try await world.agent.call("sync", "new.plist").code == 0)
            }
        }
    }
}
