// SPDX-License-Identifier: Apache-2.0
import AgentSettings
import CacheFormat
import HTTPRules
import Reports
import Testing

@testable import SyncPlan

@Suite("An agent that is to end when all is done that can be done now")
struct OnceScenarioTests {
    private static let a: IconURL = "https://h.example/a.png"
    private static let b: IconURL = "https://h.example/b.png"
    private static let c: IconURL = "https://h.example/c.png"

    private static func agent() -> AgentScenario { AgentScenario(triesOnce: true) { $0.fetch.perHost = 1 } }

    @Test("an image downloaded after a failed publication is published a second later")
    func failedPublication() throws {
        var agent = Self.agent()
        try agent.scan(["1.plist": [Self.a, Self.b, Self.c]])
        let urls = [Self.a, Self.b, Self.c]
        try agent.finish(try #require(agent.downloads.keys.first), with: "x")
        while agent.publication == nil { try agent.passToNextWake() }
        try agent.finishPublication(fails: true)
        let failed = agent.now
        for word in ["y", "z"] { try agent.finish(try #require(agent.downloads.keys.first), with: word) }
        #expect(agent.downloads.isEmpty && agent.publication == nil && !agent.plan.isSettled)
        #expect(agent.plan.nextWake == failed + .seconds(1))
        while agent.publication == nil { try agent.passToNextWake() }
        try agent.finishPublication()
        #expect(agent.plan.isSettled && agent.requests.count == urls.count && agent.disk.staging.isEmpty)
        // What was downloaded before is not trusted, and not asked for again in this run.
        #expect(try agent.published("1.plist").count { $0 == .ready(Sample.image("z")) } == 1)
        #expect(agent.plan.status.needsAttention)
    }

    enum Trouble: CaseIterable { case fault, space, doubt, look }

    @Test("a single run ends after the third publication that fails, whatever the trouble", arguments: Trouble.allCases)
    func failures(trouble: Trouble) throws {
        var agent = Self.agent()
        agent.answersInspections = trouble != .look
        try agent.scan(["1.plist": [Self.a]])
        if trouble != .look { try agent.finish(Self.a, with: "x") }
        var failures: [Timestamp] = []
        while !agent.plan.isSettled {
            if agent.publication == nil, agent.expectation == nil { try agent.passToNextWake() }
            switch trouble {
            case .fault where agent.publication != nil: try agent.finishPublication(fails: true)
            case .space where agent.publication != nil: try agent.finishPublication(isFull: true)
            case .doubt where agent.publication != nil: try agent.finishPublication(doubt: "fsync failed")
            case .look where agent.expectation != nil:
                var found = CacheInspection()
                found.trouble = "Too many open files"
                try agent.finishInspection(found)
                if agent.downloads[Self.a] != nil { try agent.finish(Self.a, with: "x") }
            default: continue
            }
            failures.append(agent.now)
        }
        #expect(failures.map { $0 - Sample.start } == [.zero, .seconds(1), .seconds(3)])
        #expect(agent.plan.status.publication.error != nil && agent.plan.status.needsAttention)
    }

    @Test("a single run that is stopped after a failed publication ends at once")
    func stop() throws {
        var agent = Self.agent()
        try agent.scan(["1.plist": [Self.a]])
        try agent.finish(Self.a, with: "x")
        try agent.finishPublication(fails: true)
        #expect(!agent.plan.isSettled)
        try agent.handle(.stopping)
        #expect(agent.plan.isSettled)
    }

    @Test("a single run does not wait for room")
    func room() throws {
        var agent = Self.agent()
        try agent.scan(["1.plist": [Self.a]])
        try agent.finish(Self.a, .noRoom(Shortage(bytes: 100, isGeneral: true, reason: "only 1 KiB is free")))
        try agent.finishPublication()
        #expect(agent.plan.isSettled && agent.plan.status.needsAttention)
        try agent.pass(.seconds(60))
        #expect(agent.trial == nil)
    }
}
