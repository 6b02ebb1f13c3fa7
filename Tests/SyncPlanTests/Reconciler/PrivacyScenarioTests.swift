// SPDX-License-Identifier: Apache-2.0
import AgentSettings
import AppLists
import CacheFormat
import HTTPRules
import Reports
import Testing

@testable import SyncPlan

@Suite("The mark of a cache with private icons")
struct PrivacyScenarioTests {
    private static let a: IconURL = "https://h.example/a"

    private static func credential(isPublic: Bool = false) -> Credential {
        Credential(
            host: "h.example", lists: ["1.plist"], isPublic: isPublic, proof: .bearer(Secret("t")))
    }

    /// An agent that published an icon of a credential, which has been removed since.
    private static func agent(after delay: Duration = .zero) throws -> AgentScenario {
        var agent = AgentScenario {
            $0.cache.mode = .group
            $0.credentials = Credentials([credential()])
        }
        if delay > .zero { try agent.pass(delay) }
        try agent.publish(["1.plist": [a: "x"]])
        #expect(agent.disk.current?.isPrivate == true)
        agent.settings.credentials = Credentials()
        return agent
    }

    private static func publishAll(_ agent: inout AgentScenario) throws {
        try agent.scan(["1.plist": [a], "2.plist": ["https://h.example/b"]])
        try agent.finishAll(.failed(.status(404)))
        try agent.pass(.seconds(10))
        try agent.finishJobs()
    }

    @Test("the mark outlives its credential and a lost database, also with an exposed cache", arguments: [false, true])
    func lost(isExposed: Bool) throws {
        var agent = try Self.agent()
        agent.memory = SimulatedMemory()
        if isExposed {
            agent.settings.cache.mode = .everybody
            agent.settings.credentials = Credentials([Self.credential()])
        }
        try agent.restart()
        try Self.publishAll(&agent)
        #expect(agent.disk.current?.isPrivate == true && !agent.plan.privateOrigins.isEmpty)
        // What came from where is not known.
        agent.settings.credentials = Credentials([Self.credential(isPublic: true)])
        try agent.restart()
        #expect(agent.plan.privateOrigins == [Credentials.unknownOrigin])
    }

    @Test("a cache whose origins are all known and public loses the mark")
    func known() throws {
        var agent = try Self.agent()
        agent.settings.credentials = Credentials([Self.credential(isPublic: true)])
        try agent.restart()
        try Self.publishAll(&agent)
        #expect(agent.disk.current?.isPrivate == false && agent.plan.privateOrigins.isEmpty)
    }

    @Test("an adopted cache keeps its mark")
    func adopted() throws {
        let other = try Self.agent()
        var agent = AgentScenario()
        try agent.publish(["1.plist": [Self.a: "y"]])
        try agent.adopt(other.disk)
        try agent.finishJobs()
        #expect(agent.plan.privateOrigins == [Credentials.unknownOrigin])
        #expect(agent.disk.current?.isPrivate == true)
    }

    @Test(
        "the cache of another agent stays private when the known origins are public, and the own one does not",
        arguments: [false, true], [false, true])
    func others(isOwn: Bool, isRunning: Bool) throws {
        let other = try Self.agent(after: .seconds(30))
        var agent = try Self.agent()
        try agent.pass(.seconds(60))
        try agent.scan(["3.plist": ["https://h.example/c"]])
        try agent.finish("https://h.example/c", with: "z")
        try agent.finishJobs()
        let own = agent.disk
        // Without its cache for a while, it publishes in a new folder.
        try agent.adopt(SimulatedDisk())
        try Self.publishAll(&agent)
        let disk = isOwn ? own : other.disk
        if isRunning { try agent.adopt(disk) } else { try agent.restart(on: disk) }
        try agent.finishJobs()
        agent.settings.credentials = Credentials([Self.credential(isPublic: true)])
        try agent.restart()
        try Self.publishAll(&agent)
        #expect(agent.plan.privateOrigins == (isOwn ? [] : [Credentials.unknownOrigin]))
        #expect(agent.disk.current?.isPrivate == !isOwn)
    }

    @Test("own caches that change places stay known, also with a damaged newest generation", arguments: [false, true])
    func places(isRunning: Bool) throws {
        var agent = try Self.agent()
        var disks = [SimulatedDisk(), agent.disk]
        try agent.restart(on: disks[0])
        try Self.publishAll(&agent)
        disks[0] = agent.disk
        for turn in 1...8 {
            if isRunning { try agent.adopt(disks[turn % 2]) } else { try agent.restart(on: disks[turn % 2]) }
            try agent.finishJobs()
            try agent.scan(["3.plist": ["https://h.example/\(turn)"]])
            try agent.finishAll(.failed(.status(404)))
            try agent.finishJobs()
            disks[turn % 2] = agent.disk
        }
        #expect(!agent.plan.privateOrigins.contains(Credentials.unknownOrigin))
        let newest = try #require(agent.disk.generations.keys.max())
        try #require(agent.disk.generations.count > 1)
        agent.disk.generations[newest] = nil
        agent.settings.credentials = Credentials([Self.credential(isPublic: true)])
        try agent.restart()
        #expect(agent.plan.privateOrigins.isEmpty)
    }

    @Test("a purge keeps the mark while readers keep images of before; the next one removes it")
    func leased() throws {
        var agent = try Self.agent()
        for isLeased in [true, false] {
            try agent.restart()
            try Self.publishAll(&agent)
            let generations = Set(agent.disk.generations.keys)
            try agent.handle(.purge)
            while agent.plan.isPurging {
                if agent.releases != nil {
                    try agent.finishRelease(leases: isLeased ? generations : [])
                } else if agent.publication != nil {
                    try agent.finishPublication()
                } else if agent.removal != nil {
                    try agent.finishRemoval()
                } else {
                    try agent.passToNextWake()
                }
            }
            #expect(agent.plan.purgeReport == PurgeReport(.done))
            #expect(agent.plan.privateOrigins.isEmpty != isLeased && agent.disk.current?.isPrivate == isLeased)
        }
    }

    private static func finishPublication(_ agent: inout AgentScenario) throws {
        while agent.publication == nil { try agent.passToNextWake() }
        try agent.finishPublication()
    }

    @Test("images that arrive during a purge do not keep the mark")
    func arriving() throws {
        var agent = try Self.agent()
        try agent.restart()
        let urls: [IconURL] = ["https://i.example/1", "https://i.example/2"]
        try agent.scan(["1.plist": [Self.a], "2.plist": urls])
        try agent.handle(.purge)
        try Self.finishPublication(&agent)
        for url in urls {
            try agent.finish(url, with: url)
            try Self.finishPublication(&agent)
        }
        #expect(agent.plan.isPurging)
        while agent.plan.isPurging {
            try agent.finishJobs()
            if agent.plan.isPurging { try agent.passToNextWake() }
        }
        #expect(agent.plan.privateOrigins.isEmpty && agent.disk.current?.isPrivate == false)
    }

    @Test("only a purge that ends well removes the mark")
    func purge() throws {
        var agent = try Self.agent()
        try agent.restart()
        try Self.publishAll(&agent)
        try agent.handle(.purge)
        try agent.finishPublication(fails: true)
        #expect(agent.plan.purgeReport?.state == .failed && !agent.plan.privateOrigins.isEmpty)
        try agent.restart()
        try Self.publishAll(&agent)
        #expect(agent.disk.current?.isPrivate == true)
        while agent.plan.isPurging {
            try agent.finishJobs()
            if agent.plan.isPurging { try agent.passToNextWake() }
        }
        #expect(agent.plan.purgeReport == PurgeReport(.done) && agent.plan.privateOrigins.isEmpty)
        // A kill in this moment leaves no mark.
        #expect(agent.disk.current?.isPrivate == false)
        try agent.restart()
        try Self.publishAll(&agent)
        #expect(agent.disk.current?.isPrivate == false && agent.plan.privateOrigins.isEmpty)
    }
}
