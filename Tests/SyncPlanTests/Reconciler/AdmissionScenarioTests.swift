// SPDX-License-Identifier: Apache-2.0
import AgentSettings
import CacheFormat
import HTTPRules
import Reports
import Testing

@testable import SyncPlan

/// `cache.maxBytes` and `lists.maxBytesPerList`.
@Suite("No more images than the limits allow")
struct AdmissionScenarioTests {
    private static let urls = (1...9).map { IconURL("https://h.example/\($0)") }
    /// The size of each image in bytes.
    private static let size = Sample.image("\(urls[0])").bytes

    private static func codes(_ agent: AgentScenario, _ list: ListName = "1.plist") throws -> [String] {
        try agent.published(list).map { state in
            switch state {
            case .ready: "ready"
            case .pending: "pending"
            case .failed(let code): code
            }
        }
    }

    /// Finishes all downloads, each with an image of its own, and publishes.
    private static func settle(_ agent: inout AgentScenario) throws {
        while !agent.downloads.isEmpty {
            for url in agent.downloads.keys.sorted() { try agent.finish(url, with: url) }
        }
        try agent.finishJobs()
    }

    @Test(
        "the cache takes what fits; the others are over-limit, and come when others went, were replaced or the limit rose"
    )
    func cache() throws {
        var agent = AgentScenario {
            $0.cache.maxBytes = ByteCount(3 * Self.size)
            $0.cache.grace = .seconds(1)
        }
        try agent.scan(["1.plist": Array(Self.urls.prefix(5))])
        try Self.settle(&agent)
        #expect(try Self.codes(agent).count { $0 == "ready" } == 3)
        #expect(try Self.codes(agent).count { $0 == "over-limit" } == 2)
        #expect(agent.plan.status.failures.map(\.code) == ["over-limit"])
        let there = zip(Self.urls, try Self.codes(agent)).filter { $0.1 == "ready" }.map(\.0)
        // The image that goes stays for its grace.
        let rest = Self.urls.prefix(5).filter { $0 != there[0] }
        try agent.scan(["1.plist": Array(rest)])
        try Self.settle(&agent)
        #expect(try Self.codes(agent).count { $0 == "over-limit" } == 2)
        try agent.pass(.seconds(1))
        try agent.finishJobs()
        #expect(agent.plan.status.icons.retired == 0)
        try Self.settle(&agent)
        #expect(try Self.codes(agent).count { $0 == "ready" } == 3)
        #expect(try Self.codes(agent).count { $0 == "over-limit" } == 1)

        // What is there is refreshed, and a new image may replace it.
        try agent.fetchAgain(there[1])
        let end = agent.now + .seconds(60)
        try agent.finish(there[1], with: "\(there[1])'")
        try Self.settle(&agent)
        while !agent.isOnDisk("\(there[1])'"), agent.now < end {
            try agent.passToNextWake()
            try Self.settle(&agent)
        }
        #expect(agent.isOnDisk("\(there[1])'"))

        var settings = Settings()
        settings.cache.maxBytes = ByteCount(9 * Self.size)
        try agent.handle(.configured(settings))
        try Self.settle(&agent)
        #expect(try Self.codes(agent) == ["ready", "ready", "ready", "ready"])
    }

    @Test("an app whose URL changes gets its new icon in a full cache, and the last image goes")
    func replaced() throws {
        var agent = AgentScenario {
            $0.cache.maxBytes = ByteCount(3 * Self.size)
            $0.cache.grace = .seconds(1)
        }
        let old = Array(Self.urls.prefix(3))
        try agent.scan(["1.plist": old])
        try Self.settle(&agent)
        let new = old.map { IconURL("\($0)?v=2") }
        try agent.scan(["1.plist": new])
        #expect(Set(agent.downloads.keys) == Set(new))
        try Self.settle(&agent)
        try agent.pass(.seconds(2))
        try agent.finishJobs()
        #expect(try Self.codes(agent) == ["ready", "ready", "ready"])
        #expect(agent.disk.images == Set(new.map { Sample.image("\($0)").sha256 }))
        try agent.scan(["1.plist": new, "2.plist": [Self.urls[5]]])
        try Self.settle(&agent)
        #expect(try Self.codes(agent, "2.plist") == ["over-limit"])
    }

    @Test("a last image that stays where it is shown besides lets no new icon into a full cache")
    func replacedInPart() throws {
        var agent = AgentScenario { $0.cache.maxBytes = ByteCount(Self.size) }
        try agent.scan(["1.plist": [Self.urls[0]], "2.plist": [Self.urls[0]]])
        try Self.settle(&agent)
        try agent.scan(["1.plist": [Self.urls[1]]])
        try Self.settle(&agent)
        #expect(try Self.codes(agent) == ["ready"], "the last image")
        #expect(agent.plan.status.failures.map(\.code) == ["over-limit"])
    }

    @Test("each list has its own limit, and an icon needs room in one of its lists")
    func lists() throws {
        var agent = AgentScenario {
            $0.lists.maxBytesPerList = ByteCount(2 * Self.size)
            $0.fetch.perHost = 1
        }
        try agent.scan(["1.plist": Array(Self.urls.prefix(4)), "2.plist": [Self.urls[8]]])
        try Self.settle(&agent)
        #expect(try Self.codes(agent).count { $0 == "over-limit" } == 2)
        #expect(try Self.codes(agent, "2.plist") == ["ready"])
        let refused = try zip(Self.urls, Self.codes(agent)).first { $0.1 == "over-limit" }.map(\.0)
        let other = try #require(refused)
        try agent.scan(["2.plist": [Self.urls[8], other]])
        try Self.settle(&agent)
        #expect(try Self.codes(agent, "2.plist") == ["ready", "ready"])
        #expect(try Self.codes(agent).count { $0 == "over-limit" } == 1)
        try agent.restart()
        try Self.settle(&agent)
        #expect(try Self.codes(agent).count { $0 == "over-limit" } == 1)
    }

    @Test("an image that is larger than one of its limits fails alone, and others still come")
    func large() throws {
        var agent = AgentScenario {
            $0.cache.maxBytes = ByteCount(2 * Self.size)
            $0.lists.maxBytesPerList = ByteCount(9 * Self.size)
        }
        try agent.scan(["1.plist": Array(Self.urls.prefix(2))])
        try agent.finish(Self.urls[0], with: String(repeating: "x", count: 2 * Self.size))
        try agent.finish(Self.urls[1], with: "\(Self.urls[1])")
        try agent.finishJobs()
        #expect(try Self.codes(agent) == ["too-large", "ready"])
        // Its server may have a smaller one now.
        try agent.handle(.request([Self.urls[0]], isRefresh: false))
        try agent.finish(Self.urls[0], with: Self.urls[0])
        try agent.finishJobs()
        #expect(try Self.codes(agent) == ["ready", "ready"])
    }

    @Test("a user's retry asks whether an image that was over the limit is still as large")
    func retry() throws {
        var agent = AgentScenario { $0.cache.maxBytes = ByteCount(3 * Self.size) }
        try agent.scan(["1.plist": Array(Self.urls.prefix(2))])
        try agent.finish(Self.urls[1], with: Self.urls[1])
        try agent.finish(Self.urls[0], with: String(repeating: "x", count: 2 * Self.size))
        try agent.finishJobs()
        #expect(try Self.codes(agent) == ["over-limit", "ready"])
        try agent.handle(.request([Self.urls[0]], isRefresh: false))
        try agent.finish(Self.urls[0], with: Self.urls[0])
        try agent.finishJobs()
        #expect(try Self.codes(agent) == ["ready", "ready"])
    }

    @Test("the size of an image that did not fit is known after a restart, which requests it once it fits")
    func restart() throws {
        var agent = AgentScenario {
            $0.cache.maxBytes = ByteCount(3 * Self.size)
            $0.cache.grace = .seconds(1)
        }
        try agent.scan(["1.plist": [Self.urls[0]], "2.plist": [Self.urls[1]]])
        #expect(agent.requests.allSatisfy { $0.room == 3 * Self.size })
        try agent.finish(Self.urls[0], with: Self.urls[0])
        try agent.finish(Self.urls[1], with: String(repeating: "x", count: 2 * Self.size))
        try agent.finishJobs()
        let requests = agent.requests.count
        try agent.restart()
        try Self.settle(&agent)
        #expect(agent.requests.count == requests)
        #expect(try Self.codes(agent, "2.plist") == ["over-limit"])
        try agent.scan(["1.plist": nil])
        try agent.finishJobs()
        try agent.handle(.evict(isConfirmed: true))
        try agent.pass(.seconds(2))
        try agent.finishJobs()
        #expect(agent.requests.dropFirst(requests).map(\.room) == [3 * Self.size])
        try Self.settle(&agent)
        #expect(try Self.codes(agent, "2.plist") == ["ready"])
    }

    @Test("an announced size that does not fit is judged by the room there is when the answer comes")
    func announced() throws {
        var agent = AgentScenario { $0.cache.maxBytes = ByteCount(3 * Self.size) }
        try agent.scan(["1.plist": Array(Self.urls.prefix(2))])
        try agent.finish(Self.urls[1], with: Self.urls[1])
        for (bytes, code) in [(3 * Self.size, "over-limit"), (4 * Self.size, "too-large")] {
            try agent.finish(Self.urls[0], .failed(.overLimit("", imageBytes: bytes)))
            try agent.finishJobs()
            #expect(try Self.codes(agent) == [code, "ready"])
            try agent.handle(.request([Self.urls[0]], isRefresh: false))
        }
        // It fits by now.
        try agent.finish(Self.urls[0], .failed(.overLimit("", imageBytes: 2 * Self.size)))
        #expect(agent.downloads.keys.contains(Self.urls[0]))
        try Self.settle(&agent)
        #expect(try Self.codes(agent) == ["ready", "ready"])
    }

    @Test("thousands over the limit cost no requests, and come in batches once there is room")
    func many() throws {
        let urls = (0..<2000).map { IconURL("https://h.example/\($0)") }
        var agent = AgentScenario { $0.cache.maxBytes = ByteCount(100 * Self.size) }
        try agent.scan(["1.plist": urls])
        try Self.settle(&agent)
        #expect(agent.requests.count <= 100 + 4)
        let ready = agent.plan.status.icons.ready
        #expect((92...100).contains(ready) && agent.plan.status.icons.failed == 2000 - ready)
        var settings = Settings()
        settings.cache.maxBytes = ByteCount(300 * Self.size)
        try agent.handle(.configured(settings))
        try Self.settle(&agent)
        #expect(agent.plan.status.icons.ready >= 270 && agent.requests.count <= 320)
    }

    @Test("hundreds that wait come in batches once there is room, also after a reload of other settings")
    func batches() throws {
        let count = 3 * 64
        var agent = AgentScenario {
            $0.cache.maxBytes = ByteCount(count * (Self.size + 2))
            $0.cache.grace = .seconds(1)
        }
        let urls = (0..<2 * count).map { IconURL("https://h.example/\($0)") }
        try agent.scan(["1.plist": Array(urls.prefix(count))])
        try Self.settle(&agent)
        try agent.scan(["2.plist": Array(urls.suffix(count))])
        try Self.settle(&agent)
        let requests = agent.requests.count
        var settings = agent.settings
        settings.refresh.minimum = .seconds(7200)
        try agent.handle(.configured(settings))
        try agent.scan(["1.plist": nil])
        try agent.handle(.evict(isConfirmed: true))
        for _ in 0..<10 {
            try agent.pass(.seconds(10))
            try Self.settle(&agent)
        }
        #expect(agent.requests.count > requests + count / 2)
        #expect(try Self.codes(agent, "2.plist").count { $0 == "ready" } > count * 9 / 10)
    }

    @Test("room that lets no image in costs nothing, however many wait")
    func futileRoom() throws {
        let limit = 1 << 15
        try expectLinearTime(from: 100) { count in
            var agent = AgentScenario {
                $0.cache.maxBytes = ByteCount(limit)
                $0.cache.grace = .seconds(1)
            }
            try agent.scan(["1.plist": [Self.urls[0]]])
            for step in 0..<count {
                let other = Sample.image("\(step)")
                let image = AppListDocument.Image(
                    path: other.path, sha256: other.sha256, bytes: limit - step, type: other.type, width: 64, height: 64
                )
                if step > 0 { try agent.handle(.request([Self.urls[0]], isRefresh: true)) }
                try agent.finish(
                    Self.urls[0], .image(agent.stage(image), Sample.response(etag: "\(step)", at: agent.now)))
                try agent.finishJobs()
                if step == 0 { try agent.scan(["2.plist": (0..<count).map { IconURL("https://h.example/w\($0)") }]) }
                try agent.pass(.seconds(10))
                try agent.finishJobs()
            }
            #expect(agent.requests.count == count)
            #expect(agent.plan.status.icons.failed == count)
        }
    }
}
