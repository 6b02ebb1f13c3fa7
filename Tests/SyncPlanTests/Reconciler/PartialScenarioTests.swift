// SPDX-License-Identifier: Apache-2.0
import AgentSettings
import AppLists
import CacheFormat
import HTTPRules
import Testing

@testable import SyncPlan

@Suite("Beginnings of images, for downloads that go on")
struct PartialScenarioTests {
    private static let a: IconURL = "https://h.example/a.png"
    private static let b: IconURL = "https://h.example/b.png"

    /// An agent whose download of `a` ended, and left the beginning of the image.
    private static func cut(_ outcome: FetchOutcome = .failed(.timeout("x"))) throws -> AgentScenario {
        var agent = AgentScenario()
        try agent.scan(["1.plist": [a]])
        try agent.finish(a, outcome, leavingPart: true)
        return agent
    }

    @Test("a partial image is kept while a list names its URL, over restarts too, and goes with the image")
    func kept() throws {
        var agent = try Self.cut()
        try agent.pass(.seconds(2))
        try agent.restart()
        #expect(agent.disk.partials == [Self.a])
        try agent.scan(["1.plist": [Self.a]])
        try agent.passToNextWake()
        #expect(agent.disk.partials == [Self.a])
        try agent.finish(Self.a, with: "x")
        #expect(agent.disk.partials.isEmpty)
    }

    @Test(
        "a partial image goes when the next attempt ends for good",
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

    @Test("a partial image goes when the last list drops its waiting URL")
    func droppedWhileWaiting() throws {
        var agent = try Self.cut()
        try agent.scan(["2.plist": [Self.a], "1.plist": [Self.b]])
        #expect(agent.disk.partials == [Self.a])
        try agent.scan(["2.plist": nil])
        #expect(agent.disk.partials.isEmpty)
    }

    @Test("a partial image goes after the running download of a URL that the last list dropped")
    func droppedWhileFetching() throws {
        var agent = try Self.cut()
        try agent.pass(.seconds(2))
        try agent.scan(["1.plist": []])
        #expect(agent.cancelled == [Self.a] && agent.disk.partials == [Self.a])
        try agent.finish(Self.a, .cancelled, leavingPart: true)
        #expect(agent.disk.partials.isEmpty)
    }

    @Test("a list that comes back before the download has ended keeps the partial image")
    func namedAgain() throws {
        var agent = try Self.cut()
        try agent.pass(.seconds(2))
        try agent.scan(["1.plist": []])
        try agent.scan(["1.plist": [Self.a]])
        try agent.finish(Self.a, .cancelled, leavingPart: true)
        #expect(agent.disk.partials == [Self.a])
    }

    @Test("a partial image of an earlier run goes once the scanned lists do not name its URL")
    func droppedWhileStopped() throws {
        var agent = try Self.cut()
        try agent.restart()
        try agent.handle(.scanned(.unavailable(reason: "it is not mounted")))
        #expect(agent.disk.partials == [Self.a])
        try agent.scan(["1.plist": [Self.b]])
        #expect(agent.disk.partials.isEmpty)
    }

    @Test("a partial image of an earlier run stays while a list that may name its URL is not read yet")
    func unreadAfterStart() throws {
        var agent = AgentScenario()
        agent.disk.partials = [Self.a]
        try agent.restart()
        let present: Set<ListName> = ["1.plist", "2.plist"]
        for (list, url) in [("2.plist", Self.b), ("1.plist", Self.a)] {
            let reading = [ListName(stringLiteral: list): Sample.reading([url])]
            try agent.handle(.scanned(.listed(agent.folder, present: present, changed: reading)))
            #expect(agent.disk.partials == [Self.a])
        }
    }

    @Test("a partial image survives the end of the agent")
    func stopping() throws {
        var agent = try Self.cut()
        try agent.pass(.seconds(2))
        try agent.handle(.stopping)
        try agent.finish(Self.a, .cancelled, leavingPart: true)
        #expect(agent.disk.partials == [Self.a])
    }

    @Test("the first attempt, every eighth attempt and a refresh request the whole image")
    func mayResume() throws {
        var agent = AgentScenario { $0.fetch.retryMax = .seconds(1) }
        try agent.scan(["1.plist": [Self.a]])
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
