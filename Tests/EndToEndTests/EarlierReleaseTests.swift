// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import IconCache
import Reports
import SystemPackage
import TestSupport
import Testing

@testable import SyncAgentCLI

/// Tests/Golden/0.1.0.tar.xz is what an agent of version 0.1.0 left when it was stopped.
///
/// It has two lists with twelve apps, one pinned icon, and a pause. One app has no icon. The origin no longer runs.
@Suite(
    "Folders of version 0.1.0", .timeLimit(.minutes(15)),
    .enabled(if: Tool.areInstalled("tar", "xz"), "tar or xz is not installed"))
struct EarlierReleaseTests {
    private static let failed = "http://127.0.0.1:48123/missing.png"
    private static let pinned = "http://127.0.0.1:48123/100.png"

    private static func with(_ body: @escaping @Sendable (World, IconCache) async throws -> Void) async throws {
        try await World.with { world in
            let archive = "\(Article.project)/Tests/Golden/0.1.0.tar.xz"
            let folder = ["--directory", world.folder.string]
            let command = ["tar", "--extract", "--no-same-owner", "--file", archive] + folder
            #expect(try await Program.run(command).code == 0)
            try await body(world, IconCache(at: world.agent.cache))
        }
    }

    private static func icons(of cache: IconCache) throws -> [String: Digest] {
        let apps = try cache.manifest().lists.keys.flatMap { try cache.document(of: $0)?.apps ?? [] }
        let ready = apps.compactMap { app in
            if case .ready(let image) = app.state { (app.icon.text, image.sha256) } else { nil }
        }
        return Dictionary(ready) { first, _ in first }
    }

    @Test("readers read the cache of version 0.1.0, and an agent goes on with its icons and pin, not with its state")
    func upgrade() async throws {
        try await Self.with { world, cache in
            let (before, icons) = (try cache.manifest(), try Self.icons(of: cache))
            #expect(icons.count == 12 && icons[Self.failed] == nil)
            #expect(try cache.icon(for: IconURL(Self.pinned)) != nil)
            #expect(try world.expectWholeCache() == 12)
            expectContains(try await world.agent.call("run", "--once").messages, "the tables have version 4")
            let aside = world.folder.appending("state").appending("state.sqlite.damaged")
            for _ in 0..<2 {
                try await world.agent.whileRunning { _ in
                    let status = try await world.agent.status { $0.icons.ready == 12 && $0.icons.failed == 1 }
                    #expect(status.state == .running && status.cache.images == 12, "\(status.json.line)")
                    #expect(status.storage == StatusReport.Storage(damaged: aside.string), "\(status.json.line)")
                    expectContains(try await world.agent.call("list", "pins").output, Self.pinned)
                }
            }
            #expect(try Self.icons(of: cache) == icons)
            // What it publishes is the next generation.
            let known = icons.keys.sorted().prefix(3)
            try await world.agent.whileRunning { _ in
                try world.agent.drop(propertyList(known.map { ("App", $0) }), as: "more.plist")
                try await world.agent.status { $0.lists.contains { $0.name == "more.plist" } && $0.icons.ready == 12 }
                try await waitUntil { try cache.manifest().generation > before.generation }
            }
            #expect(try cache.document(of: "more.plist")?.apps.map(\.isReady) == [true, true, true])
            #expect(try world.expectWholeCache() == 12)
        }
    }
}
