// SPDX-License-Identifier: Apache-2.0
import AgentSettings
import AppLists
import CacheFormat
import HTTPRules
import Testing

@testable import Reports
@testable import SyncPlan

@Suite("A purge, and the downloads after it")
struct PurgeScenarioTests {
    static let (a, b): (IconURL, IconURL) = ("https://h.example/a", "https://h.example/b")
    static let pinned: IconURL = "https://i.example/p"

    /// An agent with two icons that are ready, one that failed, and a pinned one.
    static func full() throws -> AgentScenario {
        var agent = AgentScenario { $0.cache.grace = .seconds(600) }
        try agent.publish(["1.plist": [a: "x", b: "y"]])
        try agent.scan(["2.plist": ["https://j.example/f"]])
        try agent.finishAll(.failed(.status(404)))
        try agent.handle(.pin(url: pinned, isPinned: true))
        try agent.finish(pinned, with: "p")
        try agent.finishJobs()
        #expect(agent.plan.status.icons.ready == 3 && agent.plan.status.icons.failed == 1)
        return agent
    }

    @Test("a purge publishes a generation with nothing ready, removes the images, and downloads all anew")
    func order() throws {
        var agent = try Self.full()
        let requests = agent.requests.count
        try agent.handle(.purge)
        #expect(agent.plan.isPurging && agent.downloads.isEmpty && agent.plan.pins.isEmpty)
        // Until the next manifest is durable, the old one and all that it names stay.
        #expect(agent.removal == nil && agent.releases == nil && agent.isOnDisk("x"))
        try agent.finishPublication()
        #expect(try agent.published("1.plist") == [.pending, .pending])
        #expect(try agent.published("2.plist") == [.pending])
        #expect(agent.isOnDisk("x") && agent.downloads.isEmpty)
        try agent.pass(.seconds(6))
        try agent.finishJobs()
        #expect(!agent.isOnDisk("x") && !agent.isOnDisk("y") && !agent.isOnDisk("p"))
        #expect(!agent.plan.isPurging && agent.downloads.count == 3)
        #expect(agent.requests.dropFirst(requests).allSatisfy { $0.condition == nil && $0.reason == .notCached })
        try agent.finish(Self.a, with: "x")
        try agent.finish(Self.b, with: "y")
        try agent.finishAll(.failed(.status(404)))
        try agent.finishJobs()
        #expect(agent.isOnDisk("x") && agent.isOnDisk("y") && agent.plan.status.icons.ready == 2)
    }

    @Test("leased images survive a purge, which does not wait for them")
    func lease() throws {
        var agent = try Self.full()
        let old = try #require(agent.disk.current?.generation)
        try agent.handle(.purge)
        try agent.finishPublication()
        try agent.pass(.seconds(6))
        while agent.releases != nil { try agent.finishRelease(leases: [old]) }
        #expect(!agent.plan.isPurging && agent.isOnDisk("x") && agent.downloads.count == 3)
        // The same bytes come again: they are the file that is there.
        try agent.finish(Self.a, with: "x")
        try agent.finishJobs()
        try agent.pass(.seconds(60))
        try agent.finishJobs()
        #expect(agent.isOnDisk("x") && !agent.isOnDisk("y"))
    }

    @Test("a purge forgets nothing while evictions are suspended")
    func doubt() throws {
        var agent = try Self.full()
        try agent.handle(.scanned(.unavailable(reason: "not mounted")))
        try agent.handle(.purge)
        #expect(!agent.plan.isPurging && agent.plan.purgeReport?.state == .refused)
        #expect(agent.plan.pins == [Self.pinned] && agent.plan.status.icons.ready == 3)
    }

    @Test("a publication that fails ends the purge: what is on disk stays, and downloads go on")
    func failure() throws {
        var agent = try Self.full()
        try agent.handle(.purge)
        #expect(agent.plan.purgeReport == PurgeReport(.underWay))
        try agent.finishPublication(fails: true)
        let failure = PurgeReport(.failed, reason: "publishing failed: input/output error")
        #expect(agent.events.contains(.purgeFailed(failure)))
        try agent.finishJobs()
        try agent.pass(.seconds(60))
        try agent.finishJobs()
        #expect(!agent.plan.isPurging && agent.plan.purgeReport == failure)
        #expect(!agent.downloads.isEmpty)
    }

    @Test("a purge that follows a failed publication waits for the next one, and tells at its end that it is done")
    func again() throws {
        var agent = try Self.full()
        try agent.handle(.purge)
        try agent.finishPublication(fails: true)
        try agent.handle(.purge)
        try agent.finishAll(.failed(.status(404)))
        try agent.pass(.seconds(60))
        #expect(agent.plan.purgeReport == PurgeReport(.underWay) && !agent.events.contains(.purged))
        try agent.finishPublication()
        try agent.pass(.seconds(6))
        while agent.plan.isPurging {
            if agent.releases != nil { try agent.finishRelease() } else { try agent.finishRemoval() }
        }
        #expect(agent.events.contains(.purged) && agent.plan.purgeReport == PurgeReport(.done))
    }

    @Test("files that cannot be removed are counted, with the reason", arguments: [false, true])
    func unremovable(isGeneration: Bool) throws {
        var agent = try Self.full()
        try agent.handle(.purge)
        try agent.finishPublication()
        try agent.pass(.seconds(6))
        var failed = RetirementPlan(urls: [Self.a])
        failed.failure = "Cannot remove a: Operation not permitted"
        while agent.plan.isPurging {
            if let releases = agent.releases {
                try agent.finishRelease(failing: isGeneration ? Set(releases.map(\.generation).prefix(1)) : [])
            } else {
                try agent.finishRemoval(failed: isGeneration ? RetirementPlan() : failed)
            }
        }
        let report = try #require(agent.plan.purgeReport)
        #expect(report.state == .failed && report.files == 1)
        #expect(isGeneration || report.reason == failed.failure)
        #expect(agent.events.contains(.purgeFailed(report)))
    }

    @Test("a purge waits for no list without images that changes all the time")
    func changingList() throws {
        var agent = try Self.full()
        for path in ["f", "g", "h"] {
            try agent.scan(["2.plist": [IconURL("https://k.example/\(path)")]])
            try agent.finishAll(.failed(.status(404)))
            while agent.publication != nil { try agent.finishPublication(bytes: 64 << 20) }
        }
        #expect(agent.plan.book.publishing.window.isChanged("2.plist"))
        try agent.handle(.purge)
        try agent.finishPublication()
        try agent.pass(.seconds(6))
        try agent.finishJobs()
        #expect(agent.plan.book.publishing.window.isChanged("2.plist"))
        #expect(agent.plan.purgeReport == PurgeReport(.done) && !agent.isOnDisk("x"))
    }

    @Test("a purge replaces all documents for which there is room, also those of a publication under way")
    func room() throws {
        var agent = try Self.full()
        try agent.scan(["3.plist": [Self.b]])
        try agent.finishPublication(bytes: 64 << 20)
        try agent.scan(["3.plist": [Self.a]])
        #expect(agent.publication?.documents.map(\.list) == ["3.plist"])
        try agent.handle(.purge)
        try agent.finishPublication(bytes: 64 << 20)
        while agent.plan.isPurging {
            if agent.publication?.documents.contains(where: { $0.list == "1.plist" }) == true {
                try agent.refusePublication(room: 550)
            } else if agent.publication != nil || agent.releases != nil || agent.removal != nil {
                try agent.finishJobs()
            } else {
                try agent.passToNextWake()
            }
        }
        #expect(try agent.published("3.plist") == [.pending] && agent.published("1.plist") != [.pending, .pending])
        #expect(agent.plan.purgeReport?.state == .failed)
    }

    @Test("a purge forgets the pause and the pins, also over a restart")
    func restart() throws {
        var agent = try Self.full()
        try agent.handle(.pause(Pause()))
        try agent.handle(.purge)
        #expect(agent.events.map(\.kind).filter { [.resumed, .unpinned].contains($0) } == [.resumed, .unpinned])
        #expect(agent.plan.status.state == .running)
        try agent.finishPublication()
        try agent.pass(.seconds(6))
        try agent.finishJobs()
        try agent.restart()
        #expect(agent.plan.pins.isEmpty && agent.plan.status.state == .running)
        #expect(agent.plan.report(on: Self.a, now: agent.now)?.response == nil)
    }

    @Test("a purge whose generation was not published begins again at the next start, and keeps a later pause")
    func unpublished() throws {
        var agent = try Self.full()
        try agent.handle(.purge)
        for _ in 0..<2 {
            while agent.publication == nil { try agent.passToNextWake() }
            try agent.finishPublication(fails: true)
        }
        try agent.handle(.pause(Pause()))
        try agent.restart()
        #expect(agent.plan.purge == nil && agent.plan.status.icons.ready > 0)
        try agent.scan(["1.plist": [Self.a, Self.b]])
        #expect(agent.plan.isPurging && agent.plan.status.icons.ready == 0 && agent.isOnDisk("x"))
        // The search at the start knows the icons still: the manifest in force shows them.
        #expect(agent.disk.names[Self.a] == Sample.image("x").sha256)
        while agent.plan.isPurging {
            try agent.finishJobs()
            if agent.plan.isPurging { try agent.passToNextWake() }
        }
        #expect(try agent.published("1.plist") == [.pending, .pending])
        #expect(!agent.isOnDisk("x") && agent.plan.purgeReport == PurgeReport(.done))
        #expect(agent.plan.status.state == .paused && agent.downloads.isEmpty)
        try agent.restart()
        #expect(!agent.plan.isPurging)
    }

    @Test("a download during a purge ends well, even with a 304")
    func underWay() throws {
        var agent = try Self.full()
        try agent.handle(.request([Self.a, Self.b], isRefresh: true))
        #expect(agent.downloads.count == 2)
        try agent.handle(.purge)
        try agent.finish(Self.a, .notModified(Sample.response(etag: "x", at: agent.now)))
        try agent.finish(Self.b, with: "z")
        try agent.finishJobs()
        try agent.pass(.seconds(10))
        try agent.finishJobs()
        #expect(agent.downloads.keys.contains(Self.a) && agent.downloads[Self.a]?.condition == nil)
        try agent.finish(Self.a, with: "x")
        while !agent.downloads.isEmpty { try agent.finishAll(.failed(.status(404))) }
        try agent.finishJobs()
        #expect(agent.isOnDisk("x") && agent.isOnDisk("z") && !agent.isOnDisk("y"))
    }
}
