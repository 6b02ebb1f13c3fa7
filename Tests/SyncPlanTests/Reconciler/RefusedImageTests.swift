// SPDX-License-Identifier: Apache-2.0
import AgentSettings
import AppLists
import CacheFormat
import HTTPRules
import Reports
import Testing

@testable import SyncPlan

@Suite("Images that the cache folder refuses")
struct RefusedImageTests {
    private static let a: IconURL = "https://h.example/a.png"
    private static let b: IconURL = "https://h.example/b.png"

    private static func ready(_ word: String) -> AppListDocument.State { .ready(Sample.image(word)) }

    /// An agent that published the image "y" of one list, while the folder refused the image "x" of another.
    private static func refusing() throws -> AgentScenario {
        var agent = AgentScenario()
        try agent.scan(["1.plist": [a], "2.plist": [b]])
        for (url, word) in [(a, "x"), (b, "y")] { try agent.finish(url, with: word) }
        while agent.publication == nil { try agent.passToNextWake() }
        try agent.refusePublication(unplaced: [try #require(agent.plan.icon(a)?.staged?.name)])
        while agent.publication == nil { try agent.passToNextWake() }
        try agent.finishPublication()
        #expect(try agent.published("1.plist") == [.pending] && agent.published("2.plist") == [ready("y")])
        #expect(agent.plan.status.publication.error == "permission denied" && agent.disk.staging.count == 1)
        return agent
    }

    private func settle(_ agent: inout AgentScenario) throws {
        while !agent.plan.status.inSync {
            if agent.publication == nil { try agent.passToNextWake() } else { try agent.finishPublication() }
        }
    }

    @Test("images that the cache folder refuses wait, are pending, and are published without another download")
    func refusedPublication() throws {
        var agent = AgentScenario()
        try agent.scan(["1.plist": [Self.a, Self.b]])
        for (url, word) in [(Self.a, "x"), (Self.b, "y")] { try agent.finish(url, with: word) }
        for _ in 0..<5 {
            while agent.publication == nil { try agent.passToNextWake() }
            try agent.refusePublication()
            let status = agent.plan.status
            #expect(status.publication.error == "permission denied" && !status.inSync)
            #expect(status.icons.ready == 0 && status.icons.pending == 2 && status.icons.failed == 0)
            let report = agent.plan.syncReport(of: [])
            #expect(report.isDone && report.error != nil && report.pending == 2 && report.failed == 0)
            #expect(agent.plan.report(on: Self.a, now: agent.now)?.holds.map(\.code) == ["publication-failed"])
        }
        while agent.publication == nil { try agent.passToNextWake() }
        try agent.finishPublication()
        #expect(agent.requests.count == 2 && agent.plan.status.inSync && agent.disk.staging.isEmpty)
        #expect(try agent.published("1.plist") == [Self.ready("x"), Self.ready("y")])
    }

    @Test("an image that has no place holds up no other, and one that is lost is downloaded again")
    func unplacedImage() throws {
        var agent = AgentScenario()
        let c: IconURL = "https://h.example/c.png"
        try agent.scan(["1.plist": [Self.a, Self.b, c]])
        for (url, word) in [(Self.a, "x"), (Self.b, "y"), (c, "z")] { try agent.finish(url, with: word) }
        while agent.publication == nil { try agent.passToNextWake() }
        let names = try [Self.a, Self.b].map { try #require(agent.plan.icon($0)?.staged?.name) }
        try agent.refusePublication(losing: [names[1]], unplaced: [names[0]])
        while agent.publication == nil { try agent.passToNextWake() }
        try agent.finishPublication()
        #expect(try agent.published("1.plist").last == Self.ready("z"))
        #expect(agent.plan.status.publication.error == "permission denied" && !agent.plan.status.inSync)
        try agent.fetchAgain(Self.b)
        try agent.finish(Self.b, with: "y")
        while !agent.plan.status.inSync {
            if agent.publication == nil { try agent.passToNextWake() } else { try agent.finishPublication() }
        }
        #expect(agent.requests.count == 4 && agent.plan.status.publication.error == nil)
        #expect(try agent.published("1.plist") == ["x", "y", "z"].map(Self.ready))
    }

    @Test("while images wait for a publication that works, no more than 64 MiB are downloaded")
    func boundOfRefused() throws {
        var agent = AgentScenario { $0.fetch.perHost = 1 }
        try agent.scan(["1.plist": [Self.a]])
        let digest = Digest.of("x")
        let path = CacheLayout.image(digest, suffix: "png")
        let image = AppListDocument.Image(
            path: path, sha256: digest, bytes: 64 << 20, type: "image/png", width: 1, height: 1)
        try agent.finish(Self.a, .image(agent.stage(image), Sample.response(etag: "x", at: agent.now)))
        try agent.refusePublication()
        try agent.scan(["2.plist": [Self.b]])
        let held = agent.plan.status.downloads
        #expect(agent.downloads.isEmpty && held.queued == 0 && held.blocked == 1)
        #expect(held.reason == "images wait to be published" && held.code == "publication-failed")
        while agent.publication == nil { try agent.passToNextWake() }
        try agent.finishPublication()
        #expect(agent.downloads.count == 1 && agent.plan.status.downloads.reason == nil)
    }

    @Test("a refused image that is refused again and again makes no generations in which nothing changed")
    func refusedAgain() throws {
        var agent = try Self.refusing()
        let generation = agent.disk.current?.generation
        for _ in 1...5 {
            while agent.publication == nil { try agent.passToNextWake() }
            #expect(agent.publication?.moves.count == 1, "it tries the image again")
            try agent.refusePublication(unplaced: [try #require(agent.plan.icon(Self.a)?.staged?.name)])
        }
        #expect(agent.disk.current?.generation == generation)
        try agent.scan(["1.plist": [Self.a, "https://h.example/c.png"]])
        try agent.finish("https://h.example/c.png", with: "z")
        try settle(&agent)
        #expect(try agent.published("1.plist") == [Self.ready("x"), Self.ready("z")])
        #expect(agent.requests.count == 3)
    }

    @Test("a refused image is given up with its list, and nothing is wrong any more")
    func removedList() throws {
        var agent = try Self.refusing()
        try agent.scan(["1.plist": nil])
        try settle(&agent)
        #expect(agent.disk.staging.isEmpty && agent.plan.status.publication.error == nil)
        #expect(agent.requests.count == 2 && agent.disk.current?.lists.count == 1)
    }

    @Test("an app with another URL shows that one's image, and the refused one is given up")
    func otherURL() throws {
        var agent = try Self.refusing()
        let c: IconURL = "https://h.example/c.png"
        try agent.scan(["1.plist": [c]])
        #expect(agent.disk.staging.isEmpty)
        try agent.finish(c, with: "z")
        try settle(&agent)
        #expect(try agent.published("1.plist") == [Self.ready("z")])
        #expect(agent.disk.staging.isEmpty && agent.plan.status.publication.error == nil)
    }

    @Test("other lists are published while an image is refused, and publishing works again only with the image")
    func otherLists() throws {
        var agent = try Self.refusing()
        agent.events = []
        let c: IconURL = "https://h.example/c.png"
        try agent.scan(["3.plist": [c]])
        try agent.finish(c, with: "z")
        while agent.publication == nil { try agent.passToNextWake() }
        try agent.finishPublication()
        #expect(try agent.published("3.plist") == [Self.ready("z")])
        #expect(agent.plan.status.publication.error != nil)
        try settle(&agent)
        #expect(try agent.published("1.plist") == [Self.ready("x")])
        #expect(agent.requests.count == 3)
        let ends = agent.events.filter { $0.message.contains("after failures") }
        #expect(ends.count == 1 && agent.plan.status.publication.error == nil)
    }

    @Test("the next publication begins at once, and has all icons but the one that was refused")
    func refusedName() throws {
        var agent = AgentScenario()
        try agent.scan(["1.plist": [Self.a], "2.plist": [Self.b]])
        for url in [Self.a, Self.b] { try agent.finish(url, with: "x") }
        while agent.publication == nil { try agent.passToNextWake() }
        try agent.refusePublication(unnamed: [Self.a])
        try agent.finishJobs()
        #expect(try agent.published("1.plist") == [.pending] && agent.published("2.plist") == [Self.ready("x")])
        try settle(&agent)
        #expect(try agent.published("1.plist") == [Self.ready("x")] && agent.requests.count == 2)
    }

    @Test("a refused name of an app's last image holds up no list, and is left to the inspections")
    func nameOfLastImage() throws {
        var agent = AgentScenario()
        try agent.scan("1.plist", apps: [AppEntry(id: "m", icon: Self.a)])
        try agent.finish(Self.a, with: "x")
        try agent.finishJobs()
        try agent.scan("1.plist", apps: [AppEntry(id: "m", icon: Self.b)])
        while agent.publication == nil { try agent.passToNextWake() }
        try #require(agent.publication?.links.map(\.url) == [Self.b])
        agent.answersInspections = false
        try agent.refusePublication(unnamed: [Self.b])
        let names = try #require(agent.expectation?.images).compactMap(\.url)
        #expect(names.contains(Self.b))
        var found = CacheInspection()
        found.refusal = "permission denied"
        try agent.finishInspection(found)
        while agent.publication == nil { try agent.passToNextWake() }
        #expect(agent.publication?.documents.map(\.list) == ["1.plist"] && agent.publication?.links.isEmpty == true)
        #expect(agent.plan.status.publication.error == "permission denied")
    }

    @Test("an icon of two lists of which one has not changed is no reason to publish again and again at the end")
    func sharedAtTheEnd() throws {
        var agent = try Self.refusing()
        try agent.scan(["2.plist": [Self.a, Self.b]])
        try agent.handle(.stopping)
        for _ in 0..<3 where agent.publication != nil { try agent.finishPublication() }
        #expect(agent.publication == nil && agent.plan.isSettled)
    }

    @Test("a purge gives up images that are refused while it begins")
    func purgeDuringRefusal() throws {
        var agent = AgentScenario()
        try agent.scan(["1.plist": [Self.a]])
        try agent.finish(Self.a, with: "x")
        while agent.publication == nil { try agent.passToNextWake() }
        let name = try #require(agent.plan.icon(Self.a)?.staged?.name)
        try agent.handle(.purge)
        try agent.refusePublication(unplaced: [name])
        #expect(agent.disk.staging.isEmpty)
        while agent.plan.isPurging {
            if agent.publication == nil { try agent.passToNextWake() }
            try agent.finishJobs()
        }
        #expect(agent.plan.purgeReport == PurgeReport(.done))
    }

    @Test("names that an inspection cannot correct are told until one can, and hold up nothing")
    func refusedByInspection() throws {
        var agent = AgentScenario()
        try agent.publish(["1.plist": [Self.a: "x"]])
        agent.answersInspections = false
        try agent.handle(.suspected)
        var found = CacheInspection()
        found.refusal = "permission denied"
        try agent.finishInspection(found)
        #expect(agent.plan.status.publication.error == "permission denied")
        try agent.scan(["1.plist": []])
        #expect(agent.expectation?.images != nil)
        try agent.finishInspection(CacheInspection())
        #expect(agent.plan.status.publication.error == nil && agent.publication != nil)
    }

    @Test("a sync of other lists, or a pin, does not hear of a refused image, and does not have it tried")
    func otherWaits() throws {
        var agent = try Self.refusing()
        try agent.handle(.awaited([Self.b]))
        #expect(agent.publication == nil)
        let reports = ["1.plist", "2.plist"].map { agent.plan.syncReport(of: [$0]) }
        #expect(reports.map(\.error) == ["permission denied", nil] && reports.allSatisfy(\.isDone))
        #expect(agent.plan.pinReport.error == nil && agent.plan.syncReport(of: []).error != nil)
        let c: IconURL = "https://h.example/c.png"
        try agent.scan(["2.plist": [Self.b, c]])
        try agent.finish(c, with: "z")
        while agent.publication == nil { try agent.passToNextWake() }
        let report = agent.plan.syncReport(of: ["2.plist"])
        #expect(!report.isDone && report.error == nil && !agent.plan.isComing(Self.a) && agent.plan.isComing(c))
    }

    @Test("a sync tries a refused image at once")
    func sync() throws {
        var agent = try Self.refusing()
        try agent.handle(.awaited([]))
        try agent.finishPublication()
        #expect(try agent.published("1.plist") == [Self.ready("x")])
        #expect(agent.plan.status.inSync && agent.requests.count == 2)
    }

    @Test("an agent that stops does not wait for a refused image")
    func stop() throws {
        var agent = try Self.refusing()
        try agent.handle(.stopping)
        while agent.publication != nil { try agent.refusePublication() }
        #expect(agent.plan.isSettled && agent.plan.stagedFiles.count == 1)
    }

    @Test("a purge drops a refused image, and ends well")
    func purge() throws {
        var agent = try Self.refusing()
        try agent.handle(.purge)
        #expect(agent.disk.staging.isEmpty)
        try agent.finishJobs()
        while agent.plan.isPurging {
            try agent.passToNextWake()
            try agent.finishJobs()
        }
        #expect(agent.plan.purgeReport == PurgeReport(.done) && agent.plan.status.publication.error == nil)
        for (url, word) in [(Self.a, "x"), (Self.b, "y")] { try agent.finish(url, with: word) }
        try settle(&agent)
        #expect(try agent.published("1.plist") == [Self.ready("x")])
    }

    @Test("a full disk drops what was refused before, and downloads it once there is room")
    func fullDisk() throws {
        var agent = try Self.refusing()
        while agent.publication == nil { try agent.passToNextWake() }
        try agent.finishPublication(isFull: true)
        #expect(agent.disk.staging.isEmpty && agent.downloads.isEmpty)
        #expect(agent.plan.status.downloads.reason == "no space left on device")
        #expect(agent.plan.icon(Self.a)?.phase == .blocked)
    }
}
