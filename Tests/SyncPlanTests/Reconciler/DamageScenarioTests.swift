// SPDX-License-Identifier: Apache-2.0
import AgentSettings
import AppLists
import CacheFormat
import HTTPRules
import Reports
import Testing

@testable import SyncPlan

@Suite("Images on disk are damaged")
struct DamageScenarioTests {
    private static let a: IconURL = "https://h.example/a.png"
    private static let b: IconURL = "https://h.example/b.png"

    private static func agent() throws -> AgentScenario {
        var agent = AgentScenario { $0.cache.grace = .seconds(600) }
        try agent.publish(["1.plist": [a: "x", b: "y"]])
        return agent
    }

    @Test("a damaged image is fetched again without conditions, and put back in its place")
    func repaired() throws {
        var agent = try Self.agent()
        try agent.handle(.damaged([Sample.image("x").sha256]))
        let request = try #require(agent.downloads[Self.a])
        #expect(agent.downloads.count == 1 && request.reason == .missingOnDisk && request.condition?.validators == nil)
        try agent.finish(Self.a, with: "x")
        try agent.finishJobs()
        #expect(try agent.published("1.plist") == [.ready(Sample.image("x")), .ready(Sample.image("y"))])
        #expect(agent.isOnDisk("x") && agent.disk.names[Self.a] == Sample.image("x").sha256)
    }

    @Test("a damaged image that cannot be fetched is in no manifest, and its files are gone")
    func offline() throws {
        var agent = try Self.agent()
        try agent.handle(.damaged([Sample.image("x").sha256]))
        try agent.finish(Self.a, .failed(.timeout("the test's patience")))
        try agent.finishPublication()
        #expect(try agent.published("1.plist") == [.failed(error: "timeout"), .ready(Sample.image("y"))])
        agent.allowLoss(of: ["x"])
        try agent.finishJobs()
        #expect(!agent.isOnDisk("x") && agent.disk.names[Self.a] == nil && agent.isOnDisk("y"))
        try agent.pass(.seconds(600))
        try agent.finish(Self.a, with: "x")
        try agent.finishJobs()
        #expect(agent.isOnDisk("x") && agent.plan.status.inSync)
    }

    @Test("an image that is damaged while a publication names it is fetched again for all that show it")
    func whilePublished() throws {
        var agent = try Self.agent()
        let c: IconURL = "https://h.example/c.png"
        try agent.scan(["2.plist": [c]])
        // The same bytes as those of another icon, which are on disk and good as far as anybody knows.
        try agent.finish(c, with: "x")
        #expect(agent.publication?.moves.isEmpty ?? false)
        try agent.handle(.damaged([Sample.image("x").sha256]))
        try agent.finish(Self.a, .failed(.timeout("the test's patience")))
        try agent.finishPublication()
        #expect(agent.downloads[c]?.reason == .missingOnDisk && agent.downloads[c]?.condition == nil)
        try agent.finish(c, .failed(.timeout("the test's patience")))
        agent.allowLoss(of: ["x"])
        try agent.finishJobs()
        #expect(try agent.published("2.plist") == [.failed(error: "timeout")])
        #expect(!agent.isOnDisk("x"))
        try agent.pass(.seconds(600))
        for url in agent.downloads.keys.sorted() { try agent.finish(url, with: "x") }
        try agent.finishJobs()
        #expect(try agent.published("2.plist") == [.ready(Sample.image("x"))])
        #expect(agent.isOnDisk("x") && agent.disk.names[c] == Sample.image("x").sha256)
    }

    @Test("damage found while a list is being published makes its next document ignore the room")
    func precedence() throws {
        var agent = try Self.agent()
        try agent.scan(["1.plist": [Self.a, Self.b, "ftp://h.example/c.png"]])
        #expect(agent.publication?.ignoresRoom == false)
        try agent.handle(.damaged([Sample.image("x").sha256]))
        try agent.finish(Self.a, .failed(.timeout("the test's patience")))
        agent.allowLoss(of: ["x"])
        try agent.finishPublication()
        #expect(agent.publication?.ignoresRoom == true)
        try agent.finishPublication(fails: true)
        while agent.publication == nil { try agent.passToNextWake() }
        #expect(agent.publication?.ignoresRoom == true)
        agent.allowLoss(of: ["x"])
        try agent.finishJobs()
        try agent.scan(["1.plist": [Self.a, Self.b]])
        while agent.publication == nil { try agent.passToNextWake() }
        #expect(agent.publication?.ignoresRoom == false)
    }

    @Test("damage found while a long document is being written is published next, before that document is paid for")
    func whileCostly() throws {
        var agent = AgentScenario()
        let name = String(repeating: "x", count: 10_000)
        var apps = [AppEntry(icon: Self.a)]
        apps += (0..<800).map { AppEntry(name: name, icon: IconURL("ftp://h.example/\($0)")) }
        try agent.scan("1.plist", apps: apps)
        try agent.finish(Self.a, with: "x")
        try agent.finishJobs()
        try agent.pass(.seconds(600))
        try agent.finishJobs()
        try agent.scan("1.plist", apps: apps + [AppEntry(icon: "ftp://h.example/new")])
        while agent.publication == nil { try agent.passToNextWake() }
        agent.lose(["x"])
        try agent.handle(.damaged([Sample.image("x").sha256]))
        try agent.finishAll(.failed(.status(503)))
        agent.allowLoss(of: ["x"])
        let generation = try #require(agent.publication).generation
        agent.disk.damaged[generation] = [Sample.image("x").sha256]
        try agent.finishPublication()
        if agent.publication == nil { try agent.scan(["2.plist": ["ftp://h.example/2"]]) }
        while agent.publication == nil { try agent.passToNextWake() }
        #expect(agent.publication?.documents.contains { $0.list == "1.plist" } == true)
    }

    @Test("damage found while a list is being published is published although there is no room")
    func withoutRoom() throws {
        var agent = try Self.agent()
        try agent.scan(["1.plist": [Self.a, Self.b, "ftp://h.example/c.png"]])
        agent.lose(["x"])
        try agent.handle(.damaged([Sample.image("x").sha256]))
        try agent.finish(Self.a, .failed(.timeout("the test's patience")))
        try agent.refusePublication(room: 0)
        if agent.publication == nil { try agent.passToNextWake() }
        let publication = try #require(agent.publication)
        #expect(publication.documents.map(\.list) == ["1.plist"] && publication.ignoresRoom)
        try agent.finishPublication()
        #expect(try agent.published("1.plist").first == .failed(error: "timeout"))
    }

    @Test("the new file of a damaged image stays, however often damage is told while other lists are changed")
    func toldAgain() throws {
        var agent = try Self.agent()
        try agent.scan(["large.plist": (0..<500).map { IconURL("ftp://h.example/\($0)") }])
        // There is no room for its document: it stays changed.
        try agent.refusePublication(room: 4096)
        try agent.handle(.damaged([Sample.image("x").sha256]))
        try agent.finish(Self.a, with: "x")
        try agent.finishPublication()
        #expect(try agent.published("1.plist").first == .ready(Sample.image("x")))
        try agent.handle(.damaged([]))
        try agent.handle(.damaged([Sample.image("y").sha256]))
        try agent.finish(Self.b, with: "y")
        try agent.finishPublication()
        while agent.trial == nil { try agent.passToNextWake() }
        try agent.finishTrial(.success(SimulatedDisk.space(free: 1 << 20)))
        try agent.finishJobs()
        #expect(agent.plan.status.inSync && agent.isOnDisk("x") && agent.isOnDisk("y"))
        #expect(agent.disk.names[Self.a] == Sample.image("x").sha256)
    }

    @Test("a damaged file that cannot be removed is tried again, unless an image takes its place")
    func stuck() throws {
        for isReplaced in [true, false] {
            var agent = try Self.agent()
            try agent.handle(.damaged([Sample.image("x").sha256]))
            try agent.finish(Self.a, .failed(.timeout("the test's patience")))
            agent.allowLoss(of: ["x"])
            while agent.publication != nil { try agent.finishPublication() }
            agent.allowLoss(of: ["x"])
            let plan = try #require(agent.removal)
            try agent.finishRemoval(failed: plan)
            #expect(agent.removal == nil && agent.isOnDisk("x"))
            if isReplaced {
                while agent.downloads.isEmpty { try agent.passToNextWake() }
                try agent.finish(Self.a, with: "x")
                try agent.finishJobs()
            }
            try agent.pass(.seconds(60))
            #expect((agent.removal == nil) == isReplaced)
            if !isReplaced { try agent.finishRemoval() }
            #expect(agent.isOnDisk("x") == isReplaced)
        }
    }

    @Test("damage of an unknown image, or of one that no icon shows, changes nothing")
    func unknown() throws {
        var agent = try Self.agent()
        try agent.handle(.damaged([Sample.image("z").sha256]))
        #expect(agent.downloads.isEmpty && agent.publication == nil && agent.removal == nil)
    }

    @Test("damage reported too late makes the image fetched again; the file, whole by then, stays")
    func late() throws {
        var agent = try Self.agent()
        try agent.handle(.damaged([Sample.image("x").sha256]))
        try agent.finish(Self.a, with: "x")
        while agent.publication != nil { try agent.finishPublication() }
        try agent.handle(.damaged([Sample.image("x").sha256]))
        try agent.finish(Self.a, .failed(.timeout("the test's patience")))
        while agent.publication != nil { try agent.finishPublication() }
        #expect(agent.removal?.isOfDamage == true)
        try agent.finishJobs()
        #expect(agent.isOnDisk("x") && agent.disk.names[Self.a] == Sample.image("x").sha256)
        try agent.pass(.seconds(120))
        try agent.finish(Self.a, with: "x")
        try agent.finishJobs()
        #expect(try agent.published("1.plist").first == .ready(Sample.image("x")) && agent.plan.status.inSync)
    }

    @Test("a list that waits for room is published next if its old document names what is lost")
    func waitingForRoom() throws {
        var agent = try Self.agent()
        // The new version does not name what is lost.
        try agent.scan(["1.plist": [Self.b, "ftp://h.example/c.png"]])
        try agent.refusePublication(room: 0)
        #expect(agent.publication == nil)
        try agent.handle(.damaged([Sample.image("x").sha256]))
        agent.allowLoss(of: ["x"])
        let publication = try #require(agent.publication)
        #expect(publication.documents.map(\.list) == ["1.plist"] && publication.ignoresRoom)
    }

    @Test("an emptied cache of many lists costs no more than its icons")
    func cost() throws {
        func cost(lists: Int) throws -> Duration {
            var agent = AgentScenario {
                $0.fetch.concurrency = 10_000
                $0.fetch.perHost = 10_000
            }
            let icons = 3000
            for list in 0..<lists {
                let urls = (0..<icons / lists).map { IconURL("https://h.example/\(list)/\($0)") }
                try agent.scan(["\(list).plist": urls])
            }
            for url in agent.downloads.keys { try agent.finish(url, with: "x") }
            while agent.publication != nil { try agent.finishPublication() }
            let images: Set = [Sample.image("x").sha256]
            var plan = agent.plan
            return processorTime { _ = plan.handle(.damaged(images), now: agent.now) }
        }
        let costs = (try cost(lists: 10), try cost(lists: 300))
        #expect(costs.1 < costs.0 * 5, "\(costs.0) with 10 lists, \(costs.1) with 300")
    }

    @Test("a start reads the images that an older generation alone has: they may be what was found damaged")
    func restarted() throws {
        var agent = try Self.agent()
        try agent.handle(.damaged([Sample.image("x").sha256]))
        try agent.finish(Self.a, .failed(.timeout("the test's patience")))
        try agent.finishPublication()
        agent.answersInspections = false
        try agent.restart()
        #expect(agent.plan.icon(Self.a)?.image != nil)
        try agent.scan()
        #expect(agent.expectation?.doubtful == [Sample.image("x").sha256])
        agent.allowLoss(of: ["x"])
        var found = CacheInspection()
        found.lostImages = [Sample.image("x").sha256]
        agent.answersInspections = true
        try agent.finishInspection(found)
        #expect(agent.plan.icon(Self.a)?.image == nil)
    }
}
