// SPDX-License-Identifier: Apache-2.0
import AgentSettings
import AppLists
import CacheFormat
import Reports
import Testing

@testable import SyncPlan

@Suite("Eviction reports: why an image goes or stays")
struct EvictionReportTests {
    private static let a: IconURL = "https://h.example/a.png"

    private static func agent() throws -> AgentScenario {
        var agent = AgentScenario { $0.cache.grace = .seconds(600) }
        try agent.publish(["1.plist": [a: "x"]])
        return agent
    }

    /// What is told of the icon, and whether it is among those that are retired.
    private static func fate(_ agent: AgentScenario) throws -> (EvictionReport.Icon, isRetired: Bool) {
        let icon = try #require(agent.plan.evictionReport(on: a, now: agent.now).icons.first)
        return (icon, agent.plan.evictionReport(now: agent.now).icons.contains(icon))
    }

    @Test("the eviction report says why an image stays: list, pin, grace, lease or doubt")
    func reasons() throws {
        var agent = try Self.agent()
        var (fate, isRetired) = try Self.fate(agent)
        #expect(!fate.goes && fate.reason == "named by 1.plist" && fate.generation == nil && !isRetired)
        try agent.handle(.pin(url: Self.a, isPinned: true))
        #expect(try Self.fate(agent).0.reason == "pinned, named by 1.plist")
        try agent.handle(.pin(url: Self.a, isPinned: false))
        try agent.finishJobs()

        try agent.scan(["1.plist": nil])
        try agent.finishJobs()
        (fate, isRetired) = try Self.fate(agent)
        #expect(fate.goes && fate.reason.contains("the grace period of generation") && isRetired)
        let generation = try #require(fate.generation)

        try agent.handle(.scanned(.unavailable(reason: "it is not mounted")))
        fate = try Self.fate(agent).0
        #expect(!fate.goes && fate.reason.contains("it is not mounted"))
        #expect(agent.plan.evictionReport(now: agent.now).isSettled)

        try agent.scan([:])
        try agent.handle(.evict(isConfirmed: false))
        #expect(!agent.plan.isEvictionSettled(at: agent.now))
        try agent.pass(.seconds(5))
        try agent.finishRelease(leases: [generation])
        if agent.removal != nil { try agent.finishRemoval() }
        fate = try Self.fate(agent).0
        #expect(fate.goes && fate.reason.contains("a lease on generation \(generation)"))
        #expect(agent.plan.isEvictionSettled(at: agent.now))
        try agent.pass(.seconds(2))
        try agent.finishJobs()
        #expect(agent.plan.evictionReport(on: Self.a, now: agent.now).icons.isEmpty)
    }

    @Test("the image of an app's old URL stays while the app shows it as its previous one")
    func previous() throws {
        var agent = AgentScenario()
        try agent.showLastImage("x", of: Self.a, insteadOf: "https://h.example/b.png")
        try agent.pass(.seconds(86_400))
        try agent.finishJobs()
        for _ in 1...2 {
            let (fate, isRetired) = try Self.fate(agent)
            #expect(!fate.goes && fate.reason == EvictionReport.shownReason && !isRetired)
            #expect(fate.path == Sample.image("x").path)
            try agent.restart()
            try agent.scan()
            try agent.finishJobs()
        }
    }

    @Test("an image that its icon had before another one is no rendition")
    func replaced() throws {
        var agent = try Self.agent()
        try agent.fetchAgain(Self.a)
        try agent.finish(Self.a, with: "y")
        try agent.finishJobs()
        let report = agent.plan.evictionReport(now: agent.now)
        #expect(report.icons.isEmpty && report.replaced == 1 && report.renditions == 0)
    }

    @Test("an image stays while the generation that drops it cannot be published", arguments: [true, false])
    func unpublished(isFull: Bool) throws {
        var agent = try Self.agent()
        try agent.scan(["1.plist": []])
        if isFull { try agent.refusePublication(room: 0) } else { try agent.finishPublication(fails: true) }
        let (fate, isRetired) = try Self.fate(agent)
        #expect(!fate.goes && isRetired)
        #expect(fate.reason.hasPrefix("the generation without it cannot be published: "))
        #expect(agent.isOnDisk("x"))
    }

    @Test("an image of any leased generation stays, and others go")
    func leases() throws {
        var agent = AgentScenario { $0.cache.grace = .seconds(600) }
        let b: IconURL = "https://h.example/b.png"
        try agent.publish(["1.plist": [Self.a: "x"]])
        try agent.publish(["2.plist": [b: "y"]])
        try agent.scan(["1.plist": nil, "2.plist": nil])
        try agent.finishJobs()
        let snapshot = agent.plan.evictionSnapshot(now: agent.now)
        let oldest = try #require(snapshot.superseded.first { $0 > 0 })
        let lease = EvictionReport.Lease(generation: oldest, pids: [7])
        let report = snapshot.report(leases: [lease])
        #expect(report.icons.map(\.goes) == [false, true])
        #expect(report.icons.first?.generation == oldest)
        #expect(report.icons.first?.reason.contains("holds a lease") == true)
        #expect(snapshot.report().icons.allSatisfy { $0.goes })

        // Its grace was over long ago, when the grace of the others is ended by hand.
        try agent.pass(.seconds(600))
        try agent.finishRelease(leases: [oldest])
        try agent.finishJobs()
        try agent.scan(["3.plist": [b]])
        try agent.finish(b, with: "y")
        try agent.finishJobs()
        try agent.scan(["3.plist": nil])
        try agent.finishJobs()
        try agent.handle(.evict(isConfirmed: true))
        if agent.releases != nil { try agent.finishRelease(leases: [oldest]) }
        #expect(!agent.plan.isEvictionSettled(at: agent.now))
        try agent.pass(.seconds(7))
        while agent.releases != nil || agent.removal != nil {
            if agent.releases != nil { try agent.finishRelease(leases: [oldest]) }
            if agent.removal != nil { try agent.finishRemoval() }
        }
        #expect(agent.plan.isEvictionSettled(at: agent.now))
        #expect(agent.plan.evictionReport(now: agent.now).icons.map(\.url) == [Self.a])
    }
}
