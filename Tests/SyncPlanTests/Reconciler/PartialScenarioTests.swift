// SPDX-License-Identifier: Apache-2.0
import AgentSettings
import AppLists
import CacheFormat
import HTTPRules
import SyncPlan
import Testing

@Suite("Beginnings of images, for downloads that go on")
struct PartialScenarioTests {
    private static let a: IconURL = "https://h.example/a.png"
    private static let b: IconURL = "https://h.example/b.png"

    /// An agent whose download of `a` ended, and left the beginning of the image.
    private static func cut(_ outcome: FetchOutcome = .failed(.timeout("x"))) throws -> AgentScenario {
        var agent = AgentScenario()
        try agent.drop(["1.plist": [a]])
        try agent.finish(a, outcome, leavingPart: true)
        return agent
    }

    @Test("it is kept while a list names the URL, over a restart too, and goes with the image")
    func kept() throws {
        var agent = try Self.cut()
        try agent.pass(.seconds(2))
        try agent.restart()
        #expect(agent.disk.partials == [Self.a])
        try agent.drop(["1.plist": [Self.a]])
        try agent.passToNextWake()
        #expect(agent.disk.partials == [Self.a])
        try agent.finish(Self.a, with: "x")
        #expect(agent.disk.partials.isEmpty)
    }

    @Test(
        "it goes when the next attempt ends for good",
        arguments: [
            .failed(.status(404)), .failed(.tooLarge(limit: ByteCount(1))), .notModified(Sample.response(etag: "x")),
        ] as [FetchOutcome])
    func lastingFailure(outcome: FetchOutcome) throws {
        var agent = try Self.cut()
        try agent.pass(.seconds(2))
        try agent.finish(Self.a, .failed(.status(503)))
        #expect(agent.disk.partials == [Self.a])
        try agent.pass(.seconds(600))
        try agent.finish(Self.a, outcome)
        #expect(agent.disk.partials.isEmpty)
    }

    @Test("it goes when the last list drops the URL that waits for its next attempt")
    func droppedWhileWaiting() throws {
        var agent = try Self.cut()
        try agent.drop(["2.plist": [Self.a], "1.plist": [Self.b]])
        #expect(agent.disk.partials == [Self.a])
        try agent.drop(["2.plist": nil])
        #expect(agent.disk.partials.isEmpty)
    }

    @Test("it goes when the last list drops the URL while it is downloaded, once that has ended")
    func droppedWhileFetching() throws {
        var agent = try Self.cut()
        try agent.pass(.seconds(2))
        try agent.drop(["1.plist": []])
        #expect(agent.cancelled == [Self.a] && agent.disk.partials == [Self.a])
        try agent.finish(Self.a, .cancelled, leavingPart: true)
        #expect(agent.disk.partials.isEmpty)
    }

    @Test("a list that comes back before the download has ended keeps it")
    func namedAgain() throws {
        var agent = try Self.cut()
        try agent.pass(.seconds(2))
        try agent.drop(["1.plist": []])
        try agent.drop(["1.plist": [Self.a]])
        try agent.finish(Self.a, .cancelled, leavingPart: true)
        #expect(agent.disk.partials == [Self.a])
    }

    @Test("one that an earlier run left of a URL that no list names any more goes once the lists have been seen")
    func droppedWhileStopped() throws {
        var agent = try Self.cut()
        try agent.restart()
        try agent.handle(.scanned(.unavailable(reason: "it is not mounted")))
        #expect(agent.disk.partials == [Self.a])
        try agent.drop(["1.plist": [Self.b]])
        #expect(agent.disk.partials.isEmpty)
    }

    @Test("the end of the agent keeps it")
    func stopping() throws {
        var agent = try Self.cut()
        try agent.pass(.seconds(2))
        try agent.handle(.stopping)
        try agent.finish(Self.a, .cancelled, leavingPart: true)
        #expect(agent.disk.partials == [Self.a])
    }

    @Test("the first attempt and every eighth one ask for the whole image, and so does a refresh")
    func mayResume() throws {
        var agent = AgentScenario { $0.fetch.retryMax = .seconds(1) }
        try agent.drop(["1.plist": [Self.a]])
        for _ in 1...24 {
            try agent.finish(Self.a, .failed(.timeout("x")))
            while agent.downloads.isEmpty { try agent.passToNextWake() }
        }
        let whole = agent.requests.enumerated().filter { !$0.element.mayResume }.map { $0.offset + 1 }
        #expect(whole == [1, 8, 16, 24])
        try agent.finish(Self.a, with: "x")
        try agent.finishJobs()
        try agent.pass(.seconds(2 * 86_400))
        let refresh = try #require(agent.downloads[Self.a])
        #expect(refresh.condition?.validators != nil && !refresh.mayResume)
    }
}
