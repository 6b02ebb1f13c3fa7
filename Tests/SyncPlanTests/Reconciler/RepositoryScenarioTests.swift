// SPDX-License-Identifier: Apache-2.0
import AgentSettings
import CacheFormat
import HTTPRules
import Reports
import Testing

@testable import SyncPlan

/// Munki's `_icon_hashes.plist`.
@Suite("A folder of icons whose images are named")
struct RepositoryScenarioTests {
    private static let base = "https://repo.example/icons/"
    private static let (a, b, c) = (IconURL(base + "A.png"), IconURL(base + "B%201.png"), IconURL(base + "C.png"))
    private static let elsewhere: IconURL = "https://h.example/D.png"
    private static let hashes: ListName = "_icon_hashes.plist"

    private static func agent() -> AgentScenario { AgentScenario { $0.lists.iconBaseURL = base } }

    @Test("icons in the folder that are not named are not requested, until they are")
    func unnamed() throws {
        var agent = Self.agent()
        for _ in 0..<2 {
            try agent.scan(Self.hashes, images: [Self.a, Self.b])
            let accepted = agent.events.filter { $0.kind == .listAccepted }
            #expect(accepted == [.listAccepted(Self.hashes, apps: 0, problems: 0)])
        }
        try agent.scan(["1.plist": [Self.a, Self.b, Self.c, Self.elsewhere]])
        #expect(Set(agent.downloads.keys) == [Self.a, Self.b, Self.elsewhere])
        for url in [Self.a, Self.b, Self.elsewhere] { try agent.finish(url, with: url) }
        try agent.finishJobs()
        #expect(try agent.published("1.plist")[2] == .failed(error: "not-in-repository"))
        #expect(agent.plan.status.failures.map(\.code) == ["not-in-repository"])
        #expect(agent.plan.status.lists.map(\.name) == ["1.plist", Self.hashes])
        #expect(agent.disk.current?.lists.keys.sorted() == ["1.plist"])

        // Nor after a retry by a user, or when its list changes.
        try agent.handle(.request([Self.c], isRefresh: false))
        try agent.scan(["2.plist": [Self.c]])
        #expect(agent.downloads.isEmpty)
        try agent.scan(Self.hashes, images: [Self.a, Self.b, Self.c])
        #expect(Set(agent.downloads.keys) == [Self.c])
        try agent.finish(Self.c, with: Self.c)
        try agent.finishJobs()
        #expect(agent.plan.status.icons.ready == 4)
    }

    @Test("an image that is there stays when its file is no longer named, and is not asked for")
    func kept() throws {
        var agent = Self.agent()
        try agent.scan(Self.hashes, images: [Self.a])
        try agent.scan(["1.plist": [Self.a]])
        try agent.finish(Self.a, with: Self.a)
        try agent.finishJobs()
        try agent.scan(Self.hashes, images: [Self.c])
        try agent.pass(.seconds(90 * 86_400))
        #expect(agent.downloads.isEmpty)
        #expect(agent.plan.status.icons.ready == 1)
        #expect(agent.plan.status.refreshFailures.map(\.code) == ["not-in-repository"])
        #expect(agent.isOnDisk(Self.a.text))
        try agent.scan(Self.hashes, images: [Self.a])
        #expect(Set(agent.downloads.keys) == [Self.a])
    }

    @Test("a file that is no good keeps the last version in force; one that is gone lets all icons be requested")
    func lost() throws {
        var agent = Self.agent()
        try agent.scan(Self.hashes, images: [Self.a])
        try agent.spoil(Self.hashes)
        #expect(agent.plan.status.lists.map(\.state) == ["last-good"])
        try agent.scan(["1.plist": [Self.c]])
        #expect(agent.downloads.isEmpty)
        try agent.scan([Self.hashes: nil])
        #expect(Set(agent.downloads.keys) == [Self.c])
    }

    @Test("a list of apps whose file names images instead is published no more")
    func replaced() throws {
        var agent = Self.agent()
        try agent.scan(["1.plist": [Self.a], "2.plist": [Self.b]])
        for url in [Self.a, Self.b] { try agent.finish(url, with: url) }
        try agent.finishJobs()
        try agent.scan("1.plist", images: [Self.b])
        try agent.finishJobs()
        #expect(agent.disk.current?.lists.keys.sorted() == ["2.plist"])
        #expect(agent.plan.syncReport(of: []).isDone)
        try agent.scan(["2.plist": [Self.b, Self.elsewhere]])
        try agent.finish(Self.elsewhere, with: Self.elsewhere)
        try agent.finishJobs()
        #expect(agent.disk.current?.lists.keys.sorted() == ["2.plist"])
        // The same file again publishes nothing.
        let generation = agent.disk.current?.generation
        try agent.scan("1.plist", images: [Self.b])
        try agent.finishJobs()
        #expect(agent.disk.current?.generation == generation)
    }

    @Test("an image that was damaged is requested again, although no file names it")
    func damaged() throws {
        var agent = Self.agent()
        try agent.scan(["1.plist": [Self.a]])
        try agent.finish(Self.a, with: Self.a)
        try agent.finishJobs()
        try agent.scan(Self.hashes, images: [Self.b])
        try agent.handle(.damaged([Sample.image(Self.a.text).sha256]))
        #expect(Set(agent.downloads.keys) == [Self.a])
    }
}
