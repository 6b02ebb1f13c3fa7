// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import HTTPRules
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

    @Test("a sync waits for refreshes that a user or a list asks for, and for no others")
    func refreshes() throws {
        var agent = AgentScenario()
        func isDone() -> Bool {
            let reports = [[], ["1.plist"]].map { agent.plan.syncReport(of: $0) }
            #expect(reports[0].isDone == reports[1].isDone)
            return reports.allSatisfy(\.isWhole)
        }
        try agent.publish(["1.plist": [Self.a: "x"]])
        try agent.pass(.seconds(2 * 86_400))
        #expect(agent.downloads[Self.a] != nil && isDone())
        // The request that is in flight becomes the user's, until it ends.
        try agent.handle(.request([Self.a], isRefresh: true))
        #expect(!isDone())
        try agent.finish(Self.a, with: "x")
        #expect(isDone())
        for isFull in [false, true] {
            try agent.handle(.request([Self.a], isRefresh: true, isFull: isFull))
            #expect(agent.downloads[Self.a] != nil && !isDone())
            try agent.finish(Self.a, with: "\(isFull)")
            #expect(!isDone())
            try agent.finishJobs()
            #expect(isDone())
        }
        try agent.handle(.request([Self.a], isRefresh: true))
        try agent.finish(Self.a, .failed(.timeout("10 s")))
        try agent.fetchAgain(Self.a)
        #expect(isDone())
        try agent.finish(Self.a, with: "x")
        try agent.finishJobs()
        try agent.scan("1.plist", Self.a, expecting: "z")
        try agent.finishJobs()
        #expect(agent.downloads[Self.a] != nil && !isDone())
        try agent.finish(Self.a, with: "z")
        try agent.finishJobs()
        #expect(isDone())
    }

    @Test("a sync says why icons are pending, also while others are refreshed")
    func hold() throws {
        var agent = AgentScenario()
        try agent.publish(["1.plist": [Self.a: "x"]])
        try agent.pass(.seconds(2 * 86_400))
        let others = (1...8).map { IconURL("https://i.example/\($0)") }
        try agent.scan(["1.plist": [Self.a], "2.plist": others])
        while let url = agent.downloads.keys.first(where: others.contains) {
            try agent.finish(url, .failed(.status(500)))
        }
        try agent.finishJobs()
        #expect(Array(agent.downloads.keys) == [Self.a])
        for names: [ListName] in [[], ["2.plist"]] {
            let report = agent.plan.syncReport(of: names)
            #expect(report.pending == 3 && report.hold == "their servers failed or asked to wait", "\(report)")
        }
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
