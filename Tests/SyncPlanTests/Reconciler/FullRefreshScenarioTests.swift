// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import HTTPRules
import Reports
import Testing

@testable import SyncPlan

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
        #expect(request.condition == nil && request.bypassesCaches)
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

    /// An agent with a request in flight that has no conditions, since when a user wants a full one.
    private static func plainInFlight() throws -> AgentScenario {
        var agent = AgentScenario()
        try agent.scan(["1.plist": [a]])
        let bare = StoredResponse(fields: HTTPFields([]), requestTime: agent.now, responseTime: agent.now)
        try agent.finish(a, with: "x", answer: bare)
        try agent.finishJobs()
        try agent.handle(.request([a], isRefresh: true))
        let request = try #require(agent.downloads[a])
        #expect(request.condition == nil && !request.bypassesCaches && countDue(agent) == 1)
        try agent.handle(.request([a], isRefresh: true, isFull: true))
        #expect(countDue(agent) == 0 && agent.requests.count == 2)
        return agent
    }

    /// Lets the full request that follows bring an image; no other request may follow.
    private static func finishFull(_ agent: inout AgentScenario) throws {
        try agent.fetchAgain(a)
        try expectFullRequest(agent)
        try agent.finish(a, with: "z")
        try agent.finishJobs()
        // A publication that failed is tried again later.
        while agent.downloads.isEmpty, countDue(agent) == 0 {
            try agent.passToNextWake()
            try agent.finishJobs()
        }
        #expect(agent.downloads.isEmpty && countDue(agent) == 1)
        #expect(try agent.published("1.plist") == [.ready(Sample.image("z"))])
        let freshUntil = try #require(agent.plan.icon(a)?.freshUntil)
        #expect(freshUntil > agent.now)
    }

    @Test("an image that a request in flight brings is followed by a full request", arguments: ["x", "y"])
    func plainImage(word: String) throws {
        var agent = try Self.plainInFlight()
        try agent.finish(Self.a, with: word)
        try agent.finishJobs()
        #expect(try agent.published("1.plist") == [.ready(Sample.image(word))])
        #expect(agent.requests.count == 3)
        try Self.finishFull(&agent)
        #expect(agent.requests.count == 3)
    }

    private static let fruitless: [FetchOutcome] = [
        .failed(.status(404)), .failed(.timeout("60 s")), .cancelled,
        .noRoom(Shortage(bytes: 1, isGeneral: false, reason: "it is full")),
    ]

    @Test("a request in flight that brings nothing is followed by a full one", arguments: fruitless)
    func plainEnd(outcome: FetchOutcome) throws {
        var agent = try Self.plainInFlight()
        try agent.finish(Self.a, outcome)
        try Self.expectNoPlain(&agent)
    }

    @Test("a full request that brings nothing is followed by another one", arguments: fruitless)
    func fullEnd(outcome: FetchOutcome) throws {
        var agent = try Self.ready()
        try agent.handle(.request([Self.a], isRefresh: true, isFull: true))
        try agent.finish(Self.a, outcome)
        try Self.expectNoPlain(&agent)
    }

    /// Expects a full request next, once there is room.
    private static func expectNoPlain(_ agent: inout AgentScenario) throws {
        while agent.downloads[a] == nil {
            if agent.trial != nil {
                try agent.finishTrial(.success(SimulatedDisk.space(free: 1 << 20)))
            } else {
                try agent.passToNextWake()
            }
            try agent.finishJobs()
        }
        try finishFull(&agent)
    }

    @Test("a full request whose image cannot be published is followed by another one", arguments: [false, true])
    func publicationFails(isFull: Bool) throws {
        var agent = try Self.ready()
        try agent.handle(.request([Self.a], isRefresh: true, isFull: true))
        try agent.finish(Self.a, with: "y")
        try agent.finishPublication(fails: !isFull, isFull: isFull)
        try Self.expectNoPlain(&agent)
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

    @Test(
        "a full request goes on with what another one brought, and not with what came before it",
        arguments: [true, false])
    func parts(hasImage: Bool) throws {
        var agent = hasImage ? try Self.plainInFlight() : AgentScenario()
        if !hasImage { try agent.scan(["1.plist": [Self.a]]) }
        try agent.finish(Self.a, .failed(.timeout("60 s")), leavingPart: true)
        try agent.finishJobs()
        if !hasImage {
            #expect(agent.disk.partials == [Self.a])
            try agent.handle(.request([Self.a], isRefresh: true, isFull: true))
        }
        #expect(agent.disk.partials.isEmpty)
        try agent.fetchAgain(Self.a)
        try Self.expectFullRequest(agent)
        #expect(agent.downloads[Self.a]?.mayResume == false)
        try agent.finish(Self.a, .failed(.timeout("60 s")), leavingPart: true)
        try agent.fetchAgain(Self.a)
        let request = try #require(agent.downloads[Self.a])
        #expect(request.condition == nil && request.bypassesCaches && request.mayResume)
        try agent.finish(Self.a, with: "z")
        try agent.finishJobs()
        #expect(agent.disk.partials.isEmpty && Self.countDue(agent) == 1)
    }
}
