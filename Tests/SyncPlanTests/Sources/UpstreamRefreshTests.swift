// SPDX-License-Identifier: Apache-2.0
import AppLists
import CacheFormat
import Fleet
import Reports
import Testing

@testable import AgentSettings
@testable import HTTPRules
@testable import SyncPlan

@Suite("Refreshes of images that no upstream has")
struct UpstreamRefreshTests {
    private let icon: IconURL = "https://a.example/1.png"
    private static let wait: ClosedRange<Duration> = .seconds(60)...(.seconds(60 + 30))

    private static func agent() -> AgentScenario {
        AgentScenario.withUpstreams { ($0.wait, $0.spread) = (wait.lowerBound, .seconds(30)) }
    }

    /// Lets time pass until a condition is met, while upstreams have no news; returns the number of polls.
    private func pass(_ agent: inout AgentScenario, until isMet: (AgentScenario) -> Bool) throws -> Int {
        var polls = 0
        while !isMet(agent) {
            if let poll = agent.polls.popLast() {
                polls += 1
                try agent.handle(.polled(UpstreamAnswer(url: poll.url, epoch: poll.epoch, .unchanged())))
            } else {
                try agent.passToNextWake()
            }
            try agent.finishJobs()
        }
        return polls
    }

    /// How long the icon waits for its origin at most.
    private func delay(_ agent: AgentScenario) throws -> Duration {
        try #require(agent.plan.book.sources.originTime(of: icon)) - agent.now
    }

    @Test("an image from its origin is refreshed there as soon as an icon without an image, and nobody hurries")
    func fromOrigin() throws {
        var agent = Self.agent()
        try agent.scan(["1.plist": [icon]])
        try agent.finishPoll([:])
        _ = try pass(&agent) { !$0.downloads.isEmpty }
        for _ in 1...3 {
            try agent.finish(icon, with: "o")
            try agent.finishJobs()
            _ = try pass(&agent) { $0.plan.book.sources.isWaiting(icon) }
            #expect(Self.wait.contains(try delay(agent)))
            let status = agent.plan.status
            #expect(status.downloads.awaitingUpstream == 0 && status.icons.ready == 1)
            let start = agent.now
            let polls = try pass(&agent) { !$0.downloads.isEmpty }
            #expect(agent.target == icon.text && agent.now - start <= Self.wait.upperBound && polls <= 1)
        }
    }

    @Test(
        "an image from an upstream that is stale, or lists it no longer, is refreshed within a day",
        arguments: [true, false])
    func fromUpstream(isListed: Bool) throws {
        var agent = Self.agent()
        try agent.scan(["1.plist": [icon]])
        try agent.finishPoll([icon: UpstreamSample.ready("x")])
        try agent.finish(icon, with: "x")
        try agent.finishJobs()
        if !isListed { try agent.finishPoll([:], generation: 2) }
        _ = try pass(&agent) { $0.plan.book.sources.isWaiting(icon) }
        let day = try delay(agent)
        #expect(day > .seconds(600) && day <= Self.wait.lowerBound + .seconds(86_400))
        #expect(agent.plan.status.downloads.awaitingUpstream == 0)
        guard isListed else {
            var other = agent
            try other.scan("1.plist", icon, expecting: "y")
            #expect(Self.wait.contains(try delay(other)), "another image that a list asks for does not wait for a day")
            try agent.handle(.damaged([Sample.image("x").sha256]))
            #expect(Self.wait.contains(try delay(agent)), "an icon that lost its image does not wait for a day")
            #expect(agent.plan.status.downloads.awaitingUpstream == 1)
            return
        }
        _ = try pass(&agent) { !$0.downloads.isEmpty }
        #expect(agent.target == icon.text)
        try agent.finish(icon, with: "x")
        try agent.finishJobs()
        _ = try pass(&agent) { $0.plan.book.sources.isWaiting(icon) }
        #expect(Self.wait.contains(try delay(agent)), "the last answer is that of the origin")
    }
}
