// SPDX-License-Identifier: Apache-2.0
import AgentSettings
import CacheFormat
import HTTPRules
import Reports
import Testing

@testable import SyncPlan

@Suite("URLs that differ in their fragment alone")
struct FragmentScenarioTests {
    private static let urls = ["#x", "#y", ""].map { IconURL("https://h.example/a.svg\($0)") }

    /// The icons that were requested from the server.
    private static func sent(_ agent: AgentScenario) -> [IconURL] {
        agent.requests.filter { $0.shared == nil }.map(\.url)
    }

    /// Ends the downloads that copy the image of another icon.
    private static func copyShared(_ agent: inout AgentScenario) throws {
        for (url, request) in agent.downloads {
            guard let shared = request.shared else { continue }
            try agent.finish(url, .image(agent.stage(shared.image), shared.response))
        }
    }

    @Test("URLs that differ in their fragment are requested once, and have one image")
    func together() throws {
        var agent = AgentScenario()
        try agent.scan(["1.plist": Self.urls])
        let first = try #require(Self.sent(agent).first)
        #expect(Self.sent(agent) == [first])
        #expect(agent.plan.status.downloads.active == 3)
        try agent.finish(first, with: "x")
        #expect(agent.downloads.count == 2)
        try Self.copyShared(&agent)
        try agent.finishPublication()
        let image = Sample.image("x")
        #expect(try agent.published("1.plist") == [.ready(image), .ready(image), .ready(image)])
        #expect(agent.disk.names == Dictionary(uniqueKeysWithValues: Self.urls.map { ($0, image.sha256) }))
        #expect(Self.sent(agent) == [first] && agent.plan.isSettled)
    }

    @Test("an icon that is listed later takes the image that is there, after a restart too", arguments: [false, true])
    func later(isRestarted: Bool) throws {
        var agent = AgentScenario()
        try agent.publish(["1.plist": [Self.urls[0]: "x"]])
        if isRestarted {
            try agent.restart()
            try agent.scan(["1.plist": [Self.urls[0]]])
        }
        let count = agent.requests.count
        try agent.scan(["1.plist": [Self.urls[0]], "2.plist": [Self.urls[1]]])
        #expect(agent.requests.dropFirst(count).map(\.shared?.image) == [Sample.image("x")])
        try Self.copyShared(&agent)
        try agent.finishPublication()
        #expect(try agent.published("2.plist") == [.ready(Sample.image("x"))])
    }

    @Test("an icon that copied an image lends it to a third one, also when the icon that was requested is forgotten")
    func lent() throws {
        var agent = AgentScenario { $0.cache.grace = .zero }
        try agent.publish(["1.plist": [Self.urls[0]: "x"]])
        try agent.scan(["2.plist": [Self.urls[1]]])
        try Self.copyShared(&agent)
        try agent.finishJobs()
        try agent.scan(["1.plist": nil])
        try agent.finishJobs()
        #expect(agent.plan.icon(Self.urls[0]) == nil && agent.isOnDisk("x"))
        let count = agent.requests.count
        try agent.scan(["3.plist": [Self.urls[2]]])
        #expect(agent.requests.dropFirst(count).map(\.shared?.image) == [Sample.image("x")])
    }

    @Test("a failure is that of all, and the server is not blamed for each of them")
    func failure() throws {
        var agent = AgentScenario()
        try agent.scan(["1.plist": Self.urls])
        try agent.finish(try #require(Self.sent(agent).first), .failed(.status(404)))
        #expect(agent.downloads.isEmpty && Self.sent(agent).count == 1)
        try agent.finishPublication()
        #expect(try agent.published("1.plist") == Self.urls.map { _ in .failed(error: "http-404") })
    }

    @Test("a download that is cancelled is requested for the next of them; one that waits ends with its list")
    func cancelled() throws {
        var agent = AgentScenario()
        try agent.scan(["1.plist": [Self.urls[0]], "2.plist": [Self.urls[1]], "3.plist": [Self.urls[2]]])
        let first = try #require(Self.sent(agent).first)
        let others = Self.urls.filter { $0 != first }
        // The first one and one that waits leave.
        try agent.scan(
            Dictionary(
                uniqueKeysWithValues: zip(["1.plist", "2.plist", "3.plist"] as [ListName], Self.urls).map { list, url in
                    (list, url == others[0] ? [url] : [])
                }))
        #expect(agent.cancelled == [first])
        #expect(agent.plan.status.downloads.active == 2)
        try agent.finish(first, .cancelled)
        #expect(Self.sent(agent) == [first, others[0]])
        try agent.finish(others[0], with: "x")
        try agent.finishPublication()
        #expect(agent.disk.names == [others[0]: Sample.image("x").sha256])
    }

    @Test("an image that cannot be taken any more is requested")
    func gone() throws {
        var agent = AgentScenario()
        try agent.publish(["1.plist": [Self.urls[0]: "x"]])
        try agent.scan(["1.plist": [Self.urls[0], Self.urls[1]]])
        try agent.finish(Self.urls[1], .failed(FetchFailure(.disk, "it is gone")))
        try agent.pass(.seconds(60))
        #expect(agent.requests.last?.url == Self.urls[1] && agent.requests.last?.shared == nil)
    }

    @Test("an icon whose download copied an image is awaited as others are")
    func chain() throws {
        var agent = AgentScenario()
        try agent.scan(["1.plist": [Self.urls[0]], "2.plist": [Self.urls[2]]])
        let (first, second) =
            Self.sent(agent) == [Self.urls[0]] ? (Self.urls[0], Self.urls[2]) : (Self.urls[2], Self.urls[0])
        let lists: [ListName] = first == Self.urls[0] ? ["1.plist", "2.plist"] : ["2.plist", "1.plist"]
        try agent.finish(first, with: "x")
        let copied = try #require(agent.downloads[second]?.shared)
        // The one that was requested leaves, and a third comes, before the copy is made.
        try agent.scan([lists[0]: [], lists[1]: [second, Self.urls[1]]])
        try agent.finish(second, .image(agent.stage(copied.image), copied.response))
        while let (url, request) = agent.downloads.first {
            if let shared = request.shared {
                try agent.finish(url, .image(agent.stage(shared.image), shared.response))
            } else {
                try agent.finish(url, with: "x")
            }
        }
        #expect(agent.plan.status.downloads.active == 0)
    }

    @Test("icons that come due one after the other are confirmed by one request; so are their failures")
    func due() throws {
        var agent = AgentScenario()
        try agent.scan(["1.plist": Self.urls])
        try agent.finish(try #require(Self.sent(agent).first), with: "x")
        try Self.copyShared(&agent)
        try agent.finishPublication()
        try agent.pass(.seconds(30 * 3600))
        let requests = Self.sent(agent)
        #expect(requests.count == 2)
        try agent.finish(try #require(requests.last), .failed(.status(503)))
        #expect(agent.downloads.isEmpty && Self.sent(agent).count == 2)
        // The next attempt is one request again.
        try agent.pass(.seconds(7200))
        #expect(Self.sent(agent).count == 3)
        try agent.finish(try #require(Self.sent(agent).last), .notModified(Sample.response(etag: "x", at: agent.now)))
        try agent.pass(.seconds(3600))
        try Self.copyShared(&agent)
        #expect(agent.downloads.isEmpty && Self.sent(agent).count == 3)
    }

    @Test("a full refresh downloads one image for all, without conditions")
    func full() throws {
        var agent = AgentScenario()
        try agent.scan(["1.plist": Self.urls])
        try agent.finish(try #require(Self.sent(agent).first), with: "x")
        try Self.copyShared(&agent)
        try agent.finishPublication()
        try agent.pass(.seconds(60))
        try agent.handle(.request(Self.urls, isRefresh: true, isFull: true))
        let second = try #require(Self.sent(agent).last)
        #expect(Self.sent(agent).count == 2 && agent.downloads[second]?.condition == nil)
        try agent.finish(second, with: "y")
        try Self.copyShared(&agent)
        try agent.finishJobs()
        let image = AppListDocument.State.ready(Sample.image("y"))
        #expect(try agent.published("1.plist") == [image, image, image])
        #expect(Self.sent(agent).count == 2)
    }

    /// An agent with the same image for two of the icons.
    private static func ready(concurrency: Int? = nil) throws -> AgentScenario {
        var agent = AgentScenario { if let concurrency { $0.fetch.concurrency = concurrency } }
        try agent.scan(["1.plist": [x, y]])
        while let (url, request) = agent.downloads.first {
            if request.shared == nil { try agent.finish(url, with: "x") }
            try copyShared(&agent)
        }
        try agent.finishJobs()
        #expect(sent(agent).count == 1)
        try agent.pass(.seconds(60))
        return agent
    }

    private static let (x, y) = (urls[0], urls[1])

    /// How a request with conditions can end.
    enum PlainEnd: CaseIterable {
        case notModified, sameImage, newImage
    }

    private static func finish(_ url: IconURL, with end: PlainEnd, in agent: inout AgentScenario) throws {
        switch end {
        case .notModified: try agent.finish(url, .notModified(Sample.response(etag: "x", at: agent.now)))
        case .sameImage: try agent.finish(url, with: "x")
        case .newImage: try agent.finish(url, with: "y")
        }
        try copyShared(&agent)
    }

    /// Lets the full request of an icon bring an image; no other request may follow.
    private static func finishFull(_ url: IconURL, in agent: inout AgentScenario) throws {
        let request = try #require(agent.downloads[url])
        #expect(request.bypassesCaches && request.condition == nil && request.shared == nil)
        try agent.finish(url, with: "z")
        try copyShared(&agent)
        try agent.finishJobs()
        #expect(agent.downloads.isEmpty && agent.plan.image(of: url) == Sample.image("z"))
    }

    @Test("a full request follows one with conditions, and takes nothing of it", arguments: PlainEnd.allCases)
    func fullAfterOther(end: PlainEnd) throws {
        var agent = try Self.ready()
        try agent.handle(.request([Self.x], isRefresh: true))
        try agent.pass(.seconds(1))
        try agent.handle(.request([Self.y], isRefresh: true, isFull: true))
        #expect(Self.sent(agent).count == 2)
        try Self.finish(Self.x, with: end, in: &agent)
        try Self.finishFull(Self.y, in: &agent)
        #expect(Self.sent(agent).count == 3)
    }

    @Test("an icon that waits for another one's request is requested in full after it", arguments: PlainEnd.allCases)
    func fullAfterPlain(end: PlainEnd) throws {
        var agent = try Self.ready()
        try agent.handle(.request([Self.x, Self.y], isRefresh: true))
        let first = try #require(Self.sent(agent).last)
        let second = first == Self.x ? Self.y : Self.x
        #expect(Self.sent(agent).count == 2)
        try agent.pass(.seconds(1))
        try agent.handle(.request([second], isRefresh: true, isFull: true))
        #expect(Self.sent(agent).count == 2)
        try Self.finish(first, with: end, in: &agent)
        try agent.finishJobs()
        try Self.finishFull(second, in: &agent)
        #expect(Self.sent(agent).count == 3)
    }

    @Test("a full request takes nothing of one that was sent before the user asked", arguments: [false, true])
    func earlierFull(hasEnded: Bool) throws {
        var agent = try Self.ready()
        try agent.handle(.request([Self.x], isRefresh: true, isFull: true))
        if hasEnded { try Self.finishFull(Self.x, in: &agent) }
        let earlier = Sample.response(etag: "z", at: agent.now)
        try agent.pass(.seconds(1))
        try agent.handle(.request([Self.y], isRefresh: true, isFull: true))
        if !hasEnded { try agent.finish(Self.x, with: "z", answer: earlier) }
        try Self.finishFull(Self.y, in: &agent)
        #expect(Self.sent(agent).count == 3)
    }

    @Test("full requests that start one after the other are one if the user asked for all of them before")
    func laterFull() throws {
        var agent = try Self.ready(concurrency: 1)
        try agent.handle(.request([Self.x, Self.y], isRefresh: true, isFull: true))
        let first = try #require(agent.downloads.keys.first)
        #expect(agent.downloads.count == 1)
        try agent.pass(.seconds(1))
        try Self.finishFull(first, in: &agent)
        #expect([Self.x, Self.y].allSatisfy { agent.plan.image(of: $0) == Sample.image("z") })
        #expect(Self.sent(agent).count == 2)
    }

    @Test("a full request that fails is repeated once for all that share it")
    func failedFull() throws {
        var agent = try Self.ready()
        try agent.handle(.request([Self.x, Self.y], isRefresh: true, isFull: true))
        try agent.finish(try #require(Self.sent(agent).last), .failed(.status(503)))
        #expect(agent.downloads.isEmpty && Self.sent(agent).count == 2)
        try agent.pass(.seconds(7200))
        let again = try #require(Self.sent(agent).last)
        #expect(Self.sent(agent).count == 3)
        try Self.finishFull(again, in: &agent)
        #expect([Self.x, Self.y].allSatisfy { agent.plan.image(of: $0) == Sample.image("z") })
        #expect(Self.sent(agent).count == 3)
    }

    @Test("a refresh asks the server once for all that are requested together")
    func refresh() throws {
        var agent = AgentScenario()
        try agent.scan(["1.plist": Self.urls])
        let first = try #require(Self.sent(agent).first)
        try agent.finish(first, with: "x")
        try Self.copyShared(&agent)
        try agent.finishPublication()
        try agent.pass(.seconds(60))
        try agent.handle(.request(Self.urls, isRefresh: true))
        #expect(Self.sent(agent).count == 2)
        let second = try #require(Self.sent(agent).last)
        try agent.finish(second, .notModified(Sample.response(etag: "x", at: agent.now)))
        #expect(agent.downloads.isEmpty && Self.sent(agent).count == 2)
        let fresh = Self.urls.compactMap { agent.plan.icon($0)?.freshUntil }
        #expect(fresh.count == 3 && fresh.allSatisfy { $0 > agent.now })
    }
}
