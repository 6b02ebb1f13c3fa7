import AppLists
import CacheFormat
import HTTPRules
import Reports
import Testing

@testable import AgentSettings
@testable import SyncPlan

// SPDX-License-Identifier: Apache-2.0

@Suite("Events of the plan")
struct EventScenarioTests {
    private static let mail: IconURL = "https://a.example/mail"
    private static let maps: IconURL = "https://a.example/maps"

    /// An agent that has published one list with two icons.
    private static func published() throws -> AgentScenario {
        var agent = AgentScenario { $0.cache.grace = .seconds(10) }
        try agent.publish(["a.plist": [mail: "mail", maps: "maps"]])
        try agent.finishJobs()
        agent.events = []
        return agent
    }

    @Test("a new list is accepted, its icons are ready with a generation, each told once")
    func first() throws {
        var agent = AgentScenario()
        try agent.publish(["a.plist": [Self.mail: "mail", Self.maps: "maps"]])
        try agent.finishJobs()
        #expect(agent.events.first == .listAccepted("a.plist", apps: 2, problems: 0))
        let ready = agent.events.filter { $0.kind == .iconReady }
        #expect(Set(ready.map(\.url)) == [Self.mail, Self.maps])
        #expect(ready.count == 2 && ready.allSatisfy { $0.generation != nil })
        let published = agent.events.filter { $0.kind == .generationPublished }
        #expect(published.map(\.generation) == Array(1...published.count))
        #expect(Set(agent.events.map(\.kind)) == [.listAccepted, .iconReady, .generationPublished])
    }

    @Test("a list that is looked at again unchanged, and time that passes, tell nothing")
    func nothing() throws {
        var agent = try Self.published()
        try agent.scan()
        try agent.scan(["a.plist": [Self.mail, Self.maps]])
        try agent.pass(.seconds(1))
        #expect(agent.events.isEmpty)
    }

    @Test("a list that becomes bad is kept once for each reason, and is accepted when it is good again")
    func bad() throws {
        var agent = try Self.published()
        try agent.spoil("a.plist")
        try agent.spoil("a.plist")
        try agent.scan([:], rejected: ["a.plist": .noKnownShape])
        try agent.scan([:], rejected: ["b.plist": .emptyFile])
        try agent.scan(["a.plist": [Self.mail, Self.maps]])
        #expect(
            agent.events == [
                .listKept("a.plist", .emptyFile), .listKept("a.plist", .noKnownShape),
                .listRejected("b.plist", .emptyFile), .listAccepted("a.plist", apps: 2, problems: 0),
            ])
    }

    @Test("a failure is told once for each code, and an image after it as ready")
    func failure() throws {
        var agent = AgentScenario()
        try agent.scan(["a.plist": [Self.mail]])
        for code in [500, 500, 404] {
            try agent.fetchAgain(Self.mail)
            try agent.finish(Self.mail, .failed(.status(code)))
        }
        let failures = agent.events.filter { $0.kind == .iconFailed }
        #expect(failures.map(\.code) == ["http-500", "http-404"])
        #expect(failures.allSatisfy { $0.message.contains("The next attempt is at 20") })
        try agent.fetchAgain(Self.mail)
        try agent.finish(Self.mail, with: "mail")
        while agent.publication == nil { try agent.passToNextWake() }
        try agent.finishPublication()
        #expect(agent.events.filter { $0.url == Self.mail }.map(\.kind) == [.iconFailed, .iconFailed, .iconReady])
    }

    @Test("a refresh that fails makes a ready icon stale, and the next one that works makes it fresh")
    func refresh() throws {
        var agent = try Self.published()
        try agent.fetchAgain(Self.mail)
        try agent.finish(Self.mail, .failed(.status(500)))
        try agent.fetchAgain(Self.mail)
        try agent.finish(Self.mail, .failed(.status(500)))
        try agent.fetchAgain(Self.mail)
        try agent.finish(Self.mail, with: "mail")
        #expect(agent.events.filter { $0.url == Self.mail }.map(\.kind) == [.iconStale, .iconFresh])
    }

    @Test("another image of a ready icon emits a change event")
    func changed() throws {
        var agent = try Self.published()
        try agent.fetchAgain(Self.mail)
        try agent.finish(Self.mail, with: "mail 2")
        while agent.publication == nil { try agent.passToNextWake() }
        try agent.finishPublication()
        #expect(agent.events.filter { $0.url == Self.mail }.map(\.kind) == [.iconChanged])
    }

    @Test("an icon that leaves its list is retired, ready when named again, and evicted after its grace")
    func retired() throws {
        var agent = try Self.published()
        try agent.scan(["a.plist": [Self.mail]])
        #expect(agent.events.filter { $0.url == Self.maps }.map(\.kind) == [.iconRetired])
        try agent.scan(["a.plist": [Self.mail, Self.maps]])
        #expect(agent.events.filter { $0.url == Self.maps }.map(\.kind) == [.iconRetired, .iconReady])
        agent.events = []
        try agent.scan(["a.plist": [Self.mail]])
        while agent.isOnDisk("maps") {
            try agent.passToNextWake()
            try agent.finishJobs()
        }
        #expect(agent.events.filter { $0.url != nil } == [.iconRetired(Self.maps), .iconEvicted(Self.maps)])
    }

    @Test("a list that is renamed retires nothing")
    func renamed() throws {
        var agent = try Self.published()
        try agent.scan(["a.plist": nil, "b.plist": [Self.mail, Self.maps]])
        let told = agent.events.filter { $0.list != nil || $0.url != nil }
        #expect(Set(told.map(\.kind)) == [.listRemoved, .listAccepted])
        #expect(told.count == 2)
    }

    @Test("a publication that fails is told once for each reason, and the one that works ends that")
    func publication() throws {
        var agent = AgentScenario()
        try agent.scan(["a.plist": [Self.mail]])
        for _ in 0..<2 {
            while agent.publication == nil { try agent.passToNextWake() }
            try agent.finishPublication(fails: true)
        }
        #expect(agent.events.count { $0.kind == .publicationFailed } == 1)
        while agent.publication == nil { try agent.passToNextWake() }
        try agent.finishPublication()
        #expect(agent.events.last?.message.hasPrefix("Published after failures: ") == true)
    }

    @Test("a request emits an event if it changes something")
    func asked() throws {
        var agent = try Self.published()
        for isPaused in [true, true, false, false] { try agent.handle(isPaused ? .pause(Pause()) : .resume(nil)) }
        for isPinned in [true, true, false, false] { try agent.handle(.pin(url: Self.mail, isPinned: isPinned)) }
        for _ in 0..<2 { try agent.handle(.stopping) }
        let told = agent.events.filter { $0.kind != .generationPublished }
        #expect(told == [.paused, .resumed, .pinned(Self.mail), .unpinned(Self.mail), .agentStopping])
    }

    @Test("suspended, held and active evictions emit an event when they begin, and none at a restart")
    func eviction() throws {
        var agent = AgentScenario { $0.eviction.holdAbove = HoldThreshold(percent: 50, images: 1) }
        try agent.publish(["a.plist": [Self.mail: "mail", Self.maps: "maps"]])
        try agent.finishJobs()
        agent.events = []
        for _ in 0..<2 { try agent.handle(.scanned(.unavailable(reason: "it is not mounted"))) }
        #expect(agent.events == [.evictionSuspended(reason: "it is not mounted")])
        try agent.scan()
        #expect(agent.events.last == .evictionActive)
        try agent.scan(["a.plist": []])
        #expect(agent.events.contains { $0.kind == .evictionHeld })
        try agent.finishJobs()
        agent.events = []
        try agent.restart()
        try agent.scan()
        #expect(!agent.events.contains { $0.kind == .evictionHeld })
        try agent.handle(.evict(isConfirmed: true))
        #expect(agent.events.contains(.evictionActive))
    }

    @Test("events of missing files and damaged images say what was lost")
    func healed() throws {
        var agent = try Self.published()
        agent.answersInspections = false
        try agent.scan()
        var found = CacheInspection()
        found.restoredNames = 2
        try agent.finishInspection(found)
        #expect(agent.events == [.cacheHealed(.missingFiles, summary: "2 names")])
        try agent.handle(.damaged([Sample.image("mail").sha256]))
        try agent.handle(.damaged([Sample.image("nobody's").sha256]))
        #expect(agent.events.filter { $0.code == "damaged-images" }.count == 1)
    }

    @Test("a full disk emits an event when it begins and when it ends")
    func full() throws {
        var agent = try Self.published()
        try agent.scan(["b.plist": ["https://a.example/new"]])
        let shortage = Shortage(bytes: 100, isGeneral: true, reason: "only 1 KiB is free")
        try agent.finish("https://a.example/new", .noRoom(shortage))
        try agent.handle(.tick)
        #expect(agent.events.filter { $0.kind == .downloadsBlocked }.map(\.code) == ["disk-full"])
        while agent.trial == nil { try agent.passToNextWake() }
        try agent.finishTrial(.success(DiskSpace(folder: "/cache", bytes: .init(free: .max, total: .max))))
        #expect(agent.events.filter { $0.kind == .downloadsUnblocked }.count == 1)
    }

    @Test("events that nobody drains are forgotten with the next events")
    func untaken() throws {
        var plan = Reconciler(settings: Settings(), seed: 1, now: Sample.start)
        _ = plan.handle([.pause(Pause())], now: Sample.start)
        _ = plan.handle([.resume(nil)], now: Sample.start)
        #expect(plan.drainEvents() == [.resumed])
        #expect(plan.drainEvents().isEmpty)
    }
}
