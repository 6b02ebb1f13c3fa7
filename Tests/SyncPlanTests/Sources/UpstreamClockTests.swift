// SPDX-License-Identifier: Apache-2.0
import AppLists
import CacheFormat
import Reports
import Testing

@testable import Fleet
@testable import SyncPlan

/// The agent counts time from its start; manifests have the time of wall clocks, which may be set later.
@Suite("Upstreams when the clock is set")
struct UpstreamClockTests {
    private let icon: IconURL = "https://a.example/1.png"
    private static let month: Duration = .seconds(30 * 86_400)

    private func state(of agent: AgentScenario) -> String? { agent.plan.status.upstreams.first?.state.text }

    @Test("a dead upstream that was fresh by a clock behind is stale, and the origin is asked again")
    func behind() throws {
        var agent = AgentScenario.withUpstreams()
        try agent.scan(["1.plist": [icon]])
        // By this clock it was published just now.
        try agent.finishPoll([icon: UpstreamSample.ready("x")])
        try agent.finish(icon, with: "x")
        try agent.finishJobs()
        #expect(state(of: agent) == "fresh")
        try agent.handle(.clockSet(offset: Self.month))
        #expect(state(of: agent) == "stale")
        #expect(agent.plan.book.sources.isWaiting(icon), "what it confirmed counts no longer")
        while agent.downloads.isEmpty {
            agent.polls = []
            try agent.handle(.polled(UpstreamAnswer(url: UpstreamSample.first, .unchanged())))
            try agent.passToNextWake()
        }
        #expect(agent.target == icon.text)
    }

    @Test("an upstream that was refused by a clock behind is asked at once, and fresh for as long as any other")
    func behindAndRefused() throws {
        var agent = AgentScenario.withUpstreams { $0.poll = .seconds(3600) }
        try agent.scan(["1.plist": [icon]])
        try agent.finishPoll(.failed(UpstreamFailure(.ahead, "it is of the future")))
        #expect(state(of: agent) == "refused")
        try agent.pass(.seconds(60))
        try agent.handle(.clockSet(offset: Self.month))
        let now = agent.now
        try agent.finishPoll([icon: UpstreamSample.ready("x")], published: now + Self.month)
        #expect(agent.now == now)
        try agent.finish(icon, with: "x")
        try agent.finishJobs()
        // By the wall clock, as it was set.
        let until = now + Self.month + .seconds(72 * 3600)
        #expect(agent.plan.report(on: icon, now: agent.now)?.next == "refresh at \(until)")
        #expect(state(of: agent) == "fresh")
    }

    @Test("an upstream that was stale by a clock ahead is fresh, and what waits is taken there")
    func ahead() throws {
        var agent = AgentScenario.withUpstreams()
        try agent.scan(["1.plist": [icon]])
        try agent.finishPoll([icon: UpstreamSample.ready("old")])
        try agent.finish(icon, with: "old")
        try agent.finishJobs()
        var poll = try agent.awaitPoll()
        let published = agent.now + (.zero - Self.month)
        let contents = try UpstreamSample.contents(
            [icon: UpstreamSample.ready("new")], generation: 2, published: published)
        try agent.handle(.polled(UpstreamAnswer(url: poll.url, epoch: poll.epoch, .accepted(contents))))
        while !agent.plan.book.sources.isWaiting(icon) {
            try agent.passToNextWake()
            if !agent.polls.isEmpty {
                poll = agent.polls.removeFirst()
                try agent.handle(.polled(UpstreamAnswer(url: poll.url, epoch: poll.epoch, .unchanged())))
            }
        }
        #expect(state(of: agent) == "stale")
        let requests = agent.requests.count
        // What was published since the start is as far behind.
        try agent.handle(.clockSet(offset: published - agent.now + .seconds(60)))
        #expect(state(of: agent) == "fresh")
        #expect(agent.requests.count == requests + 1)
        #expect(agent.target == UpstreamSample.first.file(Sample.image("new").path).url)
    }

    @Test("a manifest that was accepted by a clock ahead keeps those of the right time out no longer")
    func acceptedAhead() throws {
        var agent = AgentScenario.withUpstreams()
        try agent.scan(["1.plist": [icon]])
        try agent.finishPoll([icon: .pending], generation: 7)
        try agent.handle(.clockSet(offset: .zero - Self.month))
        #expect(state(of: agent) == "stale")
        let poll = try agent.awaitPoll()
        #expect(poll.accepted == nil)
        // One that is not of the future is remembered as before.
        try agent.handle(.clockSet(offset: .zero))
        try agent.handle(
            .polled(UpstreamAnswer(url: poll.url, epoch: poll.epoch, .accepted(try UpstreamSample.contents([:])))))
        try agent.handle(.clockSet(offset: .seconds(-600)))
        #expect(try agent.awaitPoll().accepted != nil)
    }

    @Test("after a clock was wrong for a while, the manifest that was accepted before counts again")
    func wrongForAWhile() throws {
        var agent = AgentScenario.withUpstreams()
        try agent.scan(["1.plist": [icon]])
        try agent.finishPoll([icon: UpstreamSample.ready("x")], generation: 7)
        try agent.finish(icon, with: "x")
        try agent.finishJobs()
        try agent.handle(.clockSet(offset: .zero - Self.month))
        #expect(state(of: agent) == "stale")
        // Others may be accepted until then, also after a restart.
        try agent.pass(.seconds(2))
        var behind = agent
        try behind.restart()
        try behind.scan()
        #expect(try behind.awaitPoll().accepted == nil)
        try agent.handle(.clockSet(offset: .zero))
        #expect(state(of: agent) == "fresh")
        #expect(try agent.awaitPoll().accepted?.generation == 7)
        try agent.handle(.polled(UpstreamAnswer(url: UpstreamSample.first, .unchanged())))
        #expect(state(of: agent) == "fresh" && !agent.plan.book.sources.isWaiting(icon))
        #expect(agent.requests.count == 1)
        try agent.pass(.seconds(2))
        try agent.restart()
        try agent.scan()
        #expect(try agent.awaitPoll().accepted?.generation == 7)
    }

    @Test(
        "another manifest with the right time follows when the clock was wrong, and none otherwise",
        arguments: [(-30 * 86_400, true), (30 * 86_400, true), (-60, false), (60, false), (-3601, true), (3600, true)])
    func published(seconds: Int, isPublished: Bool) throws {
        var agent = AgentScenario()
        try agent.publish(["1.plist": [icon: "x"]])
        let before = try #require(agent.plan.book.publishing.manifest)
        let jump = Duration.seconds(seconds)
        try agent.handle(.clockSet(offset: jump))
        try agent.pass(.seconds(5))
        try agent.finishJobs()
        let after = try #require(agent.plan.book.publishing.manifest)
        #expect((after.generation > before.generation) == isPublished)
        if isPublished {
            let age = agent.now + jump - after.published
            #expect(age >= .zero && age < .seconds(10), "\(after.published)")
        }
        // Those that follow have the time of that clock, and never an earlier one than another.
        try agent.scan(["2.plist": []])
        try agent.pass(.seconds(5))
        try agent.finishJobs()
        let last = try #require(agent.plan.book.publishing.manifest)
        #expect(last.published >= after.published && last.generation > after.generation)
        #expect(last.published <= max(agent.now + jump, after.published))
    }
}
