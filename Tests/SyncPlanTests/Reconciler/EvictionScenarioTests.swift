// SPDX-License-Identifier: Apache-2.0
import IconCache
import SyncPlan
import Testing

@Suite("Evictions are held, suspended and asked for")
struct EvictionScenarioTests {
    private static let urls = (0..<30).map { "https://h.example/\($0).png" }

    /// An agent with thirty icons in one list.
    private static func agent() throws -> AgentScenario {
        var agent = AgentScenario {
            $0.cache.grace = .seconds(600)
            $0.fetch.perHost = 32
            $0.refresh.default = .seconds(1000 * 86_400)
        }
        try agent.drop(["1.plist": urls])
        while let url = agent.downloads.keys.first { try agent.finish(url, with: "image of \(url)") }
        while agent.publication != nil { try agent.finishPublication() }
        return agent
    }

    /// The same with the list removed, and the grace of its images over.
    private static func held() throws -> AgentScenario {
        var agent = try agent()
        try agent.drop(["1.plist": nil])
        try agent.finishPublication()
        try agent.pass(.seconds(601))
        return agent
    }

    @Test("what a change retires too much of stays until somebody confirms it")
    func confirmed() throws {
        var agent = try Self.held()
        #expect(agent.release == nil && agent.plan.status.eviction.state == "held")
        #expect(agent.plan.status.eviction.reason?.contains("30 of 30 images") ?? false)
        #expect(agent.plan.status.needsAttention && agent.disk.images.count == 30)
        try agent.handle(.evict(isConfirmed: false))
        #expect(agent.release == nil && agent.plan.status.eviction.state == "held")
        try agent.handle(.evict(isConfirmed: true))
        try agent.finishHousekeeping()
        #expect(agent.disk.images.isEmpty && agent.plan.status.eviction == .active)
    }

    @Test("or until it is a day old")
    func old() throws {
        var agent = try Self.held()
        try agent.pass(.seconds(86_400 - 602))
        #expect(agent.release == nil && agent.plan.nextWake == agent.now + .seconds(1))
        try agent.passToNextWake()
        try agent.finishHousekeeping()
        #expect(agent.disk.images.isEmpty)
    }

    @Test("lists that come back find their images, and nothing is held any more")
    func back() throws {
        var agent = try Self.held()
        try agent.drop(["2.plist": Self.urls])
        try agent.finishHousekeeping()
        #expect(agent.requests.count == 30 && agent.plan.status.eviction == .active)
        #expect(agent.plan.status.icons.ready == 30 && agent.memory.hold == nil)
    }

    @Test("while it is held, what other changes retire goes after its grace")
    func others() throws {
        var agent = try Self.held()
        try agent.publish(["2.plist": ["https://h.example/new.png": "new"]])
        try agent.drop(["2.plist": nil])
        try agent.finishPublication()
        try agent.pass(.seconds(601))
        try agent.finishHousekeeping()
        #expect(!agent.isOnDisk("new") && agent.disk.images.count == 30)
        #expect(agent.plan.status.eviction.state == "held")
    }

    @Test("a restart goes on holding, and a confirmation outlives it")
    func restart() throws {
        var agent = try Self.held()
        try agent.restart()
        try agent.drop([:])
        try agent.pass(.seconds(601))
        #expect(agent.release == nil && agent.plan.status.eviction.state == "held")
        try agent.handle(.evict(isConfirmed: true))
        try agent.restart()
        try agent.drop([:])
        #expect(agent.plan.status.eviction == .active)
        try agent.finishHousekeeping()
        #expect(agent.disk.images.isEmpty)
    }

    @Test("a restart whose memory was lost takes too many retired images for a change that is held")
    func forgotten() throws {
        var agent = try Self.held()
        agent.memory = SimulatedMemory()
        try agent.restart()
        try agent.drop([:])
        try agent.pass(.seconds(601))
        #expect(agent.release == nil && agent.plan.status.eviction.state == "held")
    }

    @Test("the grace goes on over a restart, and begins anew where nobody knows how long it has been")
    func grace() throws {
        for isRemembered in [true, false] {
            var agent = AgentScenario { $0.cache.grace = .seconds(600) }
            try agent.publish(["1.plist": ["https://h.example/a.png": "x"]])
            try agent.drop(["1.plist": nil])
            try agent.finishPublication()
            try agent.pass(.seconds(300))
            if !isRemembered { agent.memory = SimulatedMemory() }
            try agent.restart()
            try agent.drop([:])
            try agent.pass(.seconds(299))
            #expect(agent.release == nil)
            try agent.pass(.seconds(1))
            #expect((agent.release != nil) == isRemembered)
            try agent.pass(.seconds(300))
            #expect(agent.release == [1])
        }
    }

    @Test("nothing is removed while a list cannot be read, for a reason that is not its own")
    func unreadable() throws {
        let reasons: [(ListRejection, isDoubt: Bool)] = [
            (.unreadable("permission denied"), true), (.parserUnavailable("no such file"), true),
            (.stillBeingWritten, true), (.emptyFile, false), (.noKnownShape, false),
        ]
        for (rejection, isDoubt) in reasons {
            var agent = AgentScenario { $0.cache.grace = .seconds(600) }
            try agent.publish(["1.plist": ["https://h.example/a.png": "x"]])
            // It may be the same list under another name.
            try agent.drop(["1.plist": nil], rejected: ["2.plist": rejection])
            try agent.finishPublication()
            try agent.pass(.seconds(601))
            #expect((agent.release == nil) == isDoubt, "\(rejection.code)")
            #expect((agent.plan.status.eviction.state == "suspended") == isDoubt, "\(rejection.code)")
            guard isDoubt else { continue }
            try agent.drop(["2.plist": nil])
            #expect(agent.release == [1])
        }
    }

    @Test("what is retired can be removed at once, but for what a reader holds")
    func now() throws {
        var agent = AgentScenario { $0.cache.grace = .seconds(600) }
        try agent.publish(["1.plist": ["https://h.example/a.png": "x"]])
        try agent.drop(["1.plist": nil])
        try agent.finishPublication()
        try agent.handle(.evict(isConfirmed: false))
        try agent.finishRelease(leases: [1])
        #expect(agent.isOnDisk("x"))
        try agent.pass(.seconds(2))
        try agent.finishHousekeeping()
        #expect(!agent.isOnDisk("x"))
    }

    @Test("a lease that is too old does not count")
    func lease() throws {
        var agent = AgentScenario {
            $0.cache.grace = .seconds(600)
            $0.cache.leaseMax = .seconds(3600)
        }
        try agent.publish(["1.plist": ["https://h.example/a.png": "x"]])
        try agent.drop(["1.plist": nil])
        try agent.finishPublication()
        try agent.pass(.seconds(3599))
        try agent.finishRelease(leases: [1])
        #expect(agent.isOnDisk("x"))
        try agent.pass(.seconds(2))
        try agent.finishRelease(leases: [1])
        try agent.finishRemoval()
        #expect(!agent.isOnDisk("x"))
    }
}
