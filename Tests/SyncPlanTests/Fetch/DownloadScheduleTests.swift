// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import Testing

@testable import AgentSettings
@testable import HTTPRules
@testable import SyncPlan

@Suite("When icons are asked for")
struct DownloadScheduleTests {
    private static let origin = "https://h.example:443"
    private static let timeout = FetchOutcome.failed(.timeout("fetch.idleTimeout to send more data"))
    private static let later = Sample.start + .seconds(1_000_000)
    private static let fresh = FetchOutcome.notModified(Sample.response(etag: "x"))

    /// A schedule, and what its calls need beside it.
    private struct World {
        var schedule: DownloadSchedule
        var turn = Turn(at: Sample.start, seed: 1)

        init(triesOnce: Bool = false) {
            schedule = DownloadSchedule(Settings(), triesOnce: triesOnce)
        }

        mutating func add(_ urls: [IconURL]) {
            for url in urls { schedule.add(url, origin: origin, for: "1.plist", .new) }
        }

        mutating func finish(_ url: IconURL, _ outcome: FetchOutcome, at seconds: Int = 0) -> Bool {
            turn.now = Sample.start + .seconds(seconds)
            return schedule.finish(url, outcome, isMultiplexed: false, ofOrigin: true, in: &turn)
        }
    }

    @Test("no download begins during a pause, or once the agent is stopping")
    func pause() {
        var world = World()
        world.add(["a", "b"])
        world.schedule.pauses.begin(Pause(), at: Sample.start)
        #expect(world.schedule.start().isEmpty)
        world.schedule.pauses.end(nil)
        #expect(Set(world.schedule.start()) == ["a", "b"])
        #expect(Set(world.schedule.stop()) == ["a", "b"])
        world.add(["c"])
        #expect(world.schedule.start().isEmpty && world.schedule.isStopping)
    }

    @Test("a download under way when a publication failed is invalid once, when it ends")
    func invalidate() {
        var world = World()
        world.add(["a", "b", "c"])
        world.schedule.remove("c")
        _ = world.schedule.start()
        world.schedule.invalidateActive()
        world.add(["c"])
        #expect(world.schedule.isInvalid("a") && !world.schedule.isInvalid("c"))
        let isInvalid = world.finish("a", Self.fresh)
        #expect(isInvalid)
        world.add(["a"])
        _ = world.schedule.start()
        #expect(!world.finish("a", Self.fresh) && world.finish("b", Self.fresh))
    }

    @Test("icons come out when they are due, in the order of their times")
    func due() {
        var world = World()
        world.schedule.schedule([("a", Sample.start + .seconds(2)), ("b", Sample.start + .seconds(1))])
        #expect(world.schedule.nextWake == Sample.start + .seconds(1))
        #expect(world.schedule.popDue(at: Sample.start) == nil)
        #expect(world.schedule.popDue(at: Sample.start + .seconds(2))?.url == "b")
        #expect(world.schedule.popDue(at: Sample.start + .seconds(2))?.url == "a")
        #expect(world.schedule.popDue(at: Sample.start + .seconds(2)) == nil && world.schedule.nextWake == nil)
    }

    @Test("times that hold no longer are forgotten once they are the most")
    func sweep() {
        var world = World()
        var icons = IconTable()
        let place = icons.place(of: "a", default: IconRecord())
        for second in 0..<1000 {
            let due = Sample.start + .seconds(second)
            _ = icons.update(at: place) { $0.apply(.scheduled(due)) }
            world.schedule.schedule("a", at: due)
            if world.schedule.isMostlyOutdated(amongst: 1) { world.schedule.removeOutdated(in: icons) }
        }
        var count = 0
        while world.schedule.popDue(at: Self.later) != nil { count += 1 }
        #expect(count <= 2 * 1 + 33)
    }

    @Test("a run that tries once wakes up for nothing")
    func once() {
        var world = World(triesOnce: true)
        world.schedule.schedule([("a", Sample.start)])
        #expect(world.schedule.nextWake == nil && world.schedule.popDue(at: Self.later) == nil)
    }

    @Test("an origin that fails five times waits, is asked once more, and is forgotten when it answers")
    func breaker() throws {
        var world = World()
        let urls = (1...10).map { IconURL("\(Self.origin)/\($0)") }
        world.add(urls)
        for _ in 0..<OriginHealth.threshold {
            let started = world.schedule.start()
            for url in started { _ = world.finish(url, Self.timeout) }
            if world.schedule.origins[Self.origin]?.isBroken == true { break }
        }
        let health = try #require(world.schedule.origins[Self.origin])
        #expect(health.isBroken && world.schedule.start().isEmpty)
        let wake = try #require(world.schedule.nextWake)
        #expect(wake == health.waitsUntil && world.turn.memos.due != nil)
        world.schedule.wakeOrigins(at: wake)
        let probe = world.schedule.start()
        #expect(probe.count == 1)
        _ = world.finish(try #require(probe.first), Self.fresh, at: 3600)
        #expect(world.schedule.origins.isEmpty && !world.schedule.start().isEmpty)
    }

    @Test("the remembered health of an origin is restored as far as it can be true")
    func restore() {
        var world = World()
        let far = OriginHealth(failures: 1 << 40, waitsUntil: Sample.start + .seconds(1 << 30))
        let old = OriginHealth(failures: 5, waitsUntil: Sample.start + .seconds(-(1 << 30)))
        world.schedule.restore(
            [OriginMemo(origin: "far", health: far), OriginMemo(origin: "old", health: old)], in: &world.turn)
        #expect(world.schedule.origins["far"]?.failures == 1000 && world.schedule.origins["old"] == nil)
        // Another clock set a time that is so far away.
        #expect(world.schedule.origins["far"]?.waitsUntil == Sample.start && world.turn.memos.due != nil)
    }
}
