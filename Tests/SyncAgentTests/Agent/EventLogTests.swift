// SPDX-License-Identifier: Apache-2.0
import AgentSettings
import AppLists
import CacheFormat
import HTTPRules
import Reports
import SyncPlan
import TestSupport
import Testing

@testable import SyncAgent

@Suite("The log of events")
struct EventLogTests {
    /// A plan, and what is logged of it.
    private struct World {
        let recorded = RecordedLog()
        var log: EventLog
        var plan: Reconciler
        var now = Sample.time

        init() {
            log = EventLog(logger: recorded.logger)
            plan = Reconciler(settings: Settings(), seed: 1, now: now)
        }

        mutating func step(_ events: Reconciler.Event..., after time: Duration = .zero) -> [Reconciler.Action] {
            now = now + time
            let actions = plan.handle(events, now: now)
            log.record(events, ended: plan.endedDownloads, now: now)
            log.record(events, emitted: plan.drainEvents(), after: plan, now: now)
            return actions
        }

        func count(_ message: String) -> Int { recorded.messages.count { $0 == message } }
    }

    private static let icons: [IconURL] = (1...20).map { IconURL("https://a.example/\($0)") }

    @Test("downloads are logged by their count once they have ended, and one by one only at debug")
    func downloads() {
        var world = World()
        _ = world.step(.scanned(.of(["a.plist": Array(Self.icons.prefix(3))])))
        for (index, icon) in Self.icons.prefix(3).enumerated() {
            _ = world.step(.fetched(EndedDownload(url: icon, .image(of: icon))), after: .milliseconds(10))
            #expect(world.count("icons downloaded") == (index == 2 ? 1 : 0))
        }
        #expect(world.count("list accepted") == 1 && world.count("icon downloaded") == 3)
        #expect(world.log.due == nil)
    }

    @Test("a long batch of downloads is logged every ten seconds, and the next after a second")
    func batches() throws {
        var world = World()
        _ = world.step(.scanned(.of(["a.plist": Array(Self.icons.prefix(4))])))
        _ = world.step(.fetched(EndedDownload(url: Self.icons[0], .image(of: Self.icons[0]))))
        #expect(world.count("icons downloaded") == 0)
        #expect(world.log.due == world.now + .seconds(10))
        _ = world.step(.tick, after: .seconds(10))
        #expect(world.count("icons downloaded") == 1)
        for icon in Self.icons[1..<4] { _ = world.step(.fetched(EndedDownload(url: icon, .image(of: icon)))) }
        #expect(world.count("icons downloaded") == 1)
        let due = try #require(world.log.due)
        #expect(due == world.now + .seconds(1))
        _ = world.step(.tick, after: .seconds(1))
        #expect(world.count("icons downloaded") == 2)
    }

    @Test("a failure of a download is logged once, and each time at debug")
    func failures() {
        var world = World()
        _ = world.step(.scanned(.of(["a.plist": [Self.icons[0]]])))
        var attempts = 1
        _ = world.step(.fetched(EndedDownload(url: Self.icons[0], .failed(.status(404)))))
        while attempts < 3 {
            let isRequested = world.step(.tick, after: .seconds(3600)).contains {
                if case .fetch = $0 { true } else { false }
            }
            guard isRequested else { continue }
            attempts += 1
            _ = world.step(.fetched(EndedDownload(url: Self.icons[0], .failed(.status(404)))))
        }
        #expect(world.count("icon not downloaded") == 1)
        #expect(world.count("download failed") == 3)
    }

    @Test("an image that its list refuses is logged as a failure, and not counted as a download")
    func refused() {
        var world = World()
        let icon = Self.icons[0]
        _ = world.step(.scanned(.of(["a.plist": [icon]], expecting: .of("another"))))
        _ = world.step(.fetched(EndedDownload(url: icon, .image(of: icon))))
        #expect(world.count("download failed") == 1 && world.count("icon not downloaded") == 1)
        #expect(world.count("icon downloaded") == 0 && world.count("icons downloaded") == 0)
        _ = world.step(.tick)
        #expect(world.count("download failed") == 1)
    }

    @Test("changes of lists are logged once, with each ignored entry")
    func lists() {
        var world = World()
        let bad = ListReading(source: nil, verdict: .failure(.emptyFile))
        let folder = ListedFolder(path: "/lists.d", identity: FolderIdentity(fileSystem: 1, device: 1, handle: [1]))
        for _ in 0..<2 {
            _ = world.step(.scanned(.listed(folder, present: ["a.plist"], changed: ["a.plist": bad])))
        }
        #expect(world.count("list rejected: it has no good version") == 1)
        var reading = bad
        reading.source = AppListDocument.Source(sha256: .of("a"), bytes: 1, modified: Sample.time)
        reading.verdict = .success(AppList(problems: [EntryProblem(keyPath: "[0]", reason: "not a string")]))
        _ = world.step(.scanned(.listed(folder, present: ["a.plist"], changed: ["a.plist": reading])))
        #expect(world.count("list accepted") == 1 && world.count("entry or value ignored") == 1)
        for _ in 0..<2 { _ = world.step(.scanned(.unavailable(reason: "it is not mounted"))) }
        #expect(world.count("lists folder unavailable: all lists keep their last version") == 1)
        #expect(world.count("eviction suspended") == 0)
    }

    @Test("publications are logged at most once a second, and the last ones at the end")
    func publications() {
        var world = World()
        for generation in 1...5 {
            world.log.record(
                [], emitted: [.generationPublished(generation, lists: 1, images: 1, endsFailure: generation == 5)],
                after: world.plan, now: world.now)
        }
        #expect(world.count("published") == 1 && world.count("publishing works again") == 1)
        world.log.finish(now: world.now)
        #expect(world.count("published") == 2)
    }

    @Test("publications during downloads are logged every 10 s")
    func publicationsDuringDownloads() {
        var world = World()
        _ = world.step(.scanned(.of(["a.plist": [Self.icons[0]]])))
        #expect(world.plan.isDownloading)
        for second in 0...20 {
            world.log.record(
                [], emitted: [.generationPublished(second + 1, lists: 1, images: 1, endsFailure: false)],
                after: world.plan, now: world.now + .seconds(second))
        }
        #expect(world.count("published") == 1)
        world.log.record([], emitted: [], after: world.plan, now: world.now + .seconds(21))
        #expect(world.count("published") == 2)
    }
}
