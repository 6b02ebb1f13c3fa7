// SPDX-License-Identifier: Apache-2.0
import AgentSettings
import CacheFormat
import HTTPRules
import Reports
import Testing

@testable import SyncPlan

@Suite("A cache folder that others remove files from")
struct InspectionScenarioTests {
    private static let a: IconURL = "https://h.example/a.png"
    private static let b: IconURL = "https://h.example/b.png"

    private static func agent() throws -> AgentScenario {
        var agent = AgentScenario()
        try agent.publish(["1.plist": [a: "x"], "2.plist": [b: "y"]])
        agent.answersInspections = false
        return agent
    }

    /// The URLs that are expected to show each of the images of these words.
    private static func urls(of images: [CacheExpectation.Naming]?) -> [String: Set<IconURL>] {
        var urls: [String: Set<IconURL>] = [:]
        for naming in images ?? [] {
            let word = ["x", "y"].first { Sample.image($0) == naming.image } ?? naming.image.path
            urls[word, default: []].formUnion(naming.url.map { [$0] } ?? [])
        }
        return urls
    }

    /// An agent of which a quick look at the cache found something amiss.
    private static func suspiciousAgent() throws -> AgentScenario {
        var agent = try agent()
        try agent.scan()
        #expect(agent.expectation?.images == nil && agent.expectation?.documents.count == 2)
        var found = CacheInspection()
        found.isSuspicious = true
        try agent.finishInspection(found)
        return agent
    }

    @Test("the cache is checked after each scan of the lists, and before each publication")
    func when() throws {
        var agent = try Self.agent()
        try agent.scan()
        #expect(agent.expectation?.generation == 1)
        try agent.finishInspection(CacheInspection())
        try agent.pass(.seconds(60))
        #expect(agent.expectation == nil)
        try agent.scan(["3.plist": []])
        #expect(agent.expectation != nil && agent.publication == nil && !agent.plan.isSettled)
        try agent.finishInspection(CacheInspection())
        try agent.finishPublication()
        try agent.handle(.pin(url: Self.a, isPinned: true))
        #expect(agent.expectation != nil && agent.publication == nil)
        try agent.finishInspection(CacheInspection())
        #expect(agent.publication != nil)
    }

    @Test("a fault found makes the whole cache checked, and publications wait for the result")
    func complete() throws {
        var agent = try Self.suspiciousAgent()
        let expected = try #require(agent.expectation)
        #expect(Self.urls(of: expected.images.map(Array.init)) == ["x": [Self.a], "y": [Self.b]])
        #expect(!agent.plan.status.inSync && !agent.plan.isSettled)
        try agent.scan(["3.plist": []])
        #expect(agent.publication == nil)
        try agent.finishInspection(CacheInspection())
        // The lists were looked at meanwhile.
        if agent.expectation != nil { try agent.finishInspection(CacheInspection()) }
        try agent.finishPublication()
        #expect(agent.plan.status.inSync && agent.plan.status.cache.lastRepair == nil)
    }

    @Test("documents and manifests are published again, images fetched again, and status says so")
    func lost() throws {
        var agent = try Self.suspiciousAgent()
        var found = CacheInspection()
        found.lacksManifest = true
        found.latestGeneration = 41
        found.lostDocuments = ["1.plist"]
        found.lostImages = [Sample.image("y").sha256]
        agent.answersInspections = true
        try agent.finishInspection(found)
        try agent.pass(.milliseconds(100))
        let publication = try #require(agent.publication)
        #expect(publication.documents.map(\.list).sorted() == ["1.plist", "2.plist"] && publication.generation == 42)
        #expect(agent.downloads[Self.b]?.reason == .missingOnDisk && agent.downloads.count == 1)
        agent.allowLoss(of: ["y"])
        try agent.finishPublication()
        #expect(try agent.published("2.plist") == [.pending])
        try agent.finish(Self.b, with: "y")
        try agent.pass(.seconds(1))
        try agent.finishJobs()
        #expect(try agent.published("2.plist") == [.ready(Sample.image("y"))] && agent.plan.status.inSync)
        let repair = agent.plan.status.cache.lastRepair
        #expect(repair?.hasSuffix("the manifest, 1 list document, 1 image") == true)
    }

    @Test("a folder that cannot be put right is tried again, and nothing is published in it")
    func trouble() throws {
        var agent = try Self.suspiciousAgent()
        var found = CacheInspection()
        found.trouble = "Cannot make it."
        try agent.finishInspection(found)
        #expect(agent.publication == nil && agent.expectation == nil)
        #expect(agent.plan.status.publication.error == "Cannot make it.")
        try agent.passToNextWake()
        #expect(agent.expectation != nil && agent.publication == nil)
        agent.answersInspections = true
        try agent.finishInspection(CacheInspection())
        try agent.finishPublication()
        #expect(agent.plan.status.inSync)
    }

    @Test("a suspicion makes the whole cache checked")
    func suspicion() throws {
        var agent = try Self.agent()
        try agent.handle(.suspected)
        #expect(agent.expectation?.images?.count == 2)
    }

    @Test("a failed publication makes the whole cache checked: an image that it was to name may be gone")
    func failedPublication() throws {
        var agent = try Self.agent()
        let c: IconURL = "https://h.example/c.png"
        agent.answersInspections = true
        try agent.scan(["3.plist": [c]])
        agent.answersInspections = false
        try agent.finish(c, with: "x")
        try agent.finishPublication(fails: true)
        #expect(agent.expectation?.images?.count == 2)
        var found = CacheInspection()
        found.lostImages = [Sample.image("x").sha256]
        agent.answersInspections = true
        try agent.finishInspection(found)
        #expect(agent.downloads[Self.a]?.reason == .missingOnDisk)
        agent.allowLoss(of: ["x"])
        try agent.finish(Self.a, with: "x")
        try agent.finishJobs()
        while agent.downloads[c] == nil { try agent.passToNextWake() }
        try agent.finish(c, with: "x")
        while agent.publication == nil { try agent.passToNextWake() }
        try agent.finishJobs()
        #expect(try agent.published("3.plist") == [.ready(Sample.image("x"))] && agent.plan.status.inSync)
    }

    @Test("a quick look checks a few of many documents")
    func sample() throws {
        var agent = AgentScenario()
        try agent.publish(Dictionary(uniqueKeysWithValues: (0..<300).map { ("\($0).plist", [:]) }))
        agent.answersInspections = false
        try agent.scan()
        let expected = try #require(agent.expectation)
        #expect((1...64).contains(expected.documents.count) && expected.images == nil)
    }

    @Test("a look after a scan checks all images of a small cache, and a few of a large one")
    func images() throws {
        var agent = try Self.agent()
        try agent.scan()
        #expect(Self.urls(of: agent.expectation?.sample) == ["x": [Self.a], "y": [Self.b]])
        try agent.finishInspection(CacheInspection())
        for isPinned in [true, false] {
            try agent.handle(.pin(url: Self.a, isPinned: isPinned))
            if isPinned { try agent.finishPublication() }
        }
        // Nothing but what it brings is looked at before a publication.
        #expect(agent.expectation?.images == nil && agent.expectation?.sample == [])

        let urls = (0..<500).map { IconURL("https://h.example/\($0)") }
        var large = AgentScenario {
            $0.fetch.concurrency = 1000
            $0.fetch.perHost = 1000
        }
        try large.publish([
            "1.plist": [Self.a: "x"], "2.plist": Dictionary(uniqueKeysWithValues: urls.map { ($0, $0.text) }),
        ])
        while let url = large.downloads.keys.first { try large.finish(url, with: url) }
        try large.finishJobs()
        large.answersInspections = false
        var seen: Set<IconURL> = []
        for _ in 0..<4 {
            try large.scan()
            let sample = try #require(large.expectation?.sample)
            #expect((100...256).contains(sample.count))
            for naming in sample {
                let url = try #require(naming.url)
                #expect(naming.image == Sample.image(url == Self.a ? "x" : url.text))
                seen.insert(url)
            }
            try large.finishInspection(CacheInspection())
        }
        #expect(seen.count > 256)
    }

    @Test("a new document is not published that would name an image that is gone, which is fetched again")
    func check() throws {
        var agent = try Self.agent()
        agent.lose(["x"])
        agent.answersInspections = true
        try agent.scan(["3.plist": [Self.a, Self.b]])
        agent.answersInspections = false
        #expect(agent.publication?.checks == [Sample.image("x"), Sample.image("y")])
        try agent.finishPublication()
        #expect(agent.disk.current?.lists["3.plist"] == nil && agent.plan.status.publication.error != nil)
        var found = CacheInspection()
        found.lostImages = [Sample.image("x").sha256]
        agent.answersInspections = true
        try agent.finishInspection(found)
        try agent.finish(Self.a, with: "x")
        while agent.publication == nil { try agent.passToNextWake() }
        try agent.finishJobs()
        #expect(try agent.published("3.plist") == ["x", "y"].map { .ready(Sample.image($0)) })
        // What its list named before is not looked at again.
        try agent.scan(["3.plist": [Self.b, Self.a, Self.b]])
        #expect(agent.publication?.checks == [])
    }

    @Test("a download that takes the place of a damaged file has the names of the old one looked for")
    func replaced() throws {
        var agent = try Self.agent()
        let c: IconURL = "https://h.example/c.png"
        agent.lose(["x"])
        agent.answersInspections = true
        try agent.scan(["3.plist": [c]])
        try agent.finish(c, with: "x")
        #expect(agent.publication?.discards.map(\.image) == [Sample.image("x")] && agent.publication?.checks == [])
        agent.answersInspections = false
        try agent.finishPublication()
        #expect(agent.isOnDisk("x") && Self.urls(of: agent.expectation?.images.map(Array.init))["x"] == [Self.a, c])
        #expect(agent.downloads.isEmpty)
    }

    @Test("an agent is not in sync and removes nothing before the first look has ended")
    func first() throws {
        var agent = try Self.agent()
        try agent.restart()
        try agent.scan()
        #expect(agent.expectation?.removesOthers == true && !agent.plan.status.inSync && !agent.plan.isSettled)
        try agent.finishInspection(CacheInspection())
        #expect(agent.plan.status.inSync)
    }

    @Test("a sync ends with an error if the cache folder cannot be checked")
    func troubleForLists() throws {
        var agent = try Self.suspiciousAgent()
        #expect(!agent.plan.syncReport(of: ["1.plist"]).isDone)
        var found = CacheInspection()
        found.trouble = "the disk is broken"
        try agent.finishInspection(found)
        let report = agent.plan.syncReport(of: ["1.plist"])
        #expect(report.error == "the disk is broken" && report.isDone)
    }
}
