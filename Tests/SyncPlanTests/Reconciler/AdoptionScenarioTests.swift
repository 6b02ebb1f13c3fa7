// SPDX-License-Identifier: Apache-2.0
import AgentSettings
import AppLists
import CacheFormat
import HTTPRules
import Reports
import Testing

@testable import SyncPlan

@Suite("Another cache folder in the place of the cache")
struct AdoptionScenarioTests {
    private static let a: IconURL = "https://h.example/a.png"
    private static let b: IconURL = "https://h.example/b.png"

    private static func agent() -> AgentScenario { AgentScenario { $0.cache.grace = .seconds(600) } }

    @Test("adopting an older copy publishes all lists again, fetches missing images, and gives others a grace")
    func older() throws {
        var agent = Self.agent()
        try agent.publish(["1.plist": [Self.a: "x"], "2.plist": [Self.b: "old"]])
        let copy = agent.disk
        try agent.pass(.seconds(2 * 86_400))
        for (url, word) in [(Self.a, "x"), (Self.b, "y")] { try agent.finish(url, with: word) }
        try agent.finishJobs()
        try agent.pass(.seconds(600))
        try agent.finishJobs()
        #expect(!agent.isOnDisk("old") && agent.isOnDisk("y"))
        let (newest, begun) = (try #require(agent.disk.current?.generation), agent.now)

        try agent.adopt(copy)
        #expect(agent.disk.current?.generation == 1 && agent.isOnDisk("old"))
        #expect(agent.downloads.keys.sorted() == [Self.b])
        while agent.publication == nil { try agent.passToNextWake() }
        let publication = try #require(agent.publication)
        #expect(publication.generation > newest && publication.ignoresRoom)
        #expect(publication.documents.map(\.list).sorted() == ["1.plist", "2.plist"])
        try agent.finishPublication()
        #expect(try agent.published("1.plist") == [.ready(Sample.image("x"))])
        // The older image is better than none.
        #expect(try agent.published("2.plist") == [.ready(Sample.image("old"))])
        try agent.finish(Self.b, with: "y")
        try agent.finishJobs()
        #expect(try agent.published("2.plist") == [.ready(Sample.image("y"))])
        #expect(agent.disk.names[Self.b] == Sample.image("y").sha256)
        #expect(agent.disk.current?.lists.keys.sorted() == ["1.plist", "2.plist"])
        #expect(agent.release == nil && agent.isOnDisk("old"))
        while agent.release == nil { try agent.passToNextWake() }
        #expect(agent.now >= begun + .seconds(600) && agent.release?.first == 1)
        while agent.disk.generations.count > 1 || agent.removal != nil {
            try agent.finishJobs()
            if agent.disk.generations.count > 1 { try agent.passToNextWake() }
        }
        #expect(!agent.isOnDisk("old") && agent.isOnDisk("y"))
    }

    @Test("adopting a folder that was away shows the previous images of its apps again")
    func previousImages() throws {
        var agent = Self.agent()
        try agent.showLastImage("x", of: Self.a, insteadOf: Self.b)
        let away = agent.disk
        try agent.adopt(Self.agent().disk)
        try agent.finishJobs()
        #expect(agent.plan.status.icons.ready == 0)
        try agent.adopt(away)
        try agent.finishAll(.failed(.status(503)))
        try agent.finishJobs()
        #expect(try agent.published("1.plist") == [.ready(Sample.image("x"))])
    }

    @Test("adopting a cache with higher numbers continues above them, and remembers its generations")
    func newer() throws {
        var other = Self.agent()
        for number in 0..<5 { try other.publish(["\(number).plist": [Self.a: "z"]]) }
        let newest = try #require(other.disk.current?.generation)
        var agent = Self.agent()
        try agent.publish(["1.plist": [Self.a: "x"], "2.plist": [Self.b: "y"]])
        try agent.adopt(other.disk)
        while agent.publication == nil { try agent.passToNextWake() }
        #expect(agent.publication?.generation == newest + 1)
        try agent.finishJobs()
        #expect(agent.disk.current?.lists.keys.sorted() == ["1.plist", "2.plist"])
        for (url, word) in [(Self.a, "x"), (Self.b, "y")] { try agent.finish(url, with: word) }
        while agent.publication == nil { try agent.passToNextWake() }
        try agent.finishJobs()
        #expect(try agent.published("1.plist") == [.ready(Sample.image("x"))] && agent.plan.status.inSync)
        try agent.pass(.seconds(10))
        let superseded = Set(agent.disk.generations.keys).subtracting([try #require(agent.disk.current?.generation)])
        #expect(Set(agent.memory.superseded.keys) == superseded && superseded.contains(newest))
        #expect(agent.isOnDisk("z"))
        try agent.restart()
        try agent.scan(["1.plist": [Self.a], "2.plist": [Self.b]])
        #expect(agent.downloads.isEmpty && agent.plan.status.inSync)
    }

    @Test("adopting a copy of the same cache keeps everything, in a new generation")
    func copied() throws {
        var agent = Self.agent()
        try agent.publish(["1.plist": [Self.a: "x"], "2.plist": [Self.b: "y"]])
        let number = try #require(agent.disk.current?.generation)
        try agent.adopt(agent.disk)
        #expect(agent.publication?.generation == number + 1)
        try agent.finishJobs()
        #expect(agent.downloads.isEmpty && agent.plan.status.inSync && agent.plan.status.cache.lastRepair == nil)
        #expect(agent.disk.generations.keys.sorted().suffix(2) == [number, number + 1])
    }

    @Test("adopting a folder during a publication requests its staged images again, without failures")
    func staged() throws {
        var agent = Self.agent()
        try agent.publish(["1.plist": [Self.a: "x"]])
        let copy = agent.disk
        let (c, d): (IconURL, IconURL) = ("https://h.example/c.png", "https://h.example/d.png")
        try agent.scan(["2.plist": [Self.b, c, d]])
        try agent.finish(Self.b, with: "y")
        try agent.finish(c, with: "z")
        try agent.adopt(copy)
        #expect(agent.downloads.keys.sorted() == [Self.b, c, d])
        for (url, word) in [(Self.b, "y"), (c, "z"), (d, "u")] { try agent.finish(url, with: word) }
        while !agent.plan.status.inSync {
            if agent.publication == nil { try agent.passToNextWake() }
            try agent.finishJobs()
        }
        #expect(agent.requests.count == 6 && agent.disk.staging.isEmpty)
        #expect(try agent.published("2.plist") == ["y", "z", "u"].map { .ready(Sample.image($0)) })
    }
}
