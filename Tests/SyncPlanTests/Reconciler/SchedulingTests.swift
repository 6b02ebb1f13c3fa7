// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import HTTPRules
import Reports
import Testing

@testable import SyncPlan

@Suite("Slow and dead hosts beside healthy ones")
struct SchedulingTests {
    private static func urls(_ host: String, _ count: Int) -> [IconURL] {
        (0..<count).map { IconURL("https://\(host)/\($0).png") }
    }

    /// How long 2,000 icons of a healthy host take that answers in 20 ms.
    private static let alone: Result<Duration, any Error> = Result {
        var agent = AgentScenario(servers: ["healthy": SimulatedServers.healthy(.milliseconds(20))])
        try agent.scan(["1.plist": urls("healthy", 2000)])
        try agent.run()
        return agent.servers["healthy"].lastImage
    }

    @Test(
        "hosts that never answer cost a healthy host no more than a tenth of its time, in either order of lists",
        arguments: [(1, false), (10, true), (100, false)])
    func deadHosts(count: Int, first: Bool) throws {
        let alone = try Self.alone.get()
        let dead = (0..<count).map { "dead\($0)" }
        var servers: [String: SimulatedServers.Server] = [:]
        for host in dead { servers[host] = SimulatedServers.silent }
        servers["healthy"] = SimulatedServers.healthy(.milliseconds(20))
        var agent = AgentScenario(servers: servers, triesOnce: true)
        let deadURLs = dead.flatMap { Self.urls($0, 50) }
        let healthyURLs = Self.urls("healthy", 2000)
        try agent.scan(["1.plist": first ? deadURLs : healthyURLs])
        try agent.scan(["2.plist": first ? healthyURLs : deadURLs])
        try agent.run()
        let time = agent.servers["healthy"].lastImage
        print("2,000 icons: alone \(alone), beside \(count) dead hosts \(time), settled after \(agent.elapsed)")
        #expect(alone >= .seconds(10) && time <= alone * 1.1)
        #expect(agent.servers["healthy"].requests == 2000)
        for host in dead {
            #expect(agent.servers[host].requests == 5 && agent.servers[host].most <= 4)
            #expect(agent.servers[host].inFlight == 0)
        }
        let status = agent.plan.status
        #expect(status.icons.ready == 2000 && status.icons.failed == 5 * count && status.icons.pending == 45 * count)
        #expect(status.downloads.waiting == 50 * count && status.needsAttention)
    }

    @Test("hosts that die while the agent waits for them cost a healthy host nothing")
    func dyingHosts() throws {
        let alone = try Self.alone.get()
        let dead = (0..<40).map { "dead\($0)" }
        var servers: [String: SimulatedServers.Server] = [:]
        for host in dead { servers[host] = SimulatedServers.silent }
        for host in ["healthy", "late"] { servers[host] = SimulatedServers.healthy(.milliseconds(20)) }
        var agent = AgentScenario(servers: servers)
        try agent.scan(["1.plist": Self.urls("healthy", 2000)])
        try agent.run(for: .seconds(1))
        try agent.scan(["2.plist": dead.flatMap { Self.urls($0, 200) }])
        try agent.run(for: .seconds(20))
        let time = agent.servers["healthy"].lastImage
        print("2,000 icons: alone \(alone), beside 40 hosts that hang from the first second on \(time)")
        #expect(agent.plan.status.icons.ready == 2000 && time <= alone * 1.1)
        #expect(agent.servers.inFlight == 16)

        // A minute later the dead ones have failed once, and keep none waiting that was never asked.
        try agent.run(for: .seconds(160))
        try agent.scan(["3.plist": Self.urls("late", 2000)])
        let added = agent.elapsed
        try agent.run(for: .seconds(20))
        let late = agent.servers["late"].lastImage - added
        print("and 2,000 of a host that comes later: \(late)")
        #expect(agent.servers["late"].requests == 2000 && late <= alone * 1.1)
    }

    @Test("a slow host costs a fast host nothing")
    func slowHost() throws {
        var agent = AgentScenario(servers: [
            "slow": SimulatedServers.healthy(.seconds(5)), "healthy": SimulatedServers.healthy(.milliseconds(20)),
        ])
        try agent.scan(["1.plist": Self.urls("slow", 200) + Self.urls("healthy", 2000)])
        try agent.run()
        let alone = try Self.alone.get()
        #expect(agent.servers["healthy"].lastImage <= alone * 1.1)
        // Four at once, five seconds each.
        let limit: Duration = .seconds(200 / 4 * 5 + 5)
        #expect(agent.servers["slow"].lastImage <= limit)
    }

    @Test("a dead host gets fewer and fewer requests, one at a time, and few wake-ups for each")
    func deadForADay() throws {
        var agent = AgentScenario(servers: ["dead": SimulatedServers.silent])
        try agent.scan(["1.plist": Self.urls("dead", 200)])
        try agent.run(for: .seconds(86_400))
        let requests = agent.servers["dead"].requests
        print("a dead host in a day: \(requests) requests, \(agent.wakeUps) wake-ups for 200 icons")
        // A probe every six minutes: its timeout, and five minutes between on average.
        #expect(requests > 200 && requests < 400 && agent.servers["dead"].inFlight <= 1)
        // A wait's end, a retry's time, what is to be remembered, a publication and a grace for each.
        #expect(agent.wakeUps <= 6 * requests)
    }

    @Test("a host that throttles gets the pauses that it asks for")
    func throttling() throws {
        var answered = 0
        var agent = AgentScenario(servers: [
            "busy": { request, now in
                answered += 1
                let outcome = SimulatedServers.healthy(.milliseconds(20))(request, now).outcome
                return (
                    .milliseconds(20),
                    answered % 50 == 0 ? .failed(.status(429, retryAfter: .seconds(30))) : outcome
                )
            }
        ])
        try agent.scan(["1.plist": Self.urls("busy", 200)])
        try agent.run(for: .seconds(600))
        print("a host that allows 49 requests in 30 s: \(agent.servers["busy"].requests) requests for 200 icons")
        #expect(agent.plan.status.icons.ready == 200 && agent.servers["busy"].requests <= 204)
        #expect(agent.servers["busy"].lastImage >= .seconds(120))
    }

    @Test("icons of a dead host cost constant time each to queue, count and give up")
    func size() throws {
        try expectLinearTime(from: 1000) { count in
            var agent = AgentScenario(servers: ["dead": SimulatedServers.silent])
            try agent.scan(["1.plist": Self.urls("dead", count)])
            try agent.run(for: .seconds(3600))
            #expect(agent.plan.status.icons.pending > count - 100)
            try agent.scan(["1.plist": []])
            try agent.run()
            #expect(agent.plan.status.icons.referenced == 0 && agent.plan.status.downloads.counts == [0, 0, 0, 0])
        }
    }
}
