import AppLists
import CacheFormat
import HTTPRules
import ImageChecks
import Reports
import Testing

@testable import AgentSettings
@testable import SyncPlan

// SPDX-License-Identifier: Apache-2.0

@Suite("The agent goes on with other settings")
struct ReloadScenarioTests {
    private static let a: IconURL = "https://h.example/a.png"
    private static let b: IconURL = "https://h.example/b.png"

    private static func configured(_ agent: inout AgentScenario, _ change: (inout Settings) -> Void) throws {
        var settings = agent.settings
        change(&settings)
        agent.settings = settings
        try agent.handle(.configured(settings))
    }

    @Test(
        "a reload makes icons that failed by the old settings requested at once, and no others",
        arguments: [
            (FetchFailure(.image(.notAnImage), "it is SVG"), true), (FetchFailure(.tooLarge, "large"), true),
            (FetchFailure(.addressRefused, "private"), true), (FetchFailure.status(404), false),
            (FetchFailure(.image(.damaged), "cut"), false),
        ])
    func failures(failure: FetchFailure, isAskedAgain: Bool) throws {
        var agent = AgentScenario()
        try agent.scan(["1.plist": [Self.a]])
        try agent.finish(Self.a, .failed(failure))
        try agent.finishPublication()
        // Of another kind than any download depends on.
        try Self.configured(&agent) { $0.lists.rescan = .seconds(1) }
        #expect(agent.downloads.isEmpty)
        try Self.configured(&agent) { $0.images.allowSVG = true }
        #expect((agent.downloads[Self.a] != nil) == isAskedAgain)
    }

    @Test("settings that need a restart are in the status until a reload that needs none")
    func restart() throws {
        var agent = AgentScenario()
        for names in [["cache.mode"], []] {
            try agent.handle(.configured(agent.settings, needRestart: names))
            #expect(agent.plan.status.configuration.needRestart == names)
        }
    }

    @Test("the folder is looked at for a missing list after the time that the last reload set")
    func settle() throws {
        var agent = AgentScenario()
        try agent.publish(["1.plist": [Self.a: "x"], "2.plist": [Self.b: "y"]])
        try Self.configured(&agent) { ($0.lists.settle, $0.lists.settleMax) = (.seconds(100), .seconds(100)) }
        try agent.scan(["2.plist": nil], waits: false)
        for isOver in [false, true] {
            try agent.pass(.seconds(60))
            #expect(agent.isScanWanted == isOver)
        }
    }

    @Test(
        "a download that two reloads overtook is retried at once if either may end its failure",
        arguments: [true, false])
    func overtaken(isFirst: Bool) throws {
        var agent = AgentScenario { ($0.fetch.retryBase, $0.fetch.retryMax) = (.seconds(10_000), .seconds(10_000)) }
        try agent.scan(["1.plist": [Self.a]])
        let changes: [(inout Settings) -> Void] = [
            { $0.fetch.idleTimeout = .seconds(30) }, { $0.images.allowSVG = true },
        ]
        for change in isFirst ? changes : changes.reversed() { try Self.configured(&agent, change) }
        try agent.finish(Self.a, .failed(FetchFailure(.connect, "")))
        #expect(agent.downloads[Self.a] != nil)
    }

    @Test(
        "a reload that changes requests retries icons that got no answer, or were refused for it; another one does not",
        arguments: [
            ("connect", true), ("dns", true), ("timeout", true), ("connection-closed", true), ("tls", true),
            ("protocol", true), ("http-403", true), ("http-406", true), ("http-404", false), ("http-503", false),
            ("http-429", false), ("disk", false),
        ])
    func requests(code: String, isAskedAgain: Bool) throws {
        let code = try #require(FetchFailure.Code(rawValue: code))
        var agent = AgentScenario { ($0.fetch.retryBase, $0.fetch.retryMax) = (.seconds(10_000), .seconds(10_000)) }
        try agent.scan(["1.plist": [Self.a]])
        try agent.finish(Self.a, .failed(FetchFailure(code, "", .lasting)))
        try agent.finishPublication()
        var (other, renamed) = (agent, agent)
        try Self.configured(&other) { $0.images.allowSVG = true }
        #expect((other.downloads[Self.a] != nil) == (code == .fetch(.tls)))
        try Self.configured(&agent) { $0.fetch.idleTimeout = .seconds(30) }
        let isOfSender = code == .http(403) || code == .http(406)
        #expect((agent.downloads[Self.a] != nil) == (isAskedAgain && !isOfSender))
        try Self.configured(&renamed) { $0.fetch.userAgent = "Other" }
        #expect((renamed.downloads[Self.a] != nil) == isAskedAgain)
    }

    /// An agent whose only origin has failed five times in a row, the last time with `last`.
    private static func broken(_ failure: FetchFailure, last: FetchFailure? = nil) throws -> AgentScenario {
        var agent = AgentScenario { ($0.fetch.retryBase, $0.fetch.retryMax) = (.seconds(10_000), .seconds(10_000)) }
        try agent.scan(["1.plist": (1...20).map { IconURL("https://h.example/\($0)") }])
        while let url = agent.downloads.keys.min() {
            let isLast = agent.requests.count == 5 && agent.downloads.count == 1
            try agent.finish(url, .failed(isLast ? last ?? failure : failure))
        }
        try agent.finishJobs()
        #expect(agent.plan.book.downloads.origins["https://h.example:443"]?.isBroken == true)
        return agent
    }

    @Test("a broken origin is probed once after a reload that may let it answer, and then has all requests")
    func brokenOrigin() throws {
        for failure in [FetchFailure(.tls, "not trusted"), .timeout("10 s"), FetchFailure(.dns, "unknown")] {
            var agent = try Self.broken(failure)
            try Self.configured(&agent) { $0.images.allowSVG = true }
            #expect(agent.downloads.count == (failure.code == .fetch(.tls) ? 1 : 0))
            agent = try Self.broken(failure)
            try Self.configured(&agent) { $0.fetch.caFile = "/ca.pem" }
            #expect(agent.downloads.count == 1)
            var fails = agent
            try fails.finishAll(.failed(failure))
            #expect(fails.downloads.isEmpty)
            try agent.finish(try #require(agent.downloads.keys.first), with: "x")
            #expect(agent.downloads.count == 4)
            while let url = agent.downloads.keys.min() { try agent.finish(url, with: url) }
            #expect(agent.plan.status.icons.failed == 0 && agent.plan.status.downloads.waiting == 0)
        }
    }

    @Test("a delay that a broken origin asked for goes on after a reload")
    func askedDelay() throws {
        var agent = try Self.broken(.timeout("10 s"), last: .status(429, retryAfter: .seconds(5000)))
        let end = try #require(agent.plan.book.downloads.origins["https://h.example:443"]?.waitsUntil)
        #expect(end >= agent.now + .seconds(5000))
        try Self.configured(&agent) { $0.fetch.idleTimeout = .seconds(30) }
        #expect(agent.downloads.isEmpty)
        try agent.pass(end - agent.now - .seconds(1))
        #expect(agent.downloads.isEmpty)
        try agent.pass(.seconds(1))
        #expect(agent.downloads.count == 1)
    }

    @Test("a wait after failures ends with a reload also if it began under a higher fetch.retryMax, before a restart")
    func lowerLimit() throws {
        var agent = try Self.broken(.timeout("10 s"))
        (agent.settings.fetch.retryBase, agent.settings.fetch.retryMax) = (.seconds(1), .seconds(1))
        try agent.pass(.seconds(2))
        try agent.restart()
        try agent.scan(agent.lists)
        #expect(agent.downloads.isEmpty)
        try Self.configured(&agent) { $0.fetch.idleTimeout = .seconds(30) }
        #expect(agent.downloads.count == 1)
    }

    enum Change: CaseIterable {
        case credential, sender, timeout, images

        func apply(to settings: inout Settings) {
            switch self {
            case .credential: settings.credentials = Credentials()
            case .sender: settings.fetch.userAgent = "Other"
            case .timeout: settings.fetch.idleTimeout = .seconds(30)
            case .images: settings.images.allowSVG = true
            }
        }
    }

    /// An icon with a credential (`a`), and one without.
    @Test(
        "a request that was under way at reloads is repeated for those changes for which it would be after its end",
        arguments: [
            // The credential may have been the reason, also if something else changes later.
            (404, [.credential], 1), (404, [.credential, .timeout], 1), (403, [.credential, .images], 1),
            (404, [.timeout], 0), (404, [.images], 0), (404, [.sender], 0),
            // With a credential, each reload may end a 403; without one, another sender may.
            (403, [.timeout], 1), (403, [.sender], 2), (403, [.sender, .timeout], 2),
            (406, [.timeout], 0), (406, [.images], 0), (406, [.sender], 2),
        ] as [(Int, [Change], Int)])
    func underWay(status: Int, changes: [Change], repeated: Int) throws {
        let credential = Credential(host: "h.example", lists: ["1.plist"], isPublic: true, proof: .bearer(Secret("x")))
        var agent = AgentScenario { $0.credentials = Credentials([credential]) }
        try agent.scan(["1.plist": [Self.a, "https://i.example/b.png"]])
        var idle = agent
        #expect(agent.downloads.count == 2)
        for change in changes { try Self.configured(&agent, change.apply) }
        try agent.finishAll(.failed(.status(status)))
        #expect(agent.downloads.count == repeated)
        guard changes.count == 1 else { return }
        try idle.finishAll(.failed(.status(status)))
        try idle.finishJobs()
        try Self.configured(&idle, changes[0].apply)
        #expect(idle.downloads.keys == agent.downloads.keys)
    }

    @Test("a request that was under way at a reload and fails by its old limits is repeated at once, but once")
    func underWay() throws {
        var agent = AgentScenario { ($0.fetch.retryBase, $0.fetch.retryMax) = (.seconds(10_000), .seconds(10_000)) }
        try agent.scan(["1.plist": [Self.a]])
        try Self.configured(&agent) { $0.fetch.idleTimeout = .seconds(30) }
        try agent.finish(Self.a, .failed(.timeout("10 s")))
        #expect(agent.downloads[Self.a] != nil)
        try agent.finish(Self.a, .failed(.timeout("30 s")))
        #expect(agent.downloads.isEmpty)
        try agent.scan(["1.plist": [Self.a, Self.b]])
        try Self.configured(&agent) { $0.images.allowSVG = true }
        try agent.finish(Self.b, .failed(.timeout("30 s")))
        #expect(agent.downloads.isEmpty)
    }

    @Test("a refresh that a user asked for stays the user's when it is repeated after a reload")
    func awaited() throws {
        var agent = AgentScenario()
        try agent.publish(["1.plist": [Self.a: "x"]])
        try agent.handle(.request([Self.a], isRefresh: true))
        try Self.configured(&agent) { $0.fetch.idleTimeout = .seconds(30) }
        try agent.finish(Self.a, .failed(.timeout("10 s")))
        #expect(agent.downloads[Self.a] != nil && !agent.plan.syncReport(of: ["1.plist"]).isDone)
        try agent.finish(Self.a, with: "x")
        #expect(agent.plan.syncReport(of: ["1.plist"]).isDone)
    }

    @Test("a reload reads the file of authorities again, and retries the icons of servers that were not trusted")
    func authorities() throws {
        var agent = AgentScenario { $0.fetch.caFile = "/ca.pem" }
        try agent.scan(["1.plist": [Self.a]])
        try agent.finish(Self.a, .failed(FetchFailure(.tls, "not trusted")))
        try Self.configured(&agent) { _ in }
        #expect(agent.downloads[Self.a] != nil)
    }

    @Test("an icon that a server hid with 404 from a wrong credential is retried when that is replaced, or removed")
    func credentials() throws {
        func credential(_ token: String) -> Credential {
            Credential(host: "h.example", lists: ["1.plist"], isPublic: true, proof: .bearer(Secret(token)))
        }
        var agent = AgentScenario { $0.credentials = Credentials([credential("wrong")]) }
        try agent.scan(["1.plist": [Self.a, "https://i.example/b.png"]])
        while !agent.downloads.isEmpty { try agent.finishAll(.failed(.status(404))) }
        try agent.finishPublication()
        for entries in [[credential("right")], []] {
            var agent = agent
            try Self.configured(&agent) { $0.credentials = Credentials(entries) }
            #expect(Array(agent.downloads.keys) == [Self.a])
        }
        try Self.configured(&agent) { _ in }
        #expect(agent.downloads.isEmpty, "the server would be asked for all that it lacks at each reload")
    }

    @Test("a host that is denied now is not asked for what waits; one that is allowed again is")
    func hosts() throws {
        var agent = AgentScenario { $0.fetch.perHost = 1 }
        try agent.scan(["1.plist": [Self.a, Self.b]])
        #expect(agent.downloads.count == 1)
        let first = try #require(agent.downloads.keys.first)
        try Self.configured(&agent) { $0.network.denyHosts = [HostPattern("h.example")].compactMap(\.self) }
        try agent.finish(first, .failed(.status(404)))
        try agent.finishPublication()
        #expect(agent.plan.status.icons.failed == 2 && agent.downloads.isEmpty)
        try Self.configured(&agent) { $0.network.denyHosts = [] }
        #expect(Set(agent.downloads.keys) == [first == Self.a ? Self.b : Self.a])
    }

    @Test("a higher limit begins more downloads, and a lower limit lets running downloads go on")
    func limits() throws {
        var agent = AgentScenario { $0.fetch.perHost = 1 }
        let urls = (0..<6).map { IconURL("https://h.example/\($0).png") }
        try agent.scan(["1.plist": urls])
        #expect(agent.downloads.count == 1)
        try Self.configured(&agent) { $0.fetch.perHost = 4 }
        #expect(agent.downloads.count == 4)
        try Self.configured(&agent) { $0.fetch.perHost = 2 }
        #expect(agent.downloads.count == 4 && agent.cancelled.isEmpty)
        for url in agent.downloads.keys.sorted().prefix(2) { try agent.finish(url, .failed(.status(404))) }
        #expect(agent.downloads.count == 2)
        for url in agent.downloads.keys.sorted() { try agent.finish(url, .failed(.status(404))) }
        #expect(agent.downloads.count == 2)
    }

    @Test("a reload with higher limits begins more downloads at once")
    func concurrency() throws {
        var agent = AgentScenario { $0.fetch.concurrency = 1 }
        try agent.scan(["1.plist": (0..<3).map { IconURL("https://\($0).example/a.png") }])
        #expect(agent.downloads.count == 1)
        try Self.configured(&agent) { $0.fetch.concurrency = 32 }
        #expect(agent.downloads.count == 3)
    }

    @Test("delays and freshness lifetimes after a reload follow the new settings")
    func times() throws {
        var agent = AgentScenario()
        try Self.configured(&agent) {
            ($0.fetch.retryBase, $0.fetch.retryMax) = (.seconds(7200), .seconds(14_400))
            ($0.refresh.minimum, $0.refresh.default) = (.seconds(7200), .seconds(7 * 86_400))
        }
        try agent.scan(["1.plist": [Self.a, Self.b, "https://h.example/c.png"]])
        try agent.finish(Self.a, with: "a", answer: Sample.response([]))
        try agent.finish(Self.b, with: "b", answer: Sample.response([(name: "Cache-Control", value: "max-age=60")]))
        try agent.finish("https://h.example/c.png", .failed(.status(500)))
        while agent.publication != nil { try agent.finishPublication() }
        func rule(_ url: IconURL) -> String { agent.plan.report(on: url, now: agent.now)?.rule ?? "" }
        #expect(rule(Self.a).hasPrefix("refresh.default (7d ± 20 %)"), "\(rule(Self.a))")
        #expect(rule(Self.b).hasPrefix("refresh.minimum (2h)"), "\(rule(Self.b))")
        #expect(rule("https://h.example/c.png").contains("fetch.retryBase (2h), doubled for each failure"))
    }

    @Test("an eviction is held by the new threshold, and for the new time")
    func holds() throws {
        var agent = AgentScenario()
        try agent.publish(["1.plist": [Self.a: "x", Self.b: "y"]])
        try Self.configured(&agent) { $0.eviction.holdAbove = HoldThreshold(percent: 10, images: 1) }
        try agent.scan(["1.plist": []])
        #expect(agent.plan.status.eviction.state == "held")
        try Self.configured(&agent) { $0.eviction.holdFor = .zero }
        #expect(agent.plan.status.eviction.state == "active")
    }

    @Test("a changed grace applies to icons that are retired already")
    func grace() throws {
        var agent = AgentScenario { $0.cache.grace = .seconds(600) }
        try agent.publish(["1.plist": [Self.a: "x", Self.b: "y"]])
        try agent.scan(["1.plist": [Self.a]])
        try agent.finishPublication()
        try agent.pass(.seconds(60))
        #expect(agent.releases == nil)
        try Self.configured(&agent) { $0.cache.grace = .seconds(30) }
        try agent.pass(.seconds(1))
        #expect(agent.releases != nil)
    }

    @Test("a rejected configuration is reported until one is accepted")
    func rejected() throws {
        var agent = AgentScenario()
        #expect(agent.plan.status.configuration.error == nil)
        try agent.handle(.misconfigured(reason: "f:2: no"))
        #expect(agent.plan.status.configuration.error == "f:2: no" && agent.plan.status.needsAttention)
        try Self.configured(&agent) { _ in }
        #expect(agent.plan.status.configuration.error == nil)
    }
}
