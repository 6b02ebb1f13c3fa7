// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import HTTPRules
import Reports
import SyncPlan
import Testing

@Suite("Icons that somebody wants downloaded without conditions")
struct FullRefreshScenarioTests {
    private static let a: IconURL = "https://h.example/a"

    private static func ready() throws -> AgentScenario {
        var agent = AgentScenario()
        try agent.publish(["1.plist": [a: "x"]])
        return agent
    }

    private static func countDue(_ agent: AgentScenario) -> Int {
        agent.plan.countDue([a], isRefresh: true, isFull: true)
    }

    /// The request in flight, which must be a full one.
    private static func expectFullRequest(_ agent: AgentScenario) throws {
        let request = try #require(agent.downloads[a])
        #expect(request.condition == nil && request.bypassesCaches && !request.mayResume)
    }

    @Test(
        "a full refresh of a fresh image has no conditions; the next one has them again",
        arguments: [("y", "y"), ("x", "x")])
    func once(word: String, etag: String) throws {
        var agent = try Self.ready()
        #expect(Self.countDue(agent) == 1)
        try agent.handle(.request([Self.a], isRefresh: true, isFull: true))
        try Self.expectFullRequest(agent)
        #expect(Self.countDue(agent) == 0)
        try agent.finish(Self.a, with: word)
        try agent.finishJobs()
        #expect(try agent.published("1.plist") == [.ready(Sample.image(word))])
        #expect(agent.downloads.isEmpty)
        try agent.handle(.request([Self.a], isRefresh: true))
        let next = try #require(agent.downloads[Self.a])
        #expect(next.condition?.validators == Validators(etag: etag) && !next.bypassesCaches)
    }

    @Test(
        "a full download that fails keeps the image, and its retry has no conditions either",
        arguments: [FetchOutcome.failed(.status(503)), .failed(.status(304)), .failed(.timeout("60 s"))])
    func failure(outcome: FetchOutcome) throws {
        var agent = try Self.ready()
        try agent.handle(.request([Self.a], isRefresh: true, isFull: true))
        try agent.finish(Self.a, outcome)
        try agent.finishJobs()
        #expect(try agent.published("1.plist") == [.ready(Sample.image("x"))])
        #expect(agent.plan.status.icons.stale == 1)
        try agent.fetchAgain(Self.a)
        try Self.expectFullRequest(agent)
        try agent.finish(Self.a, with: "y")
        try agent.finishJobs()
        #expect(try agent.published("1.plist") == [.ready(Sample.image("y"))])
    }

    @Test("a 304 to a request that was in flight is followed by a full request, and says nothing")
    func inFlight() throws {
        var agent = try Self.ready()
        try agent.handle(.request([Self.a], isRefresh: true))
        #expect(agent.downloads[Self.a]?.condition != nil && Self.countDue(agent) == 1)
        try agent.handle(.request([Self.a], isRefresh: true, isFull: true))
        #expect(Self.countDue(agent) == 0 && agent.requests.count == 2)
        try agent.finish(Self.a, .notModified(Sample.response(etag: "x", at: agent.now)))
        try Self.expectFullRequest(agent)
        try agent.finish(Self.a, with: "x")
        try agent.finishJobs()
        #expect(agent.downloads.isEmpty && agent.requests.count == 3)
        #expect(try agent.published("1.plist") == [.ready(Sample.image("x"))])
    }

    @Test("a request that waits for the end of a pause becomes a full one")
    func queued() throws {
        var agent = try Self.ready()
        try agent.handle(.pause(Pause()))
        try agent.handle(.request([Self.a], isRefresh: true))
        #expect(Self.countDue(agent) == 1)
        try agent.handle(.request([Self.a], isRefresh: true, isFull: true))
        #expect(agent.downloads.isEmpty && Self.countDue(agent) == 0)
        try agent.handle(.resume(nil))
        try Self.expectFullRequest(agent)
    }

    @Test("an icon without an image is requested past caches if it failed")
    func failed() throws {
        var agent = AgentScenario()
        try agent.scan(["1.plist": [Self.a]])
        try agent.finish(Self.a, .failed(.status(404)))
        try agent.finishJobs()
        try agent.handle(.request([Self.a], isRefresh: true, isFull: true))
        try Self.expectFullRequest(agent)
    }
}
