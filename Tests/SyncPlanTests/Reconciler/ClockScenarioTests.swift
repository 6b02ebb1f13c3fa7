// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import FuzzTargets
import HTTPRules
import Reports
import Testing

@testable import SyncPlan

@Suite("A wrong clock, and the right one")
struct ClockScenarioTests {
    private static let a: IconURL = "https://h.example/a.png"
    private static let day: Duration = .seconds(86_400)
    /// How far the clock was ahead of the right one.
    private static let errors = [day * 400, .zero - day * 30]
    private static let untrusted = FetchOutcome.failed(FetchFailure(.tls, "the certificate is not valid yet"))

    /// An agent that stored all there is to with a wrong clock, and starts again with the right one.
    private static func restarted(_ agent: AgentScenario, after error: Duration) throws -> AgentScenario {
        var agent = agent
        try agent.pass(.seconds(2))
        while agent.publication != nil { try agent.finishPublication() }
        try agent.restart(at: agent.now + (.zero - error))
        try agent.scan(["1.plist": [Self.a]])
        return agent
    }

    @Test("an image that was stored as fresh is checked at once", arguments: errors)
    func freshness(error: Duration) throws {
        var agent = AgentScenario()
        try agent.publish(["1.plist": [Self.a: "x"]])
        agent = try Self.restarted(agent, after: error)
        #expect(agent.downloads[Self.a]?.condition?.validators == Validators(etag: "x"))
    }

    @Test("after the clock was set right, an image is as old as its server says by the right time", arguments: errors)
    func ages(error: Duration) throws {
        var agent = AgentScenario()
        try agent.handle(.clockSet(offset: .zero - error))
        try agent.scan(["1.plist": [Self.a]])
        let date = HTTPDate.format(agent.now + (.zero - error))
        let response = Sample.response([("Date", date), ("Cache-Control", "max-age=86400"), ("ETag", "\"x\"")])
        try agent.finish(Self.a, with: "x", answer: response)
        try agent.finishJobs()
        try agent.pass(.seconds(23 * 3600))
        #expect(agent.downloads.isEmpty)
        try agent.pass(.seconds(3 * 3600))
        #expect(agent.downloads[Self.a] != nil)
        let report = try #require(agent.plan.report(on: Self.a, now: agent.now))
        #expect(report.response?.freshness == "max-age 86400 s, age 0 s when received: fresh for 86400 s")
    }

    @Test(
        "an icon that failed is tried at once, whatever it failed for",
        arguments: errors, [untrusted, .failed(.status(404)), .failed(.status(403)), .failed(.status(410))])
    func failures(error: Duration, outcome: FetchOutcome) throws {
        var agent = AgentScenario()
        try agent.scan(["1.plist": [Self.a]])
        try agent.finish(Self.a, outcome)
        agent = try Self.restarted(agent, after: error)
        #expect(agent.downloads[Self.a] != nil)
    }

    @Test("an origin that asked for time is asked at once", arguments: errors)
    func origins(error: Duration) throws {
        var agent = AgentScenario()
        try agent.scan(["1.plist": [Self.a]])
        try agent.finish(Self.a, .failed(.status(429, retryAfter: .seconds(3600))))
        agent = try Self.restarted(agent, after: error)
        #expect(agent.downloads[Self.a] != nil)
    }

    @Test("a pause lasts no longer than it was to", arguments: errors)
    func pauses(error: Duration) throws {
        var agent = AgentScenario()
        try agent.handle(.pause(Pause(until: agent.now + .seconds(3600))))
        agent = try Self.restarted(agent, after: error)
        if error > .zero {
            #expect(agent.plan.status.state == .paused && agent.downloads.isEmpty)
            try agent.pass(.seconds(3601))
        }
        #expect(agent.plan.status.state == .running && agent.downloads[Self.a] != nil)
    }

    @Test("a pause ends when it was to, if the clock is set before the agent starts again", arguments: errors)
    func pausesOverClock(error: Duration) throws {
        var agent = AgentScenario()
        let end = agent.now + .seconds(3600)
        try agent.handle(.pause(Pause(until: end)))
        try agent.handle(.clockSet(offset: .zero - error))
        let shown = { (agent: AgentScenario) in agent.plan.status.downloads.pauses.compactMap(\.until) }
        let right = ["\(end + (.zero - error))"]
        #expect(shown(agent) == right)
        agent = try Self.restarted(agent, after: error)
        #expect(shown(agent) == right && agent.plan.status.state == .paused && agent.downloads.isEmpty)
        try agent.pass(.seconds(3597))
        #expect(agent.plan.status.state == .paused)
        try agent.pass(.seconds(1))
        #expect(agent.plan.status.state == .running && agent.downloads[Self.a] != nil)
    }

    @Test("a certificate that a wrong clock refused is tried as soon as the clock is set", arguments: errors)
    func certificates(error: Duration) throws {
        var agent = AgentScenario()
        try agent.scan(["1.plist": [Self.a]])
        for _ in 0..<6 {
            try agent.finish(Self.a, Self.untrusted)
            while agent.downloads.isEmpty { try agent.passToNextWake(); try agent.finishJobs() }
        }
        try agent.finish(Self.a, Self.untrusted)
        #expect(agent.downloads.isEmpty && agent.plan.book.downloads.origins["https://h.example:443"]?.isBroken == true)
        try agent.handle(.clockSet(offset: .zero - error))
        #expect(agent.downloads[Self.a] != nil)
    }

    @Test("a request that was on its way when the clock was set is repeated at once, but once")
    func underWay() throws {
        var agent = AgentScenario()
        try agent.scan(["1.plist": [Self.a]])
        try agent.handle(.clockSet(offset: Self.day))
        try agent.finish(Self.a, Self.untrusted)
        try agent.finish(Self.a, Self.untrusted)
        #expect(agent.downloads.isEmpty)
    }

    @Test("reports and events have the times of the wall clock once it is set, and what an earlier run stored its own")
    func reports() throws {
        let (error, b) = (Self.day * 30, IconURL("https://h.example/b.png"))
        func right(_ time: Timestamp) -> Timestamp { time + (.zero - error) }
        var agent = AgentScenario()
        try agent.publish(["1.plist": [Self.a: "x"]])
        try agent.handle(.clockSet(offset: .zero - error))
        try agent.scan(["1.plist": [Self.a, b]])
        try agent.finish(b, .failed(.status(404)))
        let icon = try #require(agent.plan.book.catalog.icons[Self.a])
        let received = try #require(agent.plan.response(of: Self.a)?.responseTime)
        let report = try #require(agent.plan.report(on: Self.a, now: agent.now))
        #expect(report.response?.received == "\(right(received))")
        #expect(report.next == "refresh at \(right(icon.freshUntil))")
        var failure = try #require(agent.plan.book.catalog.icons[b]?.failure)
        let attempt = try #require(failure.nextAttempt)
        let failed = try #require(agent.plan.report(on: b, now: agent.now))
        #expect(failed.failure?.nextAttempt == "\(right(attempt))" && failed.next == "retry at \(right(attempt))")
        failure.nextAttempt = right(attempt)
        #expect(agent.events.filter { $0.kind == .iconFailed && $0.url == b } == [.iconFailed(b, failure)])
        #expect(agent.plan.status.watch.lastScan == "\(right(agent.now))")

        // The next run begins with the wrong clock again.
        try agent.pass(.seconds(2))
        try agent.finishJobs()
        try agent.restart()
        try agent.scan(["1.plist": [Self.a, b]])
        try agent.handle(.clockSet(offset: .zero - error))
        let again = try #require(agent.plan.report(on: Self.a, now: agent.now))
        #expect(again.response?.received == "\(received)" && again.next == report.next)
    }

    @Test("a manifest that was under way when the clock was set back is followed by one that readers accept")
    func published() throws {
        var agent = AgentScenario()
        try agent.scan(["1.plist": ["ftp://h.example/a"]])
        if agent.publication == nil { try agent.passToNextWake() }
        try agent.handle(.clockSet(offset: .zero - Self.day))
        try agent.finishPublication()
        let ahead = try #require(agent.disk.current?.published)
        if agent.publication == nil { try agent.passToNextWake() }
        try agent.finishJobs()
        #expect(try #require(agent.disk.current?.published) <= ahead + (.seconds(60) - Self.day))
    }

    @Test("a clock that is set leaves other failures waiting")
    func others() throws {
        var agent = AgentScenario()
        try agent.scan(["1.plist": [Self.a]])
        try agent.finish(Self.a, .failed(.status(404)))
        try agent.handle(.clockSet(offset: Self.day))
        #expect(agent.downloads.isEmpty)
    }
}
