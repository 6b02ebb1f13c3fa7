// SPDX-License-Identifier: Apache-2.0
import AgentSettings
import CacheFormat
import HTTPRules
import Reports
import Testing

@testable import SyncPlan

@Suite("Downloads without room, and publications")
struct SpaceScenarioTests {
    private static let urls = (1...6).map { IconURL("https://h.example/\($0)") }
    private static let full = Shortage(bytes: 100, isGeneral: true, reason: "only 1 KiB is free")
    private static let plenty: Result<DiskSpace, Shortage> = .success(SimulatedDisk.space(free: 1 << 20))

    private static func scenario() -> AgentScenario {
        AgentScenario { $0.fetch.perHost = 2 }
    }

    @Test("a full disk begins no download, publishes nothing of it, and blames no server")
    func shut() throws {
        var agent = Self.scenario()
        try agent.scan(["1.plist": Self.urls])
        try agent.finish(try #require(agent.downloads.keys.min()), with: "x")
        #expect(agent.requests.count == 3)
        for url in agent.downloads.keys.sorted() { try agent.finish(url, .noRoom(Self.full)) }
        try agent.finishPublication()
        #expect(agent.downloads.isEmpty && agent.publication == nil && agent.memory.origins.isEmpty)
        let status = agent.plan.status
        #expect(agent.plan.isSettled && status.state == .running && !status.inSync && status.needsAttention)
        #expect(status.downloads.reason == "only 1 KiB is free" && status.downloads.counts == [0, 0, 0, 5])
        #expect(status.icons.ready == 1 && status.icons.pending == 5 && status.icons.failed == 0)
        let url = try #require(agent.requests.last).url
        let next = agent.plan.report(on: url, now: agent.now)?.next
        #expect(next == "download when there is enough disk space (see syncagent status)")
    }

    @Test("the disk is looked at every 5 s, and once there is room all goes on, and each URL is asked for once more")
    func heals() throws {
        var agent = Self.scenario()
        try agent.scan(["1.plist": Self.urls])
        while !agent.downloads.isEmpty { try agent.finishAll(.noRoom(Self.full)) }
        try agent.finishJobs()
        for _ in 0..<10 {
            try agent.pass(.seconds(5))
            try agent.finishTrial(.success(SimulatedDisk.space(free: 64 << 10)))
            #expect(agent.downloads.isEmpty && agent.plan.status.downloads.reason?.hasPrefix("only 64 KiB") == true)
        }
        try agent.pass(.seconds(5))
        try agent.finishTrial(Self.plenty)
        while !agent.downloads.isEmpty {
            for url in agent.downloads.keys.sorted() { try agent.finish(url, with: url) }
        }
        try agent.finishJobs()
        #expect(agent.requests.count == Self.urls.count + 2)
        #expect(agent.plan.status.inSync && !agent.plan.status.needsAttention)
        try agent.pass(.seconds(5))
        #expect(agent.trial == nil)
    }

    @Test("an image that alone does not fit lets the others go on, and comes when there is room for it")
    func tooLarge() throws {
        var agent = Self.scenario()
        try agent.scan(["1.plist": Self.urls])
        let shortage = Shortage(bytes: 800_000, isGeneral: false, reason: "781 KiB do not fit")
        let large = try #require(agent.downloads.keys.min())
        try agent.finish(large, .noRoom(shortage))
        while let url = agent.downloads.keys.min() { try agent.finish(url, with: url) }
        try agent.finishJobs()
        #expect(agent.plan.status.icons.ready == 5 && agent.plan.status.downloads.blocked == 1)
        try agent.pass(.seconds(5))
        #expect(agent.trial == 800_000)
        try agent.finishTrial(.success(SimulatedDisk.space(free: 700_000)))
        #expect(agent.downloads.isEmpty)
        try agent.pass(.seconds(5))
        try agent.finishTrial(Self.plenty)
        #expect(agent.downloads.keys.sorted() == [large])
    }

    @Test("a publication that did not fit comes without its images, and they are downloaded when there is room")
    func publication() throws {
        var agent = Self.scenario()
        try agent.publish(["0.plist": ["https://i.example/": "old"]])
        try agent.scan(["1.plist": [Self.urls[0]]])
        try agent.finish(Self.urls[0], with: "x")
        try agent.finishPublication(isFull: true)
        let status = agent.plan.status
        #expect(status.publication.error == "no space left on device" && status.downloads.reason != nil)
        #expect(agent.plan.icon(Self.urls[0])?.failure == nil && agent.disk.staging.isEmpty)
        while agent.publication == nil { try agent.passToNextWake() }
        try agent.finishPublication()
        #expect(try agent.published("1.plist") == [.pending])
        while agent.trial == nil { try agent.passToNextWake() }
        #expect(agent.downloads.isEmpty)
        try agent.finishTrial(Self.plenty)
        try agent.finish(Self.urls[0], with: "x")
        try agent.finishPublication()
        #expect(agent.plan.status.inSync && agent.isOnDisk("old") && agent.isOnDisk("x"))
    }

    @Test("a publication that waits for its next try is made at once when there is room")
    func publicationHeals() throws {
        var agent = Self.scenario()
        try agent.scan(["1.plist": []])
        for _ in 0..<8 {
            try agent.finishPublication(isFull: true)
            while agent.publication == nil {
                try agent.passToNextWake()
                if agent.trial != nil { try agent.finishTrial(.failure(Self.full)) }
            }
        }
        try agent.finishPublication(isFull: true)
        while agent.trial == nil { try agent.passToNextWake() }
        try agent.finishTrial(Self.plenty)
        try agent.finishPublication()
        #expect(agent.plan.status.inSync)
    }

    @Test("an image that no list names any more does not wait for room")
    func dereferenced() throws {
        var agent = Self.scenario()
        try agent.scan(["1.plist": [Self.urls[0]]])
        try agent.finish(Self.urls[0], .noRoom(Shortage(bytes: 1000, isGeneral: false, reason: "too large")))
        #expect(agent.plan.status.downloads.reason != nil)
        try agent.scan(["1.plist": nil])
        try agent.finishJobs()
        #expect(agent.plan.icon(Self.urls[0]) == nil && agent.plan.status.downloads.reason == nil)
        #expect(!agent.plan.status.needsAttention)
    }

    @Test("retired images on a full disk go after their grace, and then the disk is measured once")
    func retired() throws {
        var agent = AgentScenario {
            $0.cache.grace = .seconds(2)
            $0.fetch.perHost = 2
        }
        try agent.publish(["1.plist": ["https://i.example/": "old"]])
        try agent.scan(["1.plist": nil, "2.plist": Self.urls])
        while !agent.downloads.isEmpty { try agent.finishAll(.noRoom(Self.full)) }
        while agent.publication != nil { try agent.finishPublication() }
        #expect(agent.release == nil && agent.isOnDisk("old"))
        try agent.pass(.seconds(2))
        #expect(agent.trial == nil)
        try agent.finishJobs()
        #expect(!agent.isOnDisk("old") && agent.trial != nil)
    }

    @Test("a long document waits for room, which is told; a small list and a removal do not wait")
    func documents() throws {
        var agent = Self.scenario()
        try agent.publish(["1.plist": [Self.urls[0]: "x"]])
        let large = (0..<500).map { IconURL("ftp://h.example/\($0)") }
        try agent.scan(["2.plist": [Self.urls[1]], "large.plist": large])
        try agent.finish(Self.urls[1], with: "y")
        try agent.refusePublication(room: 4096)
        #expect(agent.publication?.documents.map(\.list) == ["2.plist"])
        try agent.finishPublication()
        #expect(try agent.published("2.plist") == [.ready(Sample.image("y"))])
        #expect(agent.publication == nil && agent.disk.current?.lists["large.plist"] == nil)
        let status = agent.plan.status
        #expect(status.downloads.reason == "documents do not fit" && !status.inSync && status.needsAttention)
        let report = agent.plan.syncReport(of: ["large.plist"])
        #expect(report.isDone && report.error == "documents do not fit")
        #expect(agent.plan.syncReport(of: ["2.plist"]).isWhole)
        try agent.scan(["1.plist": nil])
        try agent.finishPublication()
        #expect(agent.disk.current.map { Array($0.lists.keys) } == ["2.plist"])
        try agent.pass(.seconds(5))
        #expect(agent.trial ?? 0 > 20_000)
        try agent.finishTrial(.success(SimulatedDisk.space(free: 1000)))
        #expect(agent.publication == nil && agent.plan.status.downloads.reason?.contains("free") == true)
        try agent.pass(.seconds(5))
        try agent.finishTrial(Self.plenty)
        try agent.finishPublication()
        #expect(try agent.published("large.plist").count == 500 && agent.plan.status.downloads.reason == nil)
        try agent.pass(.seconds(5))
        #expect(agent.trial == nil && agent.plan.status.inSync)
    }

    @Test("a new image waits with a list that has no room, and nothing else waits for that, or is published for it")
    func sharedImage() throws {
        var agent = Self.scenario()
        let url = Self.urls[0]
        let large = [url] + (0..<500).map { IconURL("ftp://h.example/\($0)") }
        try agent.publish(["1.plist": [url: "x"]])
        try agent.scan(["large.plist": large])
        try agent.finishJobs()
        try agent.pass(.seconds(2 * 86_400))
        try agent.finishJobs()
        try agent.scan(["large.plist": large + ["ftp://h.example/more"]])
        try agent.finish(url, with: "y")
        while let publication = agent.publication {
            let hasLarge = publication.documents.contains { $0.list == "large.plist" }
            if hasLarge { try agent.refusePublication(room: 4096) } else { try agent.finishPublication() }
        }
        let generation = agent.disk.current?.generation
        for _ in 0..<20 {
            try agent.pass(.seconds(1))
            #expect(agent.publication == nil)
            if agent.trial != nil { try agent.finishTrial(.success(SimulatedDisk.space(free: 1000))) }
        }
        #expect(agent.disk.current?.generation == generation)
        #expect(agent.plan.syncReport(of: ["large.plist"]).error != nil)
        for names: [ListName] in [["large.plist"], ["1.plist"], []] {
            #expect(agent.plan.syncReport(of: names).isDone, "\(names)")
        }
        var ending = agent
        try ending.handle(.stopping)
        #expect(ending.plan.isSettled)
        while agent.trial == nil { try agent.passToNextWake() }
        try agent.finishTrial(Self.plenty)
        try agent.finishJobs()
        #expect(try agent.published("1.plist") == [.ready(Sample.image("y"))])
        #expect(try agent.published("large.plist").first == .ready(Sample.image("y")) && agent.plan.status.inSync)
    }

    @Test("a list that is gone does not wait for room")
    func goneDocument() throws {
        var agent = Self.scenario()
        try agent.publish(["1.plist": [Self.urls[0]: "x"]])
        try agent.scan(["large.plist": (0..<500).map { IconURL("ftp://h.example/\($0)") }])
        try agent.refusePublication(room: 4096)
        #expect(!agent.plan.status.inSync)
        try agent.scan(["large.plist": nil])
        #expect(agent.plan.status.inSync && agent.plan.status.downloads.reason == nil)
        try agent.pass(.seconds(60))
        #expect(agent.trial == nil)
    }
}
