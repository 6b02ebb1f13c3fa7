// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import IconCache
import Reports
import Subprocess
import SyncPlan
import Synchronization
import SystemPackage
import TestSupport
import Testing

@testable import SyncAgentCLI

@Suite("Previous images", .timeLimit(.minutes(15)), .serialized)
struct PreviousImageTests {
    private static let names = (0..<8).map { "App \($0)" }

    /// When the origin goes away.
    enum Cut: CaseIterable {
        /// While the new images are downloaded; the agent is then stopped and started.
        case afterList
        /// Before a new list, and another one, come; the agent is then killed and started.
        case beforeLists
    }

    /// The list with a signature in each URL's query, which tells one version from another.
    private static func urls(_ world: World, signature: Int) -> [String] {
        names.map { world.origin.iconURL($0) + "?signature=\(signature)" }
    }

    private static func drop(_ world: World, signature: Int) throws {
        try world.agent.drop(propertyList(Array(zip(names, urls(world, signature: signature)))), as: "apps.plist")
    }

    /// Returns when the newest manifest has these URLs, and each app has an image.
    private static func shown(_ world: World, signature: Int, previous: Int) async throws {
        let urls = urls(world, signature: signature).map { IconURL($0) }
        try await world.agent.status { [cache = IconCache(at: world.agent.cache)] _ in
            guard let apps = try? cache.document(of: "apps.plist")?.apps, apps.map(\.icon) == urls else { return false }
            return apps.allSatisfy(\.isReady) && apps.count { $0.previous != nil } == previous
        }
    }

    /// A launcher that reads the list again and again.
    private final class Launcher: Sendable {
        private struct State {
            var isReading = false
            var isOver = false
            var missing = 0
            var readings = 0
        }

        private let state = Mutex(State())
        let cache: IconCache

        init(_ cache: IconCache) { self.cache = cache }

        /// How many apps had no image, and how often it has read them all.
        var found: (missing: Int, readings: Int) { state.withLock { ($0.missing, $0.readings) } }

        func begin() { state.withLock { $0.isReading = true } }
        func end() { state.withLock { $0.isOver = true } }

        func run() async {
            while !state.withLock(\.isOver) {
                if state.withLock(\.isReading) { read() }
                await Task.yield()
            }
        }

        private func read() {
            guard let snapshot = try? cache.snapshot() else { return }
            defer { snapshot.end() }
            guard let apps = try? snapshot.document(of: "apps.plist")?.apps else { return }
            let missing = apps.count { app in
                guard case .ready(let image) = app.state, (try? cache.icon(for: app.icon)) != nil else { return true }
                return (try? FileBytes.read(cache.path(of: image)))?.count != image.bytes
            }
            state.withLock {
                $0.missing += missing
                $0.readings += 1
            }
        }
    }

    @Test("apps whose URLs change while the origin is away keep their images for every reader", arguments: Cut.allCases)
    func offline(cut: Cut) async throws {
        try await World.with { world in
            let cache = IconCache(at: world.agent.cache)
            let launcher = Launcher(cache)
            async let reading: Void = launcher.run()
            try await world.agent.whileRunning(endedBy: cut == .beforeLists ? .kill : .terminate) { _ in
                try Self.drop(world, signature: 1)
                try await Self.shown(world, signature: 1, previous: 0)
                launcher.begin()
                if cut == .afterList {
                    for name in Self.names { world.origin.hold(TestOrigin.iconPath(name)) }
                    try Self.drop(world, signature: 2)
                    try await Self.shown(world, signature: 2, previous: 8)
                }
                await world.origin.cutOff()
                if cut != .afterList { try Self.drop(world, signature: 2) }
                try await Self.shown(world, signature: 2, previous: 8)
                guard cut == .beforeLists else { return }
                try Self.drop(world, signature: 3)
                try await Self.shown(world, signature: 3, previous: 8)
            }
            try await world.agent.whileRunning { _ in
                try await Self.shown(world, signature: cut == .beforeLists ? 3 : 2, previous: 8)
                try Self.drop(world, signature: 4)
                try await Self.shown(world, signature: 4, previous: 8)
                let report = try await world.agent.status { $0.icons.previous == 8 }
                #expect(report.eviction.state == "active" && report.icons.retired == 0)
                #expect(report.lists.first?.ready == 8 && report.lists.first?.previous == 8)
                let notice = report.problems.first { $0.code == "previous-image" }
                #expect(notice?.severity == .notice && notice?.commands.isEmpty == false)
            }
            launcher.end()
            await reading
            #expect(launcher.found.missing == 0 && launcher.found.readings > 0, "\(launcher.found)")
            #expect(try world.expectWholeCache() == 8)
            let url = Self.urls(world, signature: 4)[0]
            let path = try await world.agent.call("path", "--json", url)
            #expect(path.code == 0 && path.messages.contains("previous one"), "\(path)")
            expectContains(path.output, "\"previous\": \"\(Self.urls(world, signature: 1)[0])\"")
            let why = try await world.agent.call("why", Self.urls(world, signature: 1)[0])
            expectContains(why.output, "apps.plist, until")
            #expect(try await world.agent.call("verify").code == 0)
        }
    }

    @Test("an app list whose URLs all change holds no eviction, with the same images and with others")
    func rotation() async throws {
        try await World.with { world in
            // More than 20, so that a list without them is held.
            let names = (0..<22).map { "icon \($0)" }
            try await world.agent.whileRunning { _ in
                for suffix in ["?a", "?b", "?side=32"] {
                    let icons = names.map { ($0, world.origin.iconURL($0) + suffix) }
                    try world.agent.drop(propertyList(icons), as: "apps.plist")
                    let sync = try await world.agent.call("sync", "--wait", "apps.plist")
                    #expect(sync.code == 0, "\(sync.messages)")
                    let report = try await world.agent.status { $0.icons.ready == 22 && $0.inSync }
                    #expect(report.eviction.state == "active")
                    if suffix == "?b" { #expect(report.icons.retired == 0 && report.cache.images == 22) }
                    #expect(try await world.agent.call("status").code == 0)
                }
                try world.agent.drop(propertyList([]), as: "apps.plist")
                try await world.agent.status { $0.eviction.state == "held" }
            }
        }
    }
}
