// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import HTTPRules
import Reports
import SyncPlan
import Testing

@Suite("Slow and dead hosts beside healthy ones")
struct SchedulingTests {
    private static func urls(_ host: String, _ count: Int) -> [IconURL] {
        (0..<count).map { IconURL("https://\(host)/\($0).png") }
    }

    /// How long 2,000 icons of a healthy host take that answers in 20 ms.
    private static let alone: Duration = {
        var world = TimedWorld(["healthy": TimedWorld.healthy(.milliseconds(20))])
        world.drop("1.plist", urls("healthy", 2000))
        world.run()
        return world.finished["healthy"] ?? .zero
    }()

    @Test(
        "hosts that never answer cost a healthy one no more than a tenth, whoever comes first",
        arguments: [(1, true), (1, false), (10, true), (10, false), (15, true), (100, false)])
    func deadHosts(count: Int, first: Bool) {
        let dead = (0..<count).map { "dead\($0)" }
        var servers: [String: TimedWorld.Server] = [:]
        for host in dead { servers[host] = TimedWorld.dead }
        servers["healthy"] = TimedWorld.healthy(.milliseconds(20))
        var world = TimedWorld(servers, triesOnce: true)
        let deadURLs = dead.flatMap { Self.urls($0, 200) }
        let healthyURLs = Self.urls("healthy", 2000)
        world.drop("1.plist", first ? deadURLs : healthyURLs)
        world.drop("2.plist", first ? healthyURLs : deadURLs, beside: ["1.plist"])
        world.run()
        let time = world.finished["healthy"] ?? .zero
        print("2,000 icons: alone \(Self.alone), beside \(count) dead hosts \(time), settled after \(world.elapsed)")
        #expect(Self.alone >= .seconds(10) && time <= Self.alone * 1.1)
        #expect(world.requests["healthy"] == 2000)
        for host in dead {
            #expect(world.requests[host] == 5 && world.most[host] ?? 0 <= 4)
            #expect(world.inFlight[host] == 0)
        }
        let status = world.status
        #expect(status.icons.ready == 2000 && status.icons.failed == 5 * count && status.icons.pending == 195 * count)
        #expect(status.downloads.waiting == 200 * count && status.needsAttention)
    }

    @Test("hosts that die while the agent waits for them cost one that answers nothing")
    func dyingHosts() {
        let dead = (0..<40).map { "dead\($0)" }
        var servers: [String: TimedWorld.Server] = [:]
        for host in dead { servers[host] = TimedWorld.dead }
        for host in ["healthy", "late"] { servers[host] = TimedWorld.healthy(.milliseconds(20)) }
        var world = TimedWorld(servers)
        world.drop("1.plist", Self.urls("healthy", 2000))
        world.run(for: .seconds(1))
        world.drop("2.plist", dead.flatMap { Self.urls($0, 200) }, beside: ["1.plist"])
        world.run(for: .seconds(20))
        let time = world.finished["healthy"] ?? .zero
        print("2,000 icons: alone \(Self.alone), beside 40 hosts that hang from the first second on \(time)")
        #expect(world.status.icons.ready == 2000 && time <= Self.alone * 1.1)
        #expect(world.inFlight.values.reduce(0, +) == 16)

        // A minute later the dead ones have failed once, and keep none waiting that was never asked.
        world.run(for: .seconds(160))
        world.drop("3.plist", Self.urls("late", 2000), beside: ["1.plist", "2.plist"])
        let dropped = world.elapsed
        world.run(for: .seconds(20))
        let late = (world.finished["late"] ?? .zero) - dropped
        print("and 2,000 of a host that comes later: \(late)")
        #expect(world.requests["late"] == 2000 && late <= Self.alone * 1.1)
    }

    @Test("a slow host costs a fast one nothing")
    func slowHost() {
        var world = TimedWorld([
            "slow": TimedWorld.healthy(.seconds(5)), "healthy": TimedWorld.healthy(.milliseconds(20)),
        ])
        world.drop("1.plist", Self.urls("slow", 200) + Self.urls("healthy", 2000))
        world.run()
        #expect(world.finished["healthy"] ?? .zero <= Self.alone * 1.1)
        // Four at once, five seconds each.
        let limit: Duration = .seconds(200 / 4 * 5 + 5)
        #expect(world.finished["slow"] ?? .zero <= limit)
    }

    @Test("a dead host is asked less and less, one request at a time, and wakes the agent no oftener than that needs")
    func deadForADay() {
        var world = TimedWorld(["dead": TimedWorld.dead])
        world.drop("1.plist", Self.urls("dead", 200))
        world.run(for: .seconds(86_400))
        let requests = world.requests["dead"] ?? 0
        print("a dead host in a day: \(requests) requests, \(world.ticks) wake-ups for 200 icons")
        // A probe every six minutes: its timeout, and five minutes between on average.
        #expect(requests > 200 && requests < 400 && world.inFlight["dead"] ?? 0 <= 1)
        // A wait's end, a retry's time, what is to be remembered, a publication and a grace for each.
        #expect(world.ticks <= 6 * requests)
    }

    @Test("a host that throttles gets what it asks for")
    func throttling() {
        var answered = 0
        var world = TimedWorld([
            "busy": { request in
                answered += 1
                let outcome = TimedWorld.healthy(.milliseconds(20))(request).outcome
                return (
                    .milliseconds(20),
                    answered % 50 == 0 ? .failed(.status(429, retryAfter: .seconds(30))) : outcome
                )
            }
        ])
        world.drop("1.plist", Self.urls("busy", 200))
        world.run(for: .seconds(600))
        print("a host that allows 49 requests in 30 s: \(world.requests["busy"] ?? 0) requests for 200 icons")
        #expect(world.status.icons.ready == 200 && world.requests["busy"] ?? 0 <= 204)
        #expect(world.finished["busy"] ?? .zero >= .seconds(120))
    }

    @Test("twenty thousand icons of a dead host are queued, counted and given up in no time")
    func size() {
        let time = ContinuousClock().measure {
            var world = TimedWorld(["dead": TimedWorld.dead])
            world.drop("1.plist", Self.urls("dead", 20_000))
            world.run(for: .seconds(3600))
            #expect(world.status.icons.pending > 19_900)
            world.drop("1.plist", [])
            world.run()
            #expect(world.status.icons.referenced == 0 && world.status.downloads.counts == [0, 0, 0, 0])
        }
        print("twenty thousand icons of a dead host for an hour: \(time)")
        #expect(time < .seconds(120))
    }
}
