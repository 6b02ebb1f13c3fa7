// SPDX-License-Identifier: Apache-2.0
import AgentSettings
import AppLists
import CacheFormat
import HTTPRules
import Testing

@testable import Reports
@testable import SyncPlan

@Suite("Generations that a lease keeps over a purge")
struct PurgedLeaseScenarioTests {
    private static let (a, b) = (PurgeScenarioTests.a, PurgeScenarioTests.b)
    private static let pinned = PurgeScenarioTests.pinned

    /// What ends the agent after a purge.
    enum End: CaseIterable {
        case normal
        /// The last generation is on disk, but the agent does not know.
        case crash
    }

    @Test("a restart shows no image that only leased generations have since a purge", arguments: End.allCases)
    func leaseOverRestart(end: End) throws {
        var agent = try PurgeScenarioTests.full()
        let old = try #require(agent.disk.current?.generation)
        try agent.handle(.purge)
        switch end {
        case .normal:
            try agent.finishPublication()
            try agent.pass(.seconds(6))
            while agent.releases != nil { try agent.finishRelease(leases: [old]) }
        case .crash:
            let publication = try #require(agent.publication)
            _ = try agent.disk.publish(publication)
        }
        for _ in 0..<2 {
            try agent.restart()
            try agent.scan(["1.plist": [Self.a, Self.b]])
            #expect(agent.isOnDisk("x") && agent.plan.status.icons.ready == 0)
            #expect(agent.downloads[Self.a]?.reason == .notCached && agent.downloads[Self.b]?.reason == .notCached)
        }
        try agent.finish(Self.a, with: "new")
        try agent.finish(Self.b, with: "y")
        while agent.publication != nil { try agent.finishPublication() }
        // The lease ends, and the purge is forgotten with the last generation before it.
        #expect(agent.memory.values.purged != nil)
        try agent.pass(.seconds(1200))
        try agent.finishJobs()
        #expect(!agent.isOnDisk("x") && agent.memory.values.purged == nil)
    }

    @Test("a purge that was killed before its generation begins again, and other folders are left alone")
    func crashBefore() throws {
        var agent = try PurgeScenarioTests.full()
        // Only an older generation has the image of b.
        try agent.scan(["1.plist": [Self.a]])
        try agent.finishJobs()
        try agent.handle(.purge)
        #expect(agent.memory.values.purging == agent.disk.current?.generation)
        var other = try PurgeScenarioTests.full()
        try other.scan(["1.plist": [Self.a]])
        while try #require(other.disk.current?.generation) <= agent.memory.values.purging ?? 0 {
            try other.publish(["3.plist": ["https://h.example/\(other.now)": "z"]])
        }
        var elsewhere = agent
        try elsewhere.restart(on: other.disk)
        #expect(!elsewhere.plan.isPurging && elsewhere.plan.image(of: Self.a) == Sample.image("x"))
        try agent.restart()
        try agent.scan(["1.plist": [Self.a, Self.b]])
        #expect(agent.plan.isPurging && agent.plan.pins.isEmpty && agent.plan.status.icons.ready == 0)
        while agent.plan.isPurging {
            try agent.finishJobs()
            if agent.plan.isPurging { try agent.passToNextWake() }
        }
        #expect(agent.plan.purgeReport?.state == .done && agent.memory.values.purging == nil)
    }

    /// Lets a purge find no room for the longest document, and end.
    private static func purgeWithoutRoom(_ agent: inout AgentScenario) throws {
        try agent.handle(.purge)
        let sizes = try #require(agent.publication).documents.map(\.json.utf8.count)
        try agent.refusePublication(room: sizes.reduce(0, +) - 1)
        while agent.plan.isPurging {
            if agent.publication != nil {
                try agent.finishPublication()
            } else if agent.releases != nil {
                try agent.finishRelease()
            } else if agent.removal != nil {
                try agent.finishRemoval()
            } else {
                try agent.passToNextWake()
            }
        }
    }

    @Test("a purge without room for a document fails, and no restart shows its images once there is room")
    func documentWithoutRoom() throws {
        var agent = try PurgeScenarioTests.full()
        try Self.purgeWithoutRoom(&agent)
        let failure = PurgeReport(.failed, reason: "publishing failed: documents do not fit")
        #expect(agent.plan.purgeReport == failure && agent.isOnDisk("x"))
        #expect(try agent.published("1.plist") == [.ready(Sample.image("x")), .ready(Sample.image("y"))])
        while agent.trial == nil { try agent.passToNextWake() }
        try agent.finishTrial(.success(SimulatedDisk.space(free: 1 << 20)))
        try agent.finishPublication()
        #expect(try agent.published("1.plist") == [.pending, .pending] && agent.isOnDisk("x"))
        for _ in 0..<2 {
            try agent.restart()
            try agent.scan()
            #expect(agent.plan.image(of: Self.a) == nil && agent.plan.image(of: Self.b) == nil)
        }
        while agent.isOnDisk("x") {
            try agent.finishJobs()
            try agent.passToNextWake()
        }
        #expect(agent.memory.values.purged == nil)
    }

    @Test("an app that changes shows no image of a document that a purge could not replace")
    func changeWithoutRoom() throws {
        var agent = AgentScenario { $0.cache.grace = .seconds(600) }
        try agent.showLastImage("x", of: Self.a, insteadOf: Self.b)
        try Self.purgeWithoutRoom(&agent)
        #expect(try agent.published("1.plist") == [.ready(Sample.image("x"))])
        try agent.scan(
            "1.plist", apps: [AppEntry(id: "m", icon: Self.b), AppEntry(id: "n", icon: "https://h.example/n")])
        try agent.finishAll(.failed(.status(503)))
        while agent.publication == nil { try agent.passToNextWake() }
        try agent.finishPublication()
        #expect(try agent.published("1.plist").allSatisfy { $0.status != .ready })
    }

    @Test("a purge says nothing of another cache folder with lower numbers, also after later generations")
    func otherFolder() throws {
        var other = AgentScenario { $0.cache.grace = .seconds(600) }
        try other.publish(["1.plist": [Self.a: "x", Self.b: "y"]])
        try other.scan(["1.plist": [Self.a]])
        try other.finishJobs()
        var agent = try PurgeScenarioTests.full()
        let old = try #require(agent.disk.current?.generation)
        try #require(old >= (try #require(other.disk.current?.generation)))
        try agent.handle(.purge)
        try agent.finishPublication()
        try agent.pass(.seconds(6))
        while agent.releases != nil { try agent.finishRelease(leases: [old]) }
        try agent.restart(on: other.disk)
        try agent.scan(["1.plist": [Self.a], "2.plist": nil])
        while agent.publication != nil { try agent.finishPublication() }
        try agent.scan(["1.plist": [Self.a, "https://h.example/c"]])
        while agent.publication == nil { try agent.passToNextWake() }
        try agent.finishPublication()
        #expect(try #require(agent.disk.current?.generation) > old)
        try agent.restart()
        try agent.scan(["1.plist": [Self.a, Self.b]])
        #expect(agent.plan.image(of: Self.b) == Sample.image("y"))
    }

    /// When a list changes, in terms of a purge.
    enum Moment: CaseIterable {
        case published, publishing, restarted
    }

    @Test(
        "no app shows its previous image after a purge, although a leased generation has it",
        arguments: Moment.allCases)
    func previousImages(moment: Moment) throws {
        var agent = AgentScenario { $0.cache.grace = .seconds(600) }
        try agent.showLastImage("x", of: Self.a, insteadOf: Self.b)
        #expect(try agent.published("1.plist") == [.ready(Sample.image("x"))])
        let old = agent.disk.generations.keys.sorted()
        try agent.handle(.purge)
        if moment != .publishing {
            try agent.finishPublication()
            try agent.pass(.seconds(6))
            while agent.releases != nil { try agent.finishRelease(leases: Set(old)) }
            #expect(agent.plan.purgeReport == PurgeReport(.done))
        }
        if moment == .restarted { try agent.restart() }
        try agent.scan(
            "1.plist", apps: [AppEntry(id: "m", icon: Self.b), AppEntry(id: "n", icon: "https://h.example/n")])
        while agent.publication != nil { try agent.finishPublication() }
        try agent.pass(.seconds(6))
        while agent.releases != nil { try agent.finishRelease(leases: Set(old)) }
        try agent.finishAll(.failed(.status(503)))
        try agent.pass(.seconds(60))
        while agent.publication != nil { try agent.finishPublication() }
        #expect(agent.isOnDisk("x"))
        let states = try agent.published("1.plist")
        #expect(states.count == 2 && states.allSatisfy { $0.status == .failed }, "\(states)")
        // Nor does the icon that it came from.
        try agent.scan("1.plist", apps: [AppEntry(id: "m", icon: Self.a)])
        #expect(agent.downloads.keys.contains(Self.a))
    }

    @Test("a purge forgets the images of apps that are gone")
    func orphans() throws {
        var agent = AgentScenario { $0.cache.grace = .seconds(600) }
        try agent.scan("1.plist", apps: [AppEntry(id: "m", icon: Self.a)])
        try agent.finish(Self.a, with: "x")
        try agent.finishJobs()
        for apps in [[AppEntry(id: "m", icon: Self.b)], []] {
            try agent.scan("1.plist", apps: apps)
            try agent.finishAll(.failed(.status(503)))
            try agent.finishJobs()
        }
        let old = agent.disk.generations.keys.sorted()
        try agent.handle(.purge)
        try agent.finishPublication()
        try agent.pass(.seconds(6))
        while agent.releases != nil { try agent.finishRelease(leases: Set(old)) }
        try agent.scan("1.plist", apps: [AppEntry(id: "m", icon: Self.a)])
        #expect(agent.isOnDisk("x") && agent.downloads.keys.contains(Self.a))
    }
}
