// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import Reports
import Testing

@testable import SyncPlan

@Suite("Commands that wait for lists")
struct SyncScenarioTests {
    private static let a: IconURL = "https://h.example/a.png"

    /// An agent with a good list, and another one whose publication failed three times.
    private static func failingAgent() throws -> AgentScenario {
        var agent = AgentScenario()
        try agent.publish(["good.plist": [a: "x"]])
        try agent.scan(["new.plist": [a]])
        for _ in 1...3 {
            while agent.publication == nil { try agent.passToNextWake() }
            try agent.finishPublication(fails: true)
        }
        return agent
    }

    @Test("a sync after a failed publication tries another one at once, and reports its result")
    func retry() throws {
        var agent = try Self.failingAgent()
        #expect(agent.publication == nil)
        try agent.handle(.awaited([]))
        #expect(agent.publication != nil && !agent.plan.syncReport(of: []).isDone)
        #expect(!agent.plan.syncReport(of: ["new.plist"]).isDone)
        try agent.finishPublication(fails: true)
        let failed = agent.plan.syncReport(of: ["new.plist"])
        #expect(failed.isDone && failed.error != nil && agent.publication == nil)
        try agent.handle(.awaited([]))
        try agent.finishJobs()
        #expect(agent.plan.syncReport(of: []).isWhole && agent.plan.syncReport(of: ["new.plist"]).isWhole)
    }

    @Test("a command that waits for an icon tries a failed publication again at once")
    func retryForIcon() throws {
        var agent = try Self.failingAgent()
        #expect(agent.publication == nil)
        try agent.handle(.awaited([Self.a]))
        #expect(agent.publication != nil)
    }

    @Test("a list that is published is told so, whatever fails for others")
    func others() throws {
        let agent = try Self.failingAgent()
        let good = agent.plan.syncReport(of: ["good.plist"])
        #expect(good.isWhole && good.ready == 1)
        #expect(agent.plan.syncReport(of: ["new.plist"]).error != nil)
        #expect(agent.plan.syncReport(of: []).error != nil)
        #expect(agent.plan.syncReport(of: ["good.plist", "new.plist"]).error != nil)
    }

    @Test("a list whose publication a power failure may lose is told so until one is durable")
    func doubt() throws {
        var agent = AgentScenario()
        try agent.scan(["1.plist": [Self.a]])
        try agent.finish(Self.a, with: "x")
        while agent.publication == nil { try agent.passToNextWake() }
        while agent.publication != nil { try agent.finishPublication(doubt: "cannot flush the disk") }
        for names: [ListName] in [["1.plist"], []] {
            let report = agent.plan.syncReport(of: names)
            #expect(report.isDone && !report.isWhole && report.error == "cannot flush the disk")
        }
        while agent.publication == nil { try agent.passToNextWake() }
        try agent.finishJobs()
        #expect(agent.plan.syncReport(of: ["1.plist"]).isWhole)
    }

    @Test(
        "time that the system slept, or a disk hung, during a publication does not hold up the next ones",
        arguments: [true, false])
    func slowPublication(sleeps: Bool) throws {
        var agent = AgentScenario()
        let many = (0..<2000).map { IconURL("ftp://h.example/\($0)") }
        try agent.scan(["1.plist": many])
        for change in 1...3 {
            if sleeps { try agent.sleep(.seconds(8 * 3600)) } else { try agent.pass(.seconds(8 * 3600)) }
            try agent.finishPublication()
            try agent.scan(["1.plist": Array(many.dropFirst(change))])
            let changed = agent.now
            while agent.publication == nil {
                if agent.releases != nil { try agent.finishRelease() } else { try agent.passToNextWake() }
            }
            #expect(agent.now <= changed + (sleeps ? .seconds(1) : .seconds(1000)))
        }
    }
}
