// SPDX-License-Identifier: Apache-2.0
import AgentSettings
import AppLists
import CacheFormat
import HTTPRules
import Reports
import Testing

@testable import SyncPlan

@Suite("Apps keep their last image")
struct PreviousImageScenarioTests {
    private static let count = 30

    private static func apps(_ id: (Int) -> String = { "\($0)" }, _ url: (Int) -> String) -> [AppEntry] {
        (0..<count).map { AppEntry(id: id($0), icon: IconURL("https://h.example/\(url($0))")) }
    }

    /// An agent with an image of each app of `1.plist`.
    private static func agent(_ apps: [AppEntry] = apps { "\($0).png" }) throws -> AgentScenario {
        var agent = AgentScenario {
            $0.cache.grace = .seconds(600)
            $0.fetch.perHost = 100
            $0.refresh.default = .seconds(1000 * 86_400)
        }
        try agent.scan("1.plist", apps: apps)
        try download(&agent)
        return agent
    }

    private static func download(_ agent: inout AgentScenario) throws {
        while let url = agent.downloads.keys.first { try agent.finish(url, with: url) }
        try agent.finishJobs()
    }

    private static func fail(_ agent: inout AgentScenario) throws {
        try agent.finishAll(.failed(.status(503)))
        try agent.finishJobs()
    }

    /// Whether each app shows its previous image.
    private static func showsPrevious(_ agent: AgentScenario) -> Bool {
        let document = agent.disk.current?.lists["1.plist"].flatMap { agent.disk.documents[$0.sha256] }
        return document?.apps.count == count && document?.apps.allSatisfy(\.hasPrevious) == true
    }

    /// Lets the grace pass while nothing can be downloaded.
    private static func passGrace(_ agent: inout AgentScenario) throws {
        try agent.pass(.seconds(601))
        try fail(&agent)
        try agent.pass(.seconds(601))
        try fail(&agent)
    }

    @Test("an app whose entry becomes unusable keeps its URL and image, over a restart and every grace")
    func unusable() throws {
        var agent = try Self.agent()
        var spoiled = Self.apps { "\($0).png" }
        for index in spoiled.indices where index > 0 { spoiled[index].icon = Sample.unusable }
        spoiled.append(AppEntry(id: "new", icon: Sample.unusable))
        for isRestarted in [false, true] {
            if isRestarted { try agent.restart() }
            try agent.scan("1.plist", apps: spoiled)
            try agent.finishJobs()
            try agent.pass(.seconds(601))
            try agent.finishJobs()
            let document = agent.disk.current?.lists["1.plist"].flatMap { agent.disk.documents[$0.sha256] }
            #expect(document?.apps.map(\.icon) == Self.apps { "\($0).png" }.map(\.icon))
            #expect(document?.apps.allSatisfy { $0.state.status == .ready } == true)
            let list = try #require(agent.plan.status.lists.first)
            #expect(list.state == .ok && list.problems == Self.count)
            let first = (1...3).map { "https://h.example/\($0).png" }
            #expect(list.kept == StatusReport.List.Kept(apps: Self.count - 1, examples: first))
            #expect(agent.plan.status.icons.retired == 0 && agent.plan.status.downloads.counts == [0, 0, 0, 0])
        }
        // An app that leaves the list goes all the same.
        spoiled.removeLast(2)
        try agent.scan("1.plist", apps: spoiled)
        #expect(agent.plan.status.icons.retired == 1)
    }

    @Test("an app whose entry loses its identity too keeps its image; beside an entry that was none, apps leave")
    func nameless() throws {
        var agent = try Self.agent()
        var apps = Self.apps { "\($0).png" }
        apps[3] = AppEntry(icon: Sample.unusable)
        try agent.scan("1.plist", apps: apps)
        #expect(agent.plan.status.lists.first?.apps == Self.count && agent.plan.status.icons.retired == 0)
        apps = Self.apps { "\($0).png" } + [AppEntry(icon: Sample.unusable)]
        try agent.scan("1.plist", apps: apps)
        apps.remove(at: 5)
        try agent.scan("1.plist", apps: apps)
        #expect(agent.plan.status.lists.first?.apps == Self.count - 1 && agent.plan.status.icons.retired == 1)
    }

    @Test("a list in which every entry becomes unusable is last-good, with the reason of its first entry")
    func allUnusable() throws {
        var agent = try Self.agent()
        try agent.scan("1.plist", apps: Self.apps { _ in "" }.map { AppEntry(id: $0.id, icon: Sample.unusable) })
        let list = try #require(agent.plan.status.lists.first)
        #expect(list.state == .lastGood && list.apps == Self.count && list.ready == Self.count)
        #expect(list.error?.contains("[0].icon: empty") == true && agent.plan.status.icons.retired == 0)
    }

    @Test("an image that an entry shows stays, although no name leads to it", arguments: [false, true])
    func withoutName(isCopied: Bool) throws {
        var agent = try Self.agent()
        try agent.scan("1.plist", apps: Self.apps { _ in "new.png" })
        try Self.fail(&agent)
        try Self.passGrace(&agent)
        #expect(agent.disk.images.count == Self.count)
        try agent.restart()
        try agent.scan([:])
        try Self.fail(&agent)
        try Self.passGrace(&agent)
        #expect(agent.disk.images.count == Self.count)
        #expect(Self.showsPrevious(agent))
        try agent.disk.check()
    }

    @Test(
        "a change by which apps share one new image is held, whether that is there at once or later",
        arguments: [false, true])
    func shared(isLate: Bool) throws {
        var agent = try Self.agent()
        try agent.scan("1.plist", apps: Self.apps { _ in "new.png" })
        if isLate {
            try Self.fail(&agent)
            try Self.passGrace(&agent)
            try agent.fetchAgain("https://h.example/new.png")
        }
        try Self.download(&agent)
        try agent.pass(.seconds(601))
        try agent.finishJobs()
        #expect(agent.plan.status.eviction.state == "held")
        #expect(agent.disk.images.count == Self.count + 1)
        // Another change does not lift it.
        try agent.publish(["2.plist": ["https://h.example/other.png": "other"]])
        try agent.scan(["2.plist": nil])
        try agent.finishJobs()
        try agent.pass(.seconds(601))
        try agent.finishJobs()
        #expect(agent.plan.status.eviction.state == "held")
    }

    @Test("a rotation retires nothing that is held")
    func rotated() throws {
        var agent = try Self.agent()
        try agent.scan("1.plist", apps: Self.apps { "\($0).png?2" })
        try Self.download(&agent)
        try agent.pass(.seconds(601))
        try agent.finishJobs()
        #expect(agent.plan.status.eviction == .active && agent.disk.images.count == Self.count)
    }

    @Test("entries with one identity are apps of their own: those that go count")
    func sameIdentity() throws {
        var agent = try Self.agent(Self.apps({ _ in "vendor" }) { "\($0).png" })
        try agent.scan("1.plist", apps: [AppEntry(id: "vendor", icon: "https://h.example/new.png")])
        try Self.download(&agent)
        try agent.pass(.seconds(601))
        try agent.finishJobs()
        #expect(agent.plan.status.eviction.state == "held" && agent.disk.images.count == Self.count + 1)
    }

    @Test("other identities of unchanged URLs take no image away")
    func otherIdentities() throws {
        var agent = try Self.agent()
        try agent.scan("1.plist", apps: Self.apps { "\($0).png?2" })
        try Self.fail(&agent)
        try agent.scan("1.plist", apps: Self.apps({ "other \($0)" }) { "\($0).png?2" })
        try Self.fail(&agent)
        #expect(Self.showsPrevious(agent))
        #expect(agent.plan.status.eviction == .active)
    }

    @Test("a list that is emptied after a rotation is held, over a lost state too", arguments: [false, true])
    func emptied(losesState: Bool) throws {
        var agent = try Self.agent()
        try agent.scan("1.plist", apps: Self.apps { "\($0).png?2" })
        if losesState {
            try Self.fail(&agent)
            try Self.passGrace(&agent)
        }
        try agent.scan("1.plist", apps: [])
        try agent.finishJobs()
        #expect(agent.plan.status.eviction.state == "held")
        if losesState {
            agent.memory = AgentScenario().memory
            try agent.restart()
            try agent.scan([:])
        }
        try agent.pass(.seconds(601))
        try agent.finishJobs()
        #expect(agent.plan.status.eviction.state == "held" && agent.disk.images.count == Self.count)
    }

    @Test("an image that came back to its URL, and that no document names by it, goes with its file")
    func returned() throws {
        let entry = { (text: String) in [AppEntry(id: "1", icon: IconURL("https://h.example/\(text)"))] }
        var agent = try Self.agent(entry("1.png"))
        try agent.scan("1.plist", apps: entry("2.png"))
        try Self.fail(&agent)
        try Self.passGrace(&agent)
        // The publication of the first change is under way when the next one comes.
        try agent.scan("1.plist", apps: entry("1.png"))
        try agent.scan("1.plist", apps: [])
        try agent.finishJobs()
        try Self.passGrace(&agent)
        try Self.passGrace(&agent)
        #expect(agent.disk.images.isEmpty)
        #expect(agent.plan.book.catalog.icons["https://h.example/1.png"]?.hasImage != true)
    }

    @Test("an entry with the last URL of an app gets the image that the app keeps, unless its digest differs")
    func named() throws {
        let last: IconURL = "https://h.example/1.png"
        var agent = try Self.agent([AppEntry(id: "1", icon: last)])
        let image = try #require(agent.plan.image(of: last))
        try agent.scan("1.plist", apps: [AppEntry(id: "1", icon: "https://h.example/2.png")])
        try Self.fail(&agent)
        try Self.passGrace(&agent)
        try agent.scan("other.plist", apps: [AppEntry(icon: last, expected: .of("another"))])
        #expect(agent.plan.book.catalog.icons[last]?.hasImage == false)
        try agent.scan("other.plist", apps: [])
        try Self.fail(&agent)
        try agent.handle(.pin(url: last, isPinned: true))
        #expect(agent.plan.image(of: last) == image)
        try agent.handle(.pin(url: last, isPinned: false))
        try agent.scan("new.plist", apps: [AppEntry(icon: last)])
        #expect(agent.plan.image(of: last) == image)
        try Self.passGrace(&agent)
        #expect(agent.disk.images.count == 1)
    }

    @Test("a list that is put back shows its previous images again, and ends no hold before", arguments: [false, true])
    func putBack(isRemoved: Bool) throws {
        var agent = try Self.agent()
        let rotated = Self.apps { "\($0).png?2" }
        try agent.scan("1.plist", apps: rotated)
        try Self.fail(&agent)
        try Self.passGrace(&agent)
        if isRemoved { try agent.scan(["1.plist": nil]) } else { try agent.scan("1.plist", apps: []) }
        try agent.finishJobs()
        #expect(agent.plan.status.eviction.state == "held")
        try Self.passGrace(&agent)
        try agent.scan("1.plist", apps: rotated)
        try Self.fail(&agent)
        #expect(Self.showsPrevious(agent))
        try Self.passGrace(&agent)
        #expect(agent.disk.images.count == Self.count && agent.plan.status.eviction == .active)
    }

    @Test("a name is set with the publication that brings its image, and with no other one")
    func namedOnce() throws {
        var agent = try Self.agent()
        try agent.scan("1.plist", apps: Self.apps { "\($0).png?2" })
        try Self.download(&agent)
        try agent.scan("2.plist", apps: [AppEntry(icon: "https://h.example/other.png")])
        while agent.publication == nil { try agent.passToNextWake() }
        #expect(agent.publication?.documents.map(\.list) == ["2.plist"] && agent.publication?.links.isEmpty == true)
    }

    @Test("an app of which an entry is added before the old one goes keeps its image")
    func added() throws {
        let (old, new) = (
            AppEntry(id: "x", icon: "https://h.example/1.png"), AppEntry(id: "x", icon: "https://h.example/2.png")
        )
        var agent = try Self.agent([old])
        for apps in [[new, old], [new]] {
            try agent.scan("1.plist", apps: apps)
            try Self.fail(&agent)
            try Self.passGrace(&agent)
            let list = agent.disk.current?.lists["1.plist"]
            #expect(list?.ready == apps.count)
        }
    }

    /// What each app of `1.plist` shows in place of its icon.
    private static func previous(_ agent: AgentScenario) -> [IconURL?] {
        let document = agent.disk.current?.lists["1.plist"].flatMap { agent.disk.documents[$0.sha256] }
        return document?.apps.map { $0.previous?.icon } ?? []
    }

    @Test(
        "apps of a list that is put back show their own images, also if they share a URL or have changed places",
        arguments: [
            (["new", "new", "new"], ["new", "new", "new"]), (["1", "2", "3"], ["2", "1", "3"]),
            (["1", "2", "3"], ["4", "5", "6"]),
        ])
    func putBackApart(last: [String], next: [String]) throws {
        func apps(_ urls: [String]) -> [AppEntry] {
            zip(["m", "p", "x"], urls).map { AppEntry(id: $0, icon: IconURL("https://h.example/\($1).png")) }
        }
        var agent = try Self.agent(apps(["a", "b", "c"]))
        for entries in [apps(last), [], apps(next)] {
            try agent.scan("1.plist", apps: entries)
            try Self.fail(&agent)
        }
        #expect(
            Self.previous(agent) == ["https://h.example/a.png", "https://h.example/b.png", "https://h.example/c.png"])
    }

    @Test("an app with another identity shows no image of another one, though its URL is that of the other one")
    func putBackOther() throws {
        var agent = try Self.agent([AppEntry(id: "m", icon: "https://h.example/a.png")])
        for id in ["m", nil, "n"] {
            try agent.scan("1.plist", apps: id.map { [AppEntry(id: $0, icon: "https://h.example/b.png")] } ?? [])
            try Self.fail(&agent)
        }
        #expect(Self.previous(agent) == [nil])
    }

    private static func app(_ id: String?, _ icon: String, name: String? = nil) -> AppEntry {
        AppEntry(name: name, id: id, icon: IconURL("https://h.example/\(icon).png"))
    }

    @Test(
        "an app put back beside others of its identity or URL has its own image",
        arguments: [
            (
                [app("m", "c", name: "light"), app("m", "d", name: "dark")], [],
                [app("m", "e", name: "dark")], [IconURL("https://h.example/b.png")]
            ),
            (
                [app("m", "new"), app("p", "new")], [app("m", "new")], [app("m", "new"), app("p", "new")],
                ["https://h.example/a.png", "https://h.example/b.png"]
            ),
            (
                [app("m", "c"), app("p", "d")], [app("m", "c")], [app("m", "c"), app("p", "e")],
                ["https://h.example/a.png", "https://h.example/b.png"]
            ),
        ] as [([AppEntry], [AppEntry], [AppEntry], [IconURL?])])
    func putBackBeside(last: [AppEntry], meanwhile: [AppEntry], next: [AppEntry], previous: [IconURL?]) throws {
        var agent = try Self.agent(
            zip(last, ["a", "b"]).map {
                AppEntry(name: $0.name, id: $0.id, icon: IconURL("https://h.example/\($1).png"))
            })
        for apps in [last, meanwhile, next] {
            try agent.scan("1.plist", apps: apps)
            try Self.fail(&agent)
        }
        #expect(Self.previous(agent) == previous)
    }

    @Test("a URL that is named again has the image that an app kept of it")
    func namedAgain() throws {
        var agent = try Self.agent([Self.app("m", "1")])
        try agent.scan("1.plist", apps: [Self.app("m", "2")])
        try Self.fail(&agent)
        try Self.passGrace(&agent)
        try agent.scan("1.plist", apps: [])
        try agent.finishJobs()
        #expect(agent.plan.status.icons.retired == 1)
        agent.events = []
        try agent.scan("1.plist", apps: [Self.app("m", "1")])
        try Self.fail(&agent)
        #expect(agent.disk.current?.lists["1.plist"]?.ready == 1 && agent.plan.status.icons.retired == 0)
        #expect(agent.events.contains { $0.kind == .iconReady })
    }

    @Test("an image that an app kept is retired when the app gets a URL that has an image")
    func otherImage() throws {
        var agent = try Self.agent([Self.app("m", "1"), Self.app("n", "3")])
        try agent.scan("1.plist", apps: [Self.app("m", "2"), Self.app("n", "3")])
        try Self.fail(&agent)
        try Self.passGrace(&agent)
        agent.events = []
        try agent.scan("1.plist", apps: [Self.app("m", "3"), Self.app("n", "3")])
        try agent.finishJobs()
        #expect(agent.plan.status.icons.retired == 1)
        #expect(agent.events.contains(.iconRetired("https://h.example/1.png")))
    }

    @Test("previous images of apps are retired, reported and evicted like others", arguments: [false, true])
    func retired(isRestarted: Bool) throws {
        var agent = try Self.agent()
        try agent.scan("1.plist", apps: Self.apps { "\($0).png?2" })
        try Self.fail(&agent)
        try Self.passGrace(&agent)
        #expect(agent.plan.status.icons.retired == 0 && agent.plan.evictionReport(now: agent.now).icons.isEmpty)
        let url: IconURL = "https://h.example/0.png"
        #expect(agent.plan.evictionReport(on: url, now: agent.now).icons.map(\.reason) == [EvictionReport.shownReason])
        #expect(agent.plan.evictionReport(on: "https://h.example/0.png?2", now: agent.now).icons.count == 1)
        try agent.scan("1.plist", apps: [])
        try agent.finishJobs()
        if isRestarted {
            try agent.restart()
            try agent.scan([:])
            try agent.finishJobs()
        }
        #expect(agent.plan.status.icons.retired == Self.count)
        let report = agent.plan.evictionReport(now: agent.now)
        #expect(report.icons.count == Self.count && report.icons.allSatisfy { $0.reason.hasPrefix("held until") })
        #expect(agent.plan.evictionReport(on: url, now: agent.now).icons.count == 1)
        #expect(agent.plan.report(on: url, now: agent.now)?.state == "retired")
        agent.events = []
        try agent.handle(.evict(isConfirmed: true))
        try agent.pass(.seconds(10))
        try agent.finishJobs()
        #expect(agent.disk.images.isEmpty && agent.plan.status.icons.retired == 0)
        #expect(agent.events.count { $0.kind == .iconEvicted } == Self.count)
        #expect(agent.plan.evictionReport(now: agent.now).icons.isEmpty)
    }

    @Test(
        "a damaged image that another app fetches again is shown again by the app that kept it",
        arguments: [false, true])
    func damaged(isRestarted: Bool) throws {
        func apps(_ icon: IconURL) -> [AppEntry] {
            [AppEntry(id: "m", icon: icon), AppEntry(id: "n", icon: "https://h.example/1.png")]
        }
        var agent = try Self.agent(apps("https://h.example/1.png"))
        let image = try #require(agent.plan.image(of: "https://h.example/1.png"))
        try agent.scan("1.plist", apps: apps("https://h.example/2.png"))
        try Self.fail(&agent)
        if isRestarted {
            try agent.restart(losing: [image.sha256])
            try agent.scan([:])
        } else {
            try agent.handle(.damaged([image.sha256]))
        }
        while agent.publication == nil { try agent.passToNextWake() }
        try agent.finishPublication()
        #expect(Self.previous(agent) == [nil, nil])
        try agent.finish("https://h.example/1.png", with: "https://h.example/1.png" as IconURL)
        try agent.finishJobs()
        while agent.plan.icon("https://h.example/1.png")?.image == nil {
            try agent.passToNextWake()
            try agent.finishJobs()
        }
        try agent.pass(.seconds(10))
        try Self.fail(&agent)
        #expect(Self.previous(agent) == ["https://h.example/1.png", nil])
    }

    @Test("each new URL of an app emits an event with the image that stays")
    func told() throws {
        var agent = try Self.agent([AppEntry(id: "m", icon: "https://h.example/1.png")])
        for number in 2...3 {
            try agent.scan("1.plist", apps: [AppEntry(id: "m", icon: IconURL("https://h.example/\(number).png"))])
            try Self.fail(&agent)
        }
        let kept = agent.events.filter { $0.kind == .iconKept }
        #expect(
            kept
                == [2, 3].map { .iconKept(IconURL("https://h.example/\($0).png"), previous: "https://h.example/1.png") }
        )
    }

    @Test(
        "an app whose new icon has an image of before, which is found to be missing, keeps the last one",
        arguments: [false, true])
    func standIn(changesAgain: Bool) throws {
        var agent = try Self.agent([Self.app("1", "old")])
        try agent.scan("1.plist", apps: [Self.app("1", "new")])
        try Self.download(&agent)
        // The image of the first URL is retired, and not removed yet.
        try agent.scan("1.plist", apps: [Self.app("1", "old")])
        if changesAgain { try agent.scan("1.plist", apps: [Self.app("1", "other")]) }
        try agent.handle(.damaged([Sample.image("https://h.example/old.png").sha256]))
        try Self.fail(&agent)
        #expect(Self.previous(agent) == ["https://h.example/new.png"])
        try Self.passGrace(&agent)
        #expect(Self.previous(agent) == ["https://h.example/new.png"])
        #expect(agent.isOnDisk("https://h.example/new.png"))
    }

    @Test("an app whose image and the one before are missing shows none, and no publication waits for them")
    func bothMissing() throws {
        var agent = try Self.agent([Self.app("1", "old")])
        try agent.scan("1.plist", apps: [Self.app("1", "new")])
        try Self.download(&agent)
        // It is not published yet that the app has its first image again.
        try agent.scan("1.plist", apps: [Self.app("1", "old")])
        let lost = ["old", "new"].map { "https://h.example/\($0).png" }
        agent.lose(lost)
        try agent.handle(.damaged(Set(lost.map { Sample.image($0).sha256 })))
        try agent.scan("1.plist", apps: [Self.app("1", "other")])
        try Self.fail(&agent)
        #expect(Self.previous(agent) == [nil])
        try agent.scan("2.plist", apps: [Self.app("2", "2")])
        try agent.finish("https://h.example/2.png", with: "2")
        try agent.pass(.seconds(60))
        try Self.fail(&agent)
        #expect(agent.disk.current?.lists["2.plist"] != nil && agent.plan.status.publication.error == nil)
    }

    @Test("a URL that had its image back, and left before a document named it, leaves nothing behind")
    func unpublishedReturn() throws {
        var agent = try Self.agent([Self.app("1", "old")])
        try agent.scan("1.plist", apps: [Self.app("1", "new")])
        try Self.fail(&agent)
        // The app still shows the image, and the name of its URL is gone.
        try Self.passGrace(&agent)
        try agent.scan(["2.plist": ["https://h.example/other.png"]])
        while agent.publication == nil { try agent.passToNextWake() }
        try agent.scan(["3.plist": ["https://h.example/old.png"]])
        try agent.scan(["3.plist": nil])
        try Self.fail(&agent)
        try Self.passGrace(&agent)
        #expect(agent.plan.count(ofIconsIn: nil, .retired) == 0)
        #expect(Self.previous(agent) == ["https://h.example/old.png"])
    }
}
