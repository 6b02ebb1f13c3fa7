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
        var icons = IconTable()

        init(triesOnce: Bool = false) {
            schedule = DownloadSchedule(Settings(), triesOnce: triesOnce)
        }

        mutating func id(of url: IconURL) -> IconID { icons.id(of: url, default: IconRecord()) }

        mutating func add(_ urls: [IconURL]) {
            for url in urls { schedule.queue.add(url, origin: origin, list: "1.plist", priority: .new) }
        }

        mutating func finish(
            _ url: IconURL, _ outcome: FetchOutcome, at seconds: Int = 0, isMultiplexed: Bool? = false
        ) -> Bool {
            turn.now = Sample.start + .seconds(seconds)
            return schedule.finish(
                EndedDownload(url: url, outcome, isMultiplexed: isMultiplexed), ofOrigin: true, in: &turn)
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
        world.schedule.queue.remove("c")
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
        let (a, b) = (world.id(of: "a"), world.id(of: "b"))
        world.schedule.schedule([(a, Sample.start + .seconds(2)), (b, Sample.start + .seconds(1))])
        #expect(world.schedule.nextWake == Sample.start + .seconds(1))
        #expect(world.schedule.popDue(at: Sample.start) == nil)
        #expect(world.schedule.popDue(at: Sample.start + .seconds(2))?.icon == b)
        #expect(world.schedule.popDue(at: Sample.start + .seconds(2))?.icon == a)
        #expect(world.schedule.popDue(at: Sample.start + .seconds(2)) == nil && world.schedule.nextWake == nil)
    }

    @Test("times that hold no longer are forgotten once they are the most")
    func sweep() {
        var world = World()
        let icon = world.id(of: "a")
        for second in 0..<1000 {
            let due = Sample.start + .seconds(second)
            world.icons.apply(.scheduled(due), to: icon)
            world.schedule.schedule(icon, at: due)
            if world.schedule.isMostlyOutdated(amongst: 1) { world.schedule.removeOutdated(in: world.icons) }
        }
        var count = 0
        while world.schedule.popDue(at: Self.later) != nil { count += 1 }
        #expect(count <= 2 * 1 + 33)
    }

    @Test("a run that tries once wakes up for nothing")
    func once() {
        var world = World(triesOnce: true)
        world.schedule.schedule([(world.id(of: "a"), Sample.start)])
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

    /// How long the origin waits after delays that it asked for: the URL, the status, after how many seconds, and for how
    /// many; 0 seconds are an icon.
    private static func wait(after replies: [(url: IconURL, status: Int, at: Int, seconds: Int)]) -> Duration {
        var world = World()
        for reply in replies {
            world.add([reply.url])
            let started = world.schedule.start()
            #expect(started == [reply.url])
            let failure = FetchFailure.status(reply.status, retryAfter: .seconds(reply.seconds))
            _ = world.finish(reply.url, reply.seconds == 0 ? fresh : .failed(failure), at: reply.at)
        }
        return max((world.schedule.origins[origin]?.waitsUntil ?? .distantPast) - world.turn.now, .zero)
    }

    @Test(
        "an origin waits after one 429, or after three different URLs within a minute asked for a delay",
        arguments: [
            ([("a", 429, 0, 100)], 100), ([("a", 503, 0, 100)], 0), ([("a", 403, 0, 100)], 0),
            ([("a", 503, 0, 100), ("b", 503, 1, 100)], 0),
            ([("a", 503, 0, 100), ("b", 503, 1, 90), ("c", 503, 59, 95)], 90),
            ([("a", 403, 0, 100), ("b", 403, 1, 100), ("c", 403, 2, 100)], 100),
            ([("a", 503, 0, 100), ("b", 403, 1, 100), ("c", 500, 2, 100)], 100),
            // An old delay, the same URL again, and an icon between them.
            ([("a", 503, 0, 100), ("b", 503, 1, 100), ("c", 503, 60, 100)], 0),
            ([("a", 503, 0, 100), ("a", 503, 1, 100), ("a", 503, 2, 100)], 0),
            ([("a", 503, 0, 100), ("b", 503, 1, 100), ("d", 200, 2, 0), ("c", 503, 3, 100)], 0),
            // A failure of one URL between them, and one of the origin that asks for no delay.
            ([("a", 503, 0, 100), ("b", 503, 1, 100), ("d", 404, 2, 100), ("c", 503, 3, 100)], 0),
            ([("a", 503, 0, 100), ("b", 503, 1, 100), ("d", 500, 2, -1), ("c", 503, 3, 100)], 100),
            // No more than fetch.retryMax, except for 429.
            ([("a", 503, 0, 9000), ("b", 503, 1, 9000), ("c", 503, 2, 9000)], 600), ([("a", 429, 0, 9000)], 9000),
        ] as [([(url: IconURL, status: Int, at: Int, seconds: Int)], Int)])
    func delays(replies: [(url: IconURL, status: Int, at: Int, seconds: Int)], seconds: Int) {
        let wait = Self.wait(after: replies)
        #expect(wait >= .seconds(seconds) && wait <= .seconds(seconds) * 1.1)
    }

    @Test(
        "the delays of an origin behind a redirect are forgotten when it answers without one, not when another does",
        arguments: [(nil, true), ("https://cdn.example:443", false)] as [(String?, Bool)])
    func redirected(answering: String?, waits: Bool) {
        let cdn = "https://cdn.example:443"
        var world = World()
        world.schedule.queue.add("https://cdn.example/x", origin: cdn, list: "1.plist", priority: .new)
        for (url, status) in [("a", 503), ("b", 503), ("c", 404), ("d", 503)] as [(IconURL, Int)] {
            world.add([url])
            let started = world.schedule.start()
            #expect(started.contains(url))
            var failure = FetchFailure.status(status, retryAfter: .seconds(100))
            failure.origin = status == 404 ? answering : cdn
            _ = world.finish(url, .failed(failure))
        }
        #expect((world.schedule.origins[cdn]?.isWaiting(at: world.turn.now) ?? false) == waits)
    }

    @Test("with fetch.maxRate, an origin that speaks HTTP/2 has no more downloads than connections")
    func limitedRate() {
        var world = World()
        world.add((1...100).map { IconURL("\(Self.origin)/\($0)") })
        func finish(_ urls: [IconURL], isMultiplexed: Bool? = true) {
            for url in urls { _ = world.finish(url, Self.fresh, isMultiplexed: isMultiplexed) }
        }
        finish(world.schedule.start())
        var settings = Settings()
        var started = world.schedule.start()
        #expect(started.count > settings.fetch.perHost)
        settings.fetch.maxRate = .mebibytes(1)
        world.schedule.configure(settings)
        finish(Array(started.dropFirst(settings.fetch.perHost)), isMultiplexed: nil)
        #expect(world.schedule.start().isEmpty)
        finish(Array(started.prefix(settings.fetch.perHost)))
        started = world.schedule.start()
        #expect(started.count == settings.fetch.perHost)
        world.schedule.configure(Settings())
        finish(started)
        #expect(world.schedule.start().count > settings.fetch.perHost)
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
