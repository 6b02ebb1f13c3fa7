// SPDX-License-Identifier: Apache-2.0
import AppLists
import CacheFormat
import HTTPRules
import Reports
import Testing

@testable import SyncPlan

@Suite("Lists that give the digest of an image")
struct DigestScenarioTests {
    private static let url: IconURL = "https://h.example/a.png"
    private static let failed = AppListDocument.State.failed(error: "digest-mismatch")

    private static func ready(_ word: String) -> AppListDocument.State { .ready(Sample.image(word)) }

    @Test("an image with the digest is published, and the document tells the digest")
    func match() throws {
        var agent = AgentScenario()
        try agent.scan("1.plist", Self.url, expecting: "x")
        try agent.finish(Self.url, with: "x")
        try agent.finishPublication()
        #expect(try agent.published("1.plist") == [Self.ready("x")])
        let list = try #require(agent.disk.current?.lists["1.plist"])
        #expect(agent.disk.documents[list.sha256]?.apps.map(\.expected) == [.of("x")])
    }

    @Test("a list that names a URL twice, with two digests, has either image accepted", arguments: ["x", "y", "z"])
    func two(word: String) throws {
        var agent = AgentScenario()
        try agent.scan(
            "catalog.plist", apps: ["x", "y"].map { AppEntry(name: $0, icon: Self.url, expected: .of($0)) })
        try agent.finish(Self.url, with: word)
        try agent.finishPublication()
        let state = word == "z" ? Self.failed : Self.ready(word)
        #expect(try agent.published("catalog.plist") == [state, state])
    }

    @Test("an image with another digest is a failure, is not published, and is requested again after an hour")
    func mismatch() throws {
        var agent = AgentScenario()
        try agent.scan("1.plist", Self.url, expecting: "x")
        try agent.finish(Self.url, with: "y")
        #expect(agent.disk.staging.isEmpty)
        try agent.finishPublication()
        #expect(try agent.published("1.plist") == [Self.failed])
        #expect(agent.requests.count == 1 && agent.disk.images.isEmpty)
        try agent.pass(.seconds(2 * 3600))
        try agent.finish(Self.url, with: "x")
        try agent.finishPublication()
        #expect(try agent.published("1.plist") == [Self.ready("x")])
    }

    @Test("a list that gives another digest has the whole image asked for, and the old one stays until it comes")
    func changed() throws {
        var agent = AgentScenario()
        try agent.scan("1.plist", Self.url, expecting: "x")
        try agent.finish(Self.url, with: "x")
        try agent.finishPublication()
        try agent.scan("1.plist", Self.url, expecting: "y")
        let first = try #require(agent.downloads[Self.url])
        #expect(first.condition == nil && !first.bypassesCaches)
        try agent.finish(Self.url, with: "x")
        #expect(agent.plan.icon(Self.url)?.failure?.code == .fetch(.digestMismatch))
        try agent.finishJobs()
        #expect(try agent.published("1.plist") == [Self.ready("x")])
        #expect(agent.downloads.isEmpty)
        // A proxy cache may have brought the old image.
        try agent.pass(.seconds(2 * 3600))
        let second = try #require(agent.downloads[Self.url])
        #expect(second.condition == nil && second.bypassesCaches)
        try agent.finish(Self.url, with: "y")
        try agent.finishJobs()
        #expect(try agent.published("1.plist") == [Self.ready("y")])
        try agent.pass(.seconds(2 * 86_400))
        #expect(agent.downloads[Self.url]?.condition?.validators == Validators(etag: "y"))
    }

    @Test("an image whose list gives no digest any more is asked for, if the server has another one")
    func digestRemoved() throws {
        var agent = AgentScenario()
        try agent.scan("1.plist", Self.url, expecting: "x")
        try agent.finish(Self.url, with: "x")
        try agent.finishPublication()
        try agent.scan("1.plist", Self.url, expecting: "y")
        try agent.finish(Self.url, with: "z")
        try agent.scan("1.plist", Self.url, expecting: nil)
        try agent.finish(Self.url, with: "z")
        try agent.finishJobs()
        #expect(try agent.published("1.plist") == [Self.ready("z")])
    }

    @Test("an image that its list accepts again is not asked for, and stays as fresh as it was")
    func acceptedAgain() throws {
        var agent = AgentScenario()
        try agent.scan("1.plist", Self.url, expecting: "x")
        try agent.finish(Self.url, with: "x")
        try agent.finishPublication()
        try agent.scan("1.plist", Self.url, expecting: "y")
        try agent.finish(Self.url, with: "x")
        #expect(agent.plan.icon(Self.url)?.failure?.code == .fetch(.digestMismatch))
        try agent.scan("1.plist", Self.url, expecting: "x")
        #expect(agent.downloads.isEmpty && agent.plan.icon(Self.url)?.failure == nil)
        try agent.pass(.seconds(23 * 3600))
        #expect(agent.downloads.isEmpty)
        try agent.pass(.seconds(3 * 3600))
        #expect(agent.downloads[Self.url]?.condition != nil && agent.downloads[Self.url]?.bypassesCaches == false)
    }

    @Test(
        "an image that waits for its publication is given up once its list gives another digest",
        arguments: [true, false])
    func waiting(isInFlight: Bool) throws {
        func apps(_ word: String) -> [AppEntry] {
            [
                AppEntry(name: "b", icon: "https://h.example/b.png"),
                AppEntry(name: "a", icon: Self.url, expected: .of(word)),
            ]
        }
        var agent = AgentScenario()
        try agent.scan("1.plist", apps: apps("x"))
        try agent.finish("https://h.example/b.png", with: "b")
        if isInFlight { try agent.finish(Self.url, with: "x") }
        while agent.publication == nil { try agent.passToNextWake() }
        if !isInFlight { try agent.finish(Self.url, with: "x") }
        try agent.scan("1.plist", apps: apps("y"))
        #expect((agent.downloads[Self.url] == nil) == isInFlight)
        if isInFlight { try agent.refusePublication() }
        while agent.downloads[Self.url] == nil { try agent.passToNextWake() }
        try agent.finish(Self.url, with: "y")
        while !agent.plan.status.inSync {
            if agent.publication == nil { try agent.passToNextWake() } else { try agent.finishPublication() }
        }
        #expect(try agent.published("1.plist").last == Self.ready("y"))
        #expect(agent.disk.staging.isEmpty)
    }

    @Test("a corrected digest in a list makes its failed icon requested at once")
    func corrected() throws {
        var agent = AgentScenario()
        try agent.scan("1.plist", Self.url, expecting: "x")
        try agent.finish(Self.url, with: "y")
        #expect(agent.downloads.isEmpty)
        try agent.scan("1.plist", Self.url, expecting: "y")
        try agent.finish(Self.url, with: "y")
        try agent.finishJobs()
        #expect(try agent.published("1.plist") == [Self.ready("y")])
    }

    @Test("a list that changes during the download is the one that counts")
    func meanwhile() throws {
        var agent = AgentScenario()
        try agent.scan("1.plist", Self.url, expecting: "x")
        try agent.scan("1.plist", Self.url, expecting: "y")
        try agent.finish(Self.url, with: "y")
        try agent.finishPublication()
        #expect(try agent.published("1.plist") == [Self.ready("y")])
    }

    @Test("a restart forgets no digest, and publishes nothing anew")
    func restart() throws {
        var agent = AgentScenario()
        try agent.scan("1.plist", Self.url, expecting: "x")
        try agent.finish(Self.url, with: "x")
        try agent.finishPublication()
        try agent.restart()
        try agent.scan("1.plist", Self.url, expecting: "x")
        #expect(agent.publication == nil && agent.downloads.isEmpty)
        try agent.restart()
        try agent.spoil("1.plist")
        try agent.pass(.seconds(2 * 86_400))
        try agent.finish(Self.url, with: "y")
        #expect(agent.plan.icon(Self.url)?.failure?.code == .fetch(.digestMismatch))
    }
}
