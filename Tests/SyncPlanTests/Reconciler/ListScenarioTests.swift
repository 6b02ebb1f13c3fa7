// SPDX-License-Identifier: Apache-2.0
import AgentSettings
import AppLists
import CacheFormat
import HTTPRules
import Reports
import Testing

@testable import SyncPlan

@Suite("Lists that change, break and go")
struct ListScenarioTests {
    private static let a: IconURL = "https://h.example/a.png"
    private static let b: IconURL = "https://h.example/b.png"

    private static func agent() -> AgentScenario { AgentScenario { $0.cache.grace = .seconds(600) } }

    private static func ready(_ word: String) -> AppListDocument.State { .ready(Sample.image(word)) }

    @Test("the images of a removed list go after the grace, and after a manifest without them")
    func removed() throws {
        var agent = Self.agent()
        try agent.publish(["1.plist": [Self.a: "x"], "2.plist": [Self.b: "y"]])
        try agent.scan(["1.plist": nil])
        try agent.pass(.seconds(86_400 / 2))
        // The manifest without it is still on its way: nothing is superseded yet.
        #expect(agent.release == nil)
        try agent.finishPublication()
        #expect(agent.disk.current?.lists.keys.sorted() == ["2.plist"])
        #expect(agent.plan.status.icons.retired == 1)
        try agent.pass(.seconds(599))
        #expect(agent.release == nil && agent.isOnDisk("x"))
        try agent.pass(.seconds(1))
        #expect(agent.release == [1])
        try agent.finishRelease()
        #expect(agent.removal?.images.map(\.sha256) == [Sample.image("x").sha256] && agent.removal?.urls == [Self.a])
        try agent.finishRemoval()
        #expect(!agent.isOnDisk("x") && agent.isOnDisk("y") && agent.disk.names[Self.a] == nil)
        #expect(agent.plan.icon(Self.a) == nil)
        try agent.pass(.seconds(1))
        #expect(agent.memory.icons[Self.a] == nil)
        #expect(agent.plan.status.icons.retired == 0)
    }

    /// A list that was just written beside no others, beside one that is read, and beside one that is rejected.
    @Test(
        "an agent is in sync only when a list that was just written is read",
        arguments: [nil, .success(AppList()), .failure(.emptyFile)] as [ListVerdict?])
    func justWritten(other: ListVerdict?) throws {
        var agent = AgentScenario(triesOnce: true)
        var changed: [ListName: ListReading] = [:]
        changed["2.plist"] = other.map { ListReading(source: Sample.source([]), verdict: $0) }
        let present = Set(changed.keys).union(["1.plist"])
        try agent.handle(.scanned(.listed(agent.folder, present: present, changed: changed)))
        if case .success = other { try agent.finishPublication() }
        #expect(agent.publication == nil && !agent.plan.isSettled && !agent.plan.status.inSync)
        #expect(!agent.plan.syncReport(of: []).isDone)
        try agent.handle(
            .scanned(.listed(agent.folder, present: present, changed: ["1.plist": Sample.reading([Self.a])])))
        #expect(!agent.plan.isSettled && !agent.plan.status.inSync)
        try agent.finish(Self.a, with: "x")
        try agent.finishJobs()
        #expect(agent.plan.isSettled && agent.plan.status.inSync)
        #expect(try agent.published("1.plist") == [Self.ready("x")])
    }

    @Test(
        "an agent is in sync when a list that was never read is gone, or is written for too long",
        arguments: [true, false])
    func neverRead(isGone: Bool) throws {
        var agent = Self.agent()
        try agent.handle(.scanned(.listed(agent.folder, present: ["1.plist"], changed: [:])))
        #expect(agent.publication == nil && !agent.plan.isSettled)
        try agent.scan([:], rejected: isGone ? [:] : ["1.plist": .stillBeingWritten])
        try agent.finishJobs()
        #expect(agent.disk.current?.lists == [:] && agent.plan.isSettled && agent.plan.status.inSync)
    }

    @Test(
        "an agent is not in sync while a list cannot be read for a shortage, but a single run ends",
        arguments: [true, false])
    func shortage(triesOnce: Bool) throws {
        var agent = AgentScenario(triesOnce: triesOnce)
        var short = agent.folder
        short.shortage = "too many open files"
        try agent.handle(.scanned(.listed(short, present: ["1.plist"], changed: [:])))
        #expect(agent.publication == nil && agent.plan.isSettled == triesOnce && !agent.plan.status.inSync)
        #expect(!agent.plan.syncReport(of: []).isDone)
        try agent.publish(["1.plist": [Self.a: "x"]])
        #expect(agent.disk.generations.count == 1 && agent.plan.isSettled && agent.plan.status.inSync)
        // It is unknown whether the list changed.
        try agent.handle(.scanned(.listed(short, present: ["1.plist"], changed: [:])))
        #expect(agent.plan.isSettled == triesOnce && !agent.plan.status.inSync)
        try agent.scan()
        #expect(agent.plan.isSettled && agent.plan.status.inSync)
    }

    @Test("a list keeps its last version while a folder is in its place, also over a restart; a new folder is no list")
    func folderInPlace() throws {
        var agent = Self.agent()
        try agent.publish(["1.plist": [Self.a: "x"], "2.plist": [Self.b: "y"]])
        var other = agent.folder
        other.others = ["1.plist", "3.plist"]
        for _ in 1...2 {
            try agent.handle(.scanned(.listed(other, present: ["2.plist"], changed: [:])))
            try agent.pass(.seconds(3600))
            try agent.handle(.scanned(.listed(other, present: ["2.plist"], changed: [:])))
            try agent.finishJobs()
            #expect(agent.plan.status.lists.map(\.name) == ["1.plist", "2.plist"])
            #expect(agent.plan.status.lists.first?.state == "last-good")
            #expect(try agent.published("1.plist") == [Self.ready("x")] && agent.isOnDisk("x"))
            try agent.restart()
        }
        try agent.scan(["1.plist": nil])
        try agent.finishJobs()
        #expect(agent.disk.current?.lists.keys.sorted() == ["2.plist"])
    }

    @Test("a list that comes back within the grace is served from disk")
    func comesBack() throws {
        var agent = Self.agent()
        try agent.publish(["1.plist": [Self.a: "x"]])
        try agent.scan(["1.plist": nil])
        try agent.finishPublication()
        try agent.pass(.seconds(300))
        try agent.scan(["1.plist": [Self.a]])
        try agent.finishPublication()
        #expect(agent.requests.count == 1)
        try agent.pass(.seconds(600))
        try agent.finishRelease()
        #expect(agent.removal.map { $0.images.isEmpty && $0.urls.isEmpty } ?? true)
        #expect(try agent.published("1.plist") == [Self.ready("x")])
    }

    @Test("a list that comes back while its icon is being removed has it fetched anew")
    func comesBackDuringRemoval() throws {
        var agent = Self.agent()
        try agent.publish(["1.plist": [Self.a: "x"]])
        try agent.scan(["1.plist": nil])
        try agent.finishPublication()
        try agent.pass(.seconds(600))
        try agent.finishRelease()
        try agent.scan(["1.plist": [Self.a]])
        try agent.finishRemoval()
        if agent.publication != nil { try agent.finishPublication() }
        try agent.finish(Self.a, with: "x")
        while agent.publication != nil { try agent.finishPublication() }
        #expect(try agent.published("1.plist") == [Self.ready("x")])
        #expect(agent.isOnDisk("x"))
    }

    @Test("a by-url name that is being removed is there again when its list is, although its image stayed")
    func nameComesBack() throws {
        var agent = Self.agent()
        try agent.publish(["1.plist": [Self.a: "x"], "2.plist": [Self.b: "x"]])
        try agent.scan(["1.plist": nil])
        try agent.finishPublication()
        try agent.pass(.seconds(600))
        try agent.finishRelease()
        #expect(agent.removal?.urls == [Self.a] && agent.removal?.images.isEmpty == true)
        try agent.scan(["1.plist": [Self.a]])
        try agent.finishRemoval()
        if !agent.downloads.isEmpty { try agent.finish(Self.a, with: "x") }
        while agent.publication != nil { try agent.finishPublication() }
        #expect(try agent.published("1.plist") == [Self.ready("x")])
        #expect(agent.disk.names[Self.a] == Sample.image("x").sha256)
    }

    @Test("a removed list cancels its downloads, and leaves nothing in staging")
    func cancelled() throws {
        var agent = Self.agent()
        try agent.scan(["1.plist": [Self.a, Self.b]])
        try agent.finish(Self.a, with: "x")
        #expect(agent.disk.staging.count == 1)
        try agent.scan(["1.plist": nil])
        #expect(agent.disk.staging.isEmpty && agent.cancelled == [Self.b])
        try agent.finish(Self.b, .cancelled)
        while agent.publication != nil { try agent.finishPublication() }
        #expect(agent.disk.current?.lists == [:] && agent.disk.images.isEmpty)
        #expect(agent.plan.icon(Self.a) == nil && agent.plan.icon(Self.b) == nil)
        #expect(agent.plan.isSettled)
    }

    @Test("the image of a download that came too late to be cancelled is thrown away")
    func lateResult() throws {
        var agent = Self.agent()
        try agent.scan(["1.plist": [Self.a]])
        try agent.scan(["1.plist": nil])
        try agent.finish(Self.a, with: "x")
        #expect(agent.disk.staging.isEmpty && agent.plan.icon(Self.a) == nil)
    }

    @Test("a list that comes back before its cancelled download has ended gets its icon")
    func cancelledAndWanted() throws {
        var agent = Self.agent()
        try agent.scan(["1.plist": [Self.a]])
        try agent.scan(["1.plist": nil])
        try agent.scan(["1.plist": [Self.a]])
        #expect(agent.requests.count == 1)
        try agent.finish(Self.a, .cancelled)
        #expect(agent.requests.count == 2)
        try agent.finish(Self.a, with: "x")
        try agent.finishPublication()
        #expect(try agent.published("1.plist") == [Self.ready("x")])
    }

    @Test("an image that was thrown away does not vouch for the one on disk", arguments: [true, false])
    func validatorsOfDiscarded(isStaged: Bool) throws {
        var agent = Self.agent()
        try agent.publish(["1.plist": [Self.a: "x"], "2.plist": [Self.b: "z"]])
        try agent.pass(.seconds(2 * 86_400))
        if isStaged { try agent.finish(Self.a, with: "y") }
        try agent.scan(["1.plist": nil])
        if !isStaged { try agent.finish(Self.a, with: "y") }
        #expect(agent.disk.staging.isEmpty)
        try agent.finish(Self.b, .notModified(Sample.response(etag: "x", at: agent.now)))
        try agent.scan(["1.plist": [Self.a]])
        while agent.publication != nil { try agent.finishPublication() }
        // It is asked for now or later, but with what the server said of the image on disk.
        if agent.downloads.isEmpty { try agent.pass(.seconds(2 * 86_400)) }
        #expect(agent.downloads[Self.a]?.condition?.validators == Validators(etag: "x"))
    }

    @Test("a list that is no longer acceptable keeps its last good version, over a restart too")
    func lastGood() throws {
        var agent = Self.agent()
        try agent.publish(["1.plist": [Self.a: "x"]])
        try agent.spoil("1.plist")
        #expect(agent.publication == nil)
        #expect(agent.plan.status.lists.map(\.state) == ["last-good"] && agent.plan.status.needsAttention)
        try agent.pass(.seconds(3600))
        #expect(agent.release == nil && agent.isOnDisk("x"))
        try agent.restart()
        try agent.spoil("1.plist")
        #expect(agent.publication == nil && agent.downloads.isEmpty)
        #expect(agent.plan.status.lists.map(\.state) == ["last-good"])
        try agent.scan(["1.plist": [Self.a]])
        #expect(agent.plan.status.lists.map(\.state) == ["ok"] && agent.publication == nil)
    }

    @Test("a list that never was acceptable is reported, and published by no manifest")
    func rejected() throws {
        var agent = Self.agent()
        try agent.spoil("1.plist")
        try agent.finishPublication()
        #expect(agent.disk.current?.lists == [:])
        #expect(agent.plan.status.lists.map(\.state) == ["rejected"])
        #expect(agent.plan.status.lists.first?.error == ListRejection.emptyFile.message)
        try agent.publish(["1.plist": [Self.a: "x"]])
        #expect(try agent.published("1.plist") == [Self.ready("x")])
    }

    @Test("a folder that cannot be listed changes nothing, and suspends eviction")
    func unavailable() throws {
        var agent = Self.agent()
        try agent.publish(["1.plist": [Self.a: "x"], "2.plist": [Self.b: "y"]])
        try agent.scan(["2.plist": nil])
        try agent.finishPublication()
        try agent.handle(.scanned(.unavailable(reason: "not mounted")))
        #expect(agent.plan.status.eviction == .suspended("not mounted") && !agent.plan.status.inSync)
        try agent.pass(.seconds(3600))
        #expect(agent.publication == nil && agent.release == nil && agent.plan.nextWake.map { $0 > agent.now } ?? true)
        #expect(try agent.published("1.plist") == [Self.ready("x")])
        try agent.scan([:])
        #expect(agent.plan.status.eviction == .active && agent.release == [1])
    }

    @Test("retired images are not removed after the lists folder became unavailable")
    func unavailableDuringRelease() throws {
        var agent = Self.agent()
        try agent.publish(["1.plist": [Self.a: "x"]])
        try agent.scan(["1.plist": nil])
        try agent.finishPublication()
        try agent.pass(.seconds(600))
        try agent.handle(.scanned(.unavailable(reason: "not mounted")))
        try agent.finishRelease()
        #expect(agent.removal == nil && agent.isOnDisk("x"))
        try agent.scan([:])
        try agent.finishRemoval()
        #expect(!agent.isOnDisk("x"))
    }

    @Test("no file is published or removed before the first scan of the lists")
    func beforeFirstScan() throws {
        var agent = Self.agent()
        try agent.publish(["1.plist": [Self.a: "x"], "2.plist": [Self.b: "y"]])
        try agent.scan(["2.plist": nil])
        try agent.finishPublication()
        try agent.restart()
        try agent.pass(.seconds(3600))
        #expect(agent.publication == nil && agent.release == nil && agent.downloads.isEmpty)
        try agent.scan([:])
        #expect(agent.release == [1])
    }

    @Test("a list that is removed while its first version is being published is in no later manifest")
    func removedDuringPublication() throws {
        var agent = Self.agent()
        try agent.scan(["1.plist": [Self.a]])
        try agent.finish(Self.a, with: "x")
        try agent.scan(["1.plist": nil])
        try agent.finishPublication()
        while agent.publication != nil { try agent.finishPublication() }
        #expect(agent.disk.current?.lists == [:])
        try agent.pass(.seconds(600))
        try agent.finishRelease()
        try agent.finishRemoval()
        #expect(agent.disk.images.isEmpty && agent.disk.names.isEmpty)
    }

    @Test("a list that breaks and comes back broken while it is being published is in no later manifest")
    func brokenDuringPublication() throws {
        var agent = Self.agent()
        try agent.scan(["1.plist": [Self.a]])
        try agent.finish(Self.a, with: "x")
        try agent.scan(["1.plist": nil])
        try agent.spoil("1.plist")
        while agent.publication != nil { try agent.finishPublication() }
        #expect(agent.disk.current?.lists == [:])
        #expect(agent.plan.status.lists.map(\.state) == ["rejected"])
    }

    @Test("a generation that a reader holds stays, and is tried again")
    func leased() throws {
        var agent = Self.agent()
        try agent.publish(["1.plist": [Self.a: "x"]])
        try agent.scan(["1.plist": nil])
        try agent.finishPublication()
        try agent.pass(.seconds(600))
        for delay in [2, 4, 8, 16, 30, 30] {
            try agent.finishRelease(leases: [1])
            #expect(agent.removal == nil && agent.release == nil && agent.isOnDisk("x"))
            #expect(agent.plan.nextWake == agent.now + .seconds(delay))
            try agent.passToNextWake()
        }
        try agent.finishRelease()
        try agent.finishRemoval()
        #expect(!agent.isOnDisk("x"))
    }

    @Test("a generation that cannot be removed is tried again after a minute, and keeps no other one")
    func unremovable() throws {
        var agent = Self.agent()
        try agent.publish(["1.plist": [Self.a: "x"]])
        try agent.scan(["1.plist": nil])
        try agent.finishPublication()
        try agent.pass(.seconds(30))
        try agent.publish(["2.plist": [Self.b: "y"]])
        try agent.pass(.seconds(570))
        #expect(agent.release == [1])
        try agent.finishRelease(failing: [1])
        #expect(agent.release == nil && agent.plan.isEvictionSettled(at: agent.now))
        while agent.release == nil { try agent.passToNextWake() }
        let others = try #require(agent.release)
        #expect(!others.contains(1))
        try agent.finishRelease()
        while agent.release == nil { try agent.passToNextWake() }
        #expect(agent.release == [1])
        try agent.finishRelease(failing: [1])
        #expect(agent.plan.nextWake == agent.now + .seconds(60))
        try agent.handle(.evict(isConfirmed: false))
        #expect(agent.release == [1])
        try agent.finishJobs()
        #expect(!agent.isOnDisk("x"))
    }

    @Test("an icon whose image went while an older generation is leased is not taken for ready")
    func leasedOlderGeneration() throws {
        var agent = Self.agent()
        try agent.publish(["1.plist": [Self.a: "x"]])
        try agent.pass(.seconds(2 * 86_400))
        try agent.finish(Self.a, with: "y")
        try agent.finishPublication()
        try agent.scan(["1.plist": nil])
        try agent.finishPublication()
        try agent.pass(.seconds(600))
        try agent.finishRelease(leases: [1])
        try agent.finishRemoval()
        #expect(!agent.isOnDisk("y") && agent.isOnDisk("x"))
        try agent.scan(["1.plist": [Self.a]])
        if agent.publication != nil { try agent.finishPublication() }
        try agent.finish(Self.a, with: "y")
        while agent.publication != nil { try agent.finishPublication() }
        #expect(try agent.published("1.plist") == [Self.ready("y")])
    }

    @Test("status does not call a removed list published in sync")
    func inSync() throws {
        var agent = Self.agent()
        try agent.publish(["1.plist": [Self.a: "x"], "2.plist": [Self.b: "y"]])
        try agent.scan(["1.plist": nil])
        try agent.finishPublication()
        try agent.pass(.seconds(600))
        // While generations are being released, nothing is published.
        #expect(agent.release == [1])
        try agent.scan(["2.plist": nil])
        #expect(agent.publication == nil && !agent.plan.status.inSync)
    }

    @Test("a new list is published with its first icons, and without them if none comes soon")
    func firstIcons() throws {
        let (b, c, d): (IconURL, IconURL, IconURL) = (
            "https://h.example/2", "https://h.example/3", "https://i.example/4"
        )
        var agent = AgentScenario()
        try agent.publish(["1.plist": [Self.a: "x"]])
        try agent.scan(["2.plist": [b, c]])
        try agent.pass(.milliseconds(200))
        #expect(agent.publication == nil)
        try agent.finish(b, with: "y")
        try agent.pass(.milliseconds(50))
        try agent.finishPublication()
        #expect(try agent.published("2.plist") == [.ready(Sample.image("y")), .pending])
        try agent.scan(["3.plist": [d]])
        try agent.pass(.milliseconds(300))
        try agent.finishPublication()
        #expect(try agent.published("3.plist") == [.pending])
        // A long list takes some of the time itself.
        try agent.scan(["5.plist": (0..<5000).map { IconURL("https://j.example/\($0)") }])
        try agent.pass(.milliseconds(300))
        #expect(agent.publication == nil)
        try agent.pass(.milliseconds(100))
        try agent.finishPublication()
        // Nothing is to come for a list of icons that are there.
        try agent.scan(["4.plist": [Self.a]])
        try agent.pass(.milliseconds(50))
        try agent.finishPublication()
        #expect(try agent.published("4.plist") == [.ready(Sample.image("x"))])
    }
}
