// SPDX-License-Identifier: Apache-2.0
import AgentSettings
import AppLists
import CacheFormat
import HTTPRules
import Testing

@testable import Reports
@testable import SyncPlan

@Suite("Images are rendered in other sizes")
struct RenditionScenarioTests {
    private static let mail: IconURL = "https://a.example/mail.png"
    private static let maps: IconURL = "https://a.example/maps.png"

    /// An agent that has looked at the lists, and knows its renderer, unless there is none.
    private static func agent(
        _ sizes: [String] = ["48", "64@2"], trouble: String? = nil, _ change: (inout Settings) -> Void = { _ in }
    ) throws -> AgentScenario {
        var agent = AgentScenario { settings in
            settings.render.sizes = sizes.compactMap { RenditionSize($0) }
            change(&settings)
        }
        try agent.scan([:])
        try agent.finishRendering(trouble: trouble)
        try agent.finishRenditions()
        return agent
    }

    /// The sizes that each app of a list has in the newest manifest.
    private static func sizes(_ agent: AgentScenario, of list: ListName = "1.plist") throws -> [[String]] {
        let entry = try #require(agent.disk.current?.lists[list])
        return try #require(agent.disk.documents[entry.sha256]).apps.map { $0.renditions.map(\.size.description) }
    }

    @Test("an icon is ready when its original is; its renditions follow in another generation")
    func follow() throws {
        var agent = try Self.agent()
        try agent.publish(["1.plist": [Self.mail: "mail"]])
        #expect(try Self.sizes(agent) == [[]])
        #expect(try agent.published("1.plist").count == 1)
        #expect(agent.renderings.first?.items.map(\.pixels) == [[48, 128]])
        try agent.finishNaming()
        try agent.finishRendering()
        #expect(agent.writtenAhead.count == 3)
        try agent.finishPublication()
        #expect(try Self.sizes(agent) == [["48", "64@2"]])
        try agent.finishRenditions()
        #expect(agent.names[.icon(Self.mail)]?.paths.count == 2)
        #expect(agent.plan.status.renditions?.ready == 1 && agent.plan.isSettled)
        // Another list that shows the same image has them at once.
        try agent.scan(["2.plist": [Self.mail]])
        try agent.finishPublication()
        #expect(try Self.sizes(agent, of: "2.plist") == [["48", "64@2"]])
        #expect(agent.renderings.isEmpty)
    }

    @Test("renditions that the cache folder refuses hold up nothing, and are rendered again after an hour")
    func refused() throws {
        var agent = try Self.agent()
        try agent.publish(["1.plist": [Self.mail: "mail"]])
        try agent.finishNaming()
        try agent.finishRendering()
        let refused = try #require(agent.publication?.renditions.first { $0.image.width == 48 })
        try agent.refusePublication(unplaced: [refused.name])
        let event = try #require(agent.events.last { $0.kind == .iconNotRendered })
        #expect(event.url == Self.mail && event.message.contains("permission denied"))
        try agent.finishRenditions()
        #expect(try Self.sizes(agent) == [["64@2"]])
        #expect(agent.renderings.isEmpty && agent.plan.status.renditions?.failed == 1)
        let report = try #require(agent.plan.report(on: Self.mail, now: agent.now))
        #expect(report.renderFailure?.message == "permission denied")
        while agent.renderings.isEmpty {
            try agent.passToNextWake()
            try agent.finishJobs()
        }
        #expect(agent.now == Sample.start + .seconds(3600))
        #expect(agent.renderings.first?.items.map(\.pixels) == [[48]])
        try agent.finishRenditions()
        #expect(try Self.sizes(agent) == [["48", "64@2"]])
        #expect(agent.plan.status.renditions?.ready == 1)
    }

    @Test("a document that is being published while its image is rendered for another list gets the renditions next")
    func renderedForAnotherList() throws {
        var agent = try Self.agent()
        try agent.publish(["1.plist": [Self.mail: "mail"]])
        try agent.finishNaming()
        try agent.scan(["2.plist": [Self.maps]])
        try agent.finish(Self.maps, with: "mail")
        while agent.publication == nil { try agent.passToNextWake() }
        try #require(agent.renderings.count == 1)
        try agent.finishRendering()
        try agent.finishPublication()
        try agent.finishRenditions()
        for list: ListName in ["1.plist", "2.plist"] { #expect(try Self.sizes(agent, of: list) == [["48", "64@2"]]) }
        #expect(agent.plan.isSettled)
    }

    @Test("images are rendered only if sizes are set")
    func off() throws {
        var agent = AgentScenario()
        try agent.publish(["1.plist": [Self.mail: "mail"]])
        #expect(agent.renderings.isEmpty && agent.naming == nil && agent.plan.status.renditions == nil)
    }

    @Test("a size with two names is rendered once")
    func samePixels() throws {
        var agent = try Self.agent(["64@2", "128", "128"])
        try agent.publish(["1.plist": [Self.mail: "mail"]])
        #expect(agent.renderings.first?.items.map(\.pixels) == [[128]])
        try agent.finishRenditions()
        #expect(try Self.sizes(agent) == [["128", "64@2"]])
    }

    @Test(
        "an image that cannot be rendered stays as it is, is told of once, and is not tried again, nor after a restart")
    func failure() throws {
        var agent = try Self.agent()
        try agent.publish(["1.plist": [Self.mail: "mail"]])
        try agent.finishRendering(["mail": .failed(RenderFailure(.unsupported, "image/x is not rendered"))])
        try agent.finishRenditions()
        #expect(agent.events.filter { $0.kind == .iconNotRendered }.map(\.code) == ["render-unsupported"])
        #expect(try agent.published("1.plist").first?.status == .ready)
        #expect(agent.plan.status.renditions?.failed == 1 && agent.plan.isSettled)
        #expect(agent.plan.report(on: Self.mail, now: agent.now)?.renderFailure?.code == .unsupported)
        try agent.pass(.seconds(5))
        try agent.restart()
        try agent.scan([:])
        try agent.finishRendering()
        #expect(agent.renderings.isEmpty)
        #expect(agent.plan.report(on: Self.mail, now: agent.now)?.renderFailure?.code == .unsupported)
        // A library may have been installed that no version tells of.
        #expect(agent.plan.countDue([Self.mail], isRefresh: false) == 1)
        try agent.handle(.request([Self.mail], isRefresh: false))
        #expect(!agent.renderings.isEmpty)
    }

    private enum Retry: CaseIterable { case hour, reload, restart, request }

    @Test("an image during which the renderer was killed is tried again", arguments: Retry.allCases)
    private func interruption(retry: Retry) throws {
        var agent = try Self.agent(["48"])
        try agent.publish(["1.plist": [Self.mail: "mail"]])
        try agent.finishRendering(["mail": .failed(RenderFailure(.interrupted, "it was killed by signal 9"))])
        try agent.finishRenditions()
        #expect(agent.plan.status.renditions?.failed == 1 && agent.plan.isSettled)
        try agent.pass(.seconds(3590))
        try agent.finishJobs()
        #expect(agent.renderings.isEmpty)
        switch retry {
        case .hour: try agent.pass(.seconds(10))
        case .reload: try agent.handle(.configured(agent.settings))
        case .restart:
            try agent.restart()
            try agent.scan([:])
        case .request:
            #expect(agent.plan.countDue([Self.mail], isRefresh: false) == 1)
            try agent.handle(.request([Self.mail], isRefresh: false))
            #expect(agent.downloads.isEmpty)
        }
        try #require(!agent.renderings.isEmpty)
        try agent.finishRenditions()
        #expect(try Self.sizes(agent) == [["48"]])
    }

    @Test("recovered rendering is reported when an image was rendered, and not at a reload")
    func reloadWithoutRenderer() throws {
        var agent = try Self.agent(trouble: "it is not installed")
        try agent.publish(["1.plist": [Self.mail: "mail"]])
        try agent.finishRenditions()
        try agent.pass(.seconds(60))
        for _ in 1...2 {
            try agent.finishRendering(trouble: "it is not installed")
            try agent.handle(.configured(agent.settings))
            #expect(agent.plan.status.renditions?.error == "it is not installed")
        }
        try agent.finishRenditions()
        let told: [AgentEvent.Kind] = agent.events.map(\.kind).filter {
            [.renderingBlocked, .renderingUnblocked].contains($0)
        }
        #expect(told == [.renderingBlocked, .renderingUnblocked])
    }

    @Test("a renderer that is missed by no image is looked for in silence")
    func silentQuestions() throws {
        var agent = try Self.agent(trouble: "it is not installed")
        for _ in 1...3 {
            try agent.pass(.seconds(60))
            try #require(agent.renderings.first?.items.isEmpty == true)
            #expect(agent.plan.status.renditions?.error == nil)
            try agent.finishRendering(trouble: "it is not installed")
        }
        #expect(!agent.events.contains { [.renderingBlocked, .renderingUnblocked].contains($0.kind) })
    }

    @Test("another version of the renderer makes everything anew; the old renditions are shown until then")
    func otherVersion() throws {
        var agent = try Self.agent()
        try agent.publish(["1.plist": [Self.mail: "mail", Self.maps: "maps"]])
        try agent.finishRendering(["maps": .failed(RenderFailure(.failed, "it died"))])
        try agent.finishRenditions()
        try agent.pass(.seconds(5))
        try agent.restart()
        try agent.scan([:])
        // The question which one there is.
        #expect(agent.renderings.first?.items.isEmpty == true)
        try agent.finishRendering(version: 2)
        #expect(agent.renderings.first?.items.count == 2)
        #expect(try Self.sizes(agent) == [["48", "64@2"], []])
        if agent.naming != nil { try agent.finishNaming() }
        try agent.finishRendering(version: 2)
        try agent.finishPublication()
        let list = try #require(agent.disk.current?.lists["1.plist"])
        let shown = try #require(agent.disk.documents[list.sha256]).apps.map { $0.renditions.map(\.image) }
        #expect(
            shown
                == ["mail", "maps"].map { word in
                    [48, 128].map { Sample.rendition(of: Sample.image(word), $0, by: 2) }
                })
    }

    @Test("icons are ready without a renderer, which is looked for once a minute")
    func noRenderer() throws {
        var agent = try Self.agent(trouble: "it is not installed")
        #expect(agent.plan.status.renditions?.error == nil, "nothing waits for it")
        try agent.publish(["1.plist": [Self.mail: "mail"]])
        try agent.finishRenditions()
        #expect(agent.plan.status.renditions?.error == "it is not installed")
        #expect(agent.events.contains { $0.kind == .renderingBlocked })
        #expect(agent.plan.status.problems.map(\.code) == ["not-rendered"])
        try agent.pass(.seconds(59))
        #expect(agent.renderings.isEmpty)
        try agent.pass(.seconds(1))
        try agent.finishRenditions()
        #expect(try Self.sizes(agent) == [["48", "64@2"]])
        #expect(agent.events.contains { $0.kind == .renderingUnblocked })
    }

    @Test("the renderer is looked for at once when a purge ends that lasted longer than its delay")
    func purge() throws {
        var agent = try Self.agent(trouble: "not installed")
        try agent.publish(["1.plist": [Self.mail: "mail"]])
        try agent.finishRenditions()
        try agent.handle(.purge)
        try agent.pass(.seconds(100))
        #expect(agent.plan.isPurging && agent.renderings.isEmpty)
        try agent.finishPublication(fails: true)
        if agent.naming != nil { try agent.finishNaming() }
        #expect(!agent.plan.isPurging && agent.renderings.count == 1)
    }

    @Test("sizes that change twice within the grace leave nothing missing, and what is there is not rendered again")
    func changedSizes() throws {
        var agent = try Self.agent()
        try agent.publish(["1.plist": [Self.mail: "mail"]])
        try agent.finishRenditions()
        for (sizes, rendered) in [(["48", "32"], [[32]]), (["48", "64@2"], []), ([], [])] as [([String], [[Int]])] {
            var settings = agent.settings
            settings.render.sizes = sizes.compactMap { RenditionSize($0) }
            try agent.handle(.configured(settings))
            while agent.publication != nil || agent.naming != nil {
                if agent.naming != nil { try agent.finishNaming() } else { try agent.finishPublication() }
            }
            let orders = agent.renderings.flatMap(\.items).map(\.pixels)
            #expect(orders == rendered)
            try agent.finishRenditions()
            #expect(try Self.sizes(agent).first?.count == sizes.count)
        }
        #expect(agent.names.isEmpty)
        // What no size asks for goes with the grace.
        #expect(agent.disk.images.count == 4)
        try agent.pass(.seconds(700))
        try agent.finishJobs()
        #expect(agent.disk.images == [Sample.image("mail").sha256])
    }

    @Test(
        "sizes that changed while the agent was stopped have documents written again",
        arguments: [["64", "128"], ["128"], []])
    func changedAtStart(sizes: [String]) throws {
        var agent = try Self.agent(["64@2"])
        try agent.publish(["1.plist": [Self.mail: "mail"]])
        try agent.finishRenditions()
        agent.settings.render.sizes = sizes.compactMap { RenditionSize($0) }
        try agent.restart()
        try agent.scan([:])
        try agent.finishRenditions()
        #expect(try Self.sizes(agent) == [sizes])
    }

    @Test("a lost rendition is not named any more at once, and is made again")
    func damage() throws {
        var agent = try Self.agent(["48"])
        try agent.publish(["1.plist": [Self.mail: "mail"]])
        try agent.finishRenditions()
        let rendition = Sample.rendition(of: Sample.image("mail"), 48).sha256
        agent.disk.images.remove(rendition)
        for generation in agent.disk.generations.keys { agent.disk.damaged[generation] = [rendition] }
        try agent.handle(.damaged([rendition]))
        try agent.finishPublication()
        #expect(try Self.sizes(agent) == [[]])
        // Until it is made again, no name leads to the damaged file.
        try agent.finishRemoval()
        try agent.finishNaming()
        #expect(agent.names[.icon(Self.mail)] == RenditionNaming.Name(paths: [:], keepsOthers: false))
        try agent.finishRenditions()
        try agent.finishJobs()
        #expect(try Self.sizes(agent) == [["48"]])
        #expect(agent.disk.images.contains(rendition))
        #expect(agent.requests.count == 1, "the original is not downloaded again")
    }

    /// Two apps whose previous images differ, and that share a URL without an image.
    private static func moveToOneURL(_ agent: inout AgentScenario) throws {
        func apps(_ url: (Int) -> IconURL) -> [AppEntry] { (0..<2).map { AppEntry(id: "\($0)", icon: url($0)) } }
        try agent.scan("1.plist", apps: apps { [mail, maps][$0] })
        for url in [mail, maps] { try agent.finish(url, with: url) }
        try agent.finishRenditions()
        try agent.scan("1.plist", apps: apps { _ in "https://a.example/new.png" })
        try agent.finish("https://a.example/new.png", .failed(.status(404)))
        try agent.finishRenditions()
        try agent.finishJobs()
    }

    @Test("a lost rendition of a previous image that shares its icon with another one is made again", arguments: 0..<2)
    func damageOfPrevious(app: Int) throws {
        var agent = try Self.agent(["48"])
        try Self.moveToOneURL(&agent)
        try #require(try Self.sizes(agent) == [["48"], ["48"]])
        let rendition = Sample.rendition(of: Sample.image([Self.mail, Self.maps][app].text), 48).sha256
        agent.disk.images.remove(rendition)
        for generation in agent.disk.generations.keys { agent.disk.damaged[generation] = [rendition] }
        try agent.handle(.damaged([rendition]))
        try agent.finishPublication()
        try agent.finishRenditions()
        try agent.finishJobs()
        #expect(try Self.sizes(agent) == [["48"], ["48"]] && agent.disk.images.contains(rendition))
    }

    @Test("previous images that share an icon are all rendered when sizes are first set")
    func previousAtStart() throws {
        var agent = AgentScenario()
        try Self.moveToOneURL(&agent)
        agent.settings.render.sizes = [RenditionSize("48")].compactMap(\.self)
        try agent.restart()
        try agent.scan([:])
        try agent.finishRenditions()
        #expect(try Self.sizes(agent) == [["48"], ["48"]])
    }

    @Test("a document that was not written before a kill gets the renditions of the new version after it")
    func killedBetweenDocuments() throws {
        var agent = try Self.agent(["48"])
        let small: ListName = "0.plist"
        let large = (1...8).map { ListName("\($0).plist") }
        let pending = (0..<50).map { IconURL("ftp://a.example/\($0)") }
        try agent.scan([small: [Self.mail]].merging(large.map { ($0, [Self.mail] + pending) }) { $1 })
        try agent.finish(Self.mail, with: "mail")
        while agent.publication == nil { try agent.passToNextWake() }
        try agent.finishPublication()
        try agent.finishRenditions()
        try agent.pass(.seconds(5))
        try agent.restart()
        try agent.scan([:])
        for _ in 1...2 { try agent.finishRendering(version: 2) }
        if agent.naming != nil { try agent.finishNaming() }
        while agent.publication == nil { try agent.passToNextWake() }
        try #require(agent.publication?.documents.count == 9)
        try agent.refusePublication(room: 2000)
        while agent.publication == nil { try agent.passToNextWake() }
        try #require(agent.publication?.documents.map(\.list) == [small])
        try agent.finishPublication()
        try agent.pass(.seconds(5))
        try agent.restart()
        try agent.scan([:])
        while !agent.renderings.isEmpty { try agent.finishRendering(version: 2) }
        if agent.naming != nil { try agent.finishNaming() }
        try agent.finishJobs()
        for list in [small] + large {
            let document = try #require(agent.disk.current?.lists[list].flatMap { agent.disk.documents[$0.sha256] })
            let new = Sample.rendition(of: Sample.image("mail"), 48, by: 2)
            #expect(document.apps.first?.renditions.map(\.image) == [new], "\(list)")
        }
    }

    @Test("rules that are taken back over a restart, when a document may have renditions by them, leave none of them")
    func rulesTakenBack() throws {
        var agent = try Self.agent(["48"])
        try agent.publish(["1.plist": [Self.mail: "mail"]])
        try agent.finishRenditions()
        let before = agent.settings
        agent.settings.render.fit = .inside
        try agent.handle(.configured(agent.settings))
        try agent.finishRendering()
        try agent.pass(.seconds(5))
        agent.settings = before
        try agent.restart()
        try agent.scan([:])
        #expect(agent.renderings.first?.items.count == 1, "the renditions that there are can be by either")
        try agent.finishRenditions()
        try agent.pass(.seconds(5))
        try agent.restart()
        try agent.scan([:])
        #expect(agent.renderings.first?.items.isEmpty == true)
    }

    @Test("an original that turns out damaged is downloaded again, and rendered then")
    func damagedOriginal() throws {
        var agent = try Self.agent(["48"])
        try agent.publish(["1.plist": [Self.mail: "mail"]])
        agent.lose(["mail"])
        try agent.finishRendering(["mail": .damaged])
        #expect(agent.downloads[Self.mail] != nil)
        #expect(agent.events.contains(.cacheHealed(.damagedImages, summary: "1 image")))
        try agent.finish(Self.mail, with: "mail")
        try agent.finishRenditions()
        #expect(try Self.sizes(agent) == [["48"]])
    }

    @Test("renditions lost by a failed publication are rendered again")
    func failedPublication() throws {
        var agent = try Self.agent(["48"])
        try agent.publish(["1.plist": [Self.mail: "mail"]])
        try agent.finishNaming()
        try agent.finishRendering()
        try agent.finishPublication(fails: true)
        #expect(agent.renderings.first?.items.map(\.pixels) == [[48]])
        #expect(agent.disk.staging.isEmpty)
        try agent.finishRendering()
        try agent.passToNextWake()
        try agent.finishRenditions()
        #expect(try Self.sizes(agent) == [["48"]])
    }

    @Test("apps have names in the icon theme: their identity, else their name, if a file can be called so")
    func theme() throws {
        var agent = try Self.agent(["48"]) { $0.desktop.icons = true }
        let other: IconURL = "https://a.example/other.png"
        try agent.scan(
            "1.plist",
            apps: [
                AppEntry(name: "Mail", id: "org.example.Mail", icon: Self.mail),
                AppEntry(name: "Maps", icon: Self.maps),
                AppEntry(name: "../x", icon: other), AppEntry(name: "Mail", id: "org.example.Mail", icon: other),
            ])
        for url in [Self.mail, Self.maps, other] { try agent.finish(url, with: url) }
        try agent.finishRenditions()
        let apps = agent.names.keys.compactMap { if case .app(let name) = $0 { name.text } else { nil } }
        #expect(apps.sorted() == ["Maps", "org.example.Mail"])
        let mail = Sample.rendition(of: Sample.image(Self.mail.text), 48)
        #expect(agent.names[.app("org.example.Mail")]?.paths.values.map(\.self) == [mail.path])
        // An app that leaves its list loses its name before its image is evicted.
        try agent.scan("1.plist", apps: [AppEntry(name: "Maps", icon: Self.maps)])
        try agent.finishPublication()
        #expect(agent.naming?.removed.contains(.app("org.example.Mail")) == true)
        #expect(agent.removal == nil)
    }

    @Test("a name leads to the rendition of the image before, until the new one is rendered, or cannot be")
    func namesOfChangedImages() throws {
        var agent = try Self.agent(["48"])
        try agent.publish(["1.plist": [Self.mail: "mail"]])
        try agent.finishRenditions()
        try agent.fetchAgain(Self.mail)
        try agent.finish(Self.mail, with: "new")
        try agent.finishPublication()
        #expect(agent.naming?.names[.icon(Self.mail)]?.keepsOthers == true)
        try agent.finishNaming()
        try agent.finishRendering(["new": .failed(RenderFailure(.failed, "it died"))])
        #expect(agent.naming?.names[.icon(Self.mail)] == RenditionNaming.Name(paths: [:], keepsOthers: false))
    }
}
