// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import HTTPRules
import Reports
import Testing

@testable import SyncPlan

@Suite("Summaries of icons")
struct IconSummaryTests {
    private static let url: IconURL = "https://h.example/a"

    private static func summary(_ agent: AgentScenario) throws -> IconSummary {
        let summary = try #require(agent.plan.summaries(of: [url], now: agent.now).first)
        #expect(agent.plan.count(ofIconsIn: nil, summary.state) == 1)
        let report = try #require(agent.plan.report(on: url, now: agent.now))
        #expect(report.state == summary.state && report.path == summary.path)
        return summary
    }

    @Test("an icon is ready once its image is published, and not before")
    func first() throws {
        var agent = AgentScenario()
        try agent.scan(["1.plist": [Self.url]])
        #expect(try Self.summary(agent).state == .pending)
        try agent.finish(Self.url, with: "x")
        let staged = try Self.summary(agent)
        #expect(staged.state == .pending && staged.path == nil)
        #expect(agent.plan.report(on: Self.url, now: agent.now)?.next == "waiting to be published")
        try agent.finishJobs()
        let ready = try Self.summary(agent)
        #expect(ready.state == .ready && ready.path == Sample.image("x").path)
    }

    @Test("an icon stays ready with its old image while a new one waits to be published")
    func refresh() throws {
        var agent = AgentScenario()
        try agent.publish(["1.plist": [Self.url: "x"]])
        try agent.fetchAgain(Self.url)
        try agent.finish(Self.url, with: "y")
        let waiting = try Self.summary(agent)
        #expect(waiting.state == .ready && waiting.path == Sample.image("x").path)
        try agent.finishJobs()
        #expect(try Self.summary(agent).path == Sample.image("y").path)
    }

    @Test("an icon is pending if an image that came after a failure waits to be published")
    func afterFailure() throws {
        var agent = AgentScenario()
        try agent.scan(["1.plist": [Self.url]])
        try agent.finish(Self.url, .failed(.timeout("fetch.idleTimeout to send more data")))
        try agent.finishJobs()
        let failed = try Self.summary(agent)
        #expect(failed.state == .failed && failed.error == "timeout")
        #expect(agent.plan.report(on: Self.url, now: agent.now)?.failure?.code == "timeout")
        try agent.fetchAgain(Self.url)
        try agent.finish(Self.url, with: "x")
        let staged = try Self.summary(agent)
        #expect(staged.state == .pending && staged.error == nil)
        #expect(agent.plan.report(on: Self.url, now: agent.now)?.failure == nil)
    }
}
