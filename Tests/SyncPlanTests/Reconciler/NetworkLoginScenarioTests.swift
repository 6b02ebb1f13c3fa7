// SPDX-License-Identifier: Apache-2.0
import AgentSettings
import AppLists
import CacheFormat
import HTTPRules
import ImageChecks
import Reports
import Testing

@testable import SyncPlan

@Suite("Icons behind the login page of a network")
struct NetworkLoginScenarioTests {
    private static let urls: [IconURL] = ["http://a.example/1", "http://a.example/2", "http://b.example/1"]
    private static let login = page(1)

    private static func page(_ number: UInt8) -> FetchOutcome {
        var failure = FetchFailure.image(.notAnImage(hint: "HTML"))
        failure.page = FetchFailure.Page(body: .of([number]))
        return .failed(failure)
    }

    private static func codes(_ agent: AgentScenario) -> [String] { agent.plan.status.failures.map(\.code) }

    @Test("an agent requests few new icons each minute while a network's login answers, and all after the login")
    func retried() throws {
        var agent = AgentScenario()
        try agent.scan(["1.plist": Self.urls])
        for url in Self.urls { try agent.finish(url, Self.login) }
        try agent.finishJobs()
        #expect(try agent.published("1.plist") == Array(repeating: .failed(error: "network-login"), count: 3))
        let failure = try #require(agent.plan.status.failures.first)
        #expect(failure.code == "network-login" && failure.message.hasSuffix("log in to the network"))
        #expect(agent.plan.status.verdict.sentence == "NETWORK LOGIN: 3 icons wait.")
        #expect(agent.plan.status.needsAttention)
        for _ in 0..<10 {
            try agent.pass(.seconds(72))
            #expect(Set(agent.downloads.keys) == [Self.urls[0], Self.urls[2]])
            try agent.finishAll(Self.login)
        }
        let waiting = try #require(agent.plan.report(on: Self.urls[1], now: agent.now))
        #expect(waiting.next == "retry at \(waiting.failure?.nextAttempt ?? ""), or as soon as a server answers")
        #expect(waiting.rule == "one failure: a few icons each minute, for an hour, and all when a server answers")
        let due = try #require(agent.plan.icon(Self.urls[1])?.failure?.nextAttempt)
        #expect((Sample.start + .seconds(3600)...Sample.start + .seconds(4200)).contains(due))
        let other = try #require(agent.plan.report(on: Self.urls[0], now: agent.now))
        #expect(other.next == "retry at \(other.failure?.nextAttempt ?? "")")
        try agent.pass(.seconds(72))
        try agent.finish(Self.urls[0], with: Self.urls[0])
        #expect(agent.plan.status.problems.first?.count == 2)
        #expect(Set(agent.downloads.keys) == Set(Self.urls.dropFirst()))
        for url in Self.urls.dropFirst() { try agent.finish(url, with: url) }
        try agent.finishJobs()
        #expect(agent.plan.status.icons.ready == 3 && agent.plan.status.failures.isEmpty)
        #expect(agent.plan.status.problems.allSatisfy { $0.code != "network-login" })
    }

    @Test("when a list's new version has other icons, some of those are requested each minute")
    func otherIcons() throws {
        var agent = AgentScenario()
        try agent.scan(["1.plist": Self.urls])
        try agent.finishAll(Self.login)
        let others: [IconURL] = ["http://a.example/3", "http://a.example/4", "http://b.example/2"]
        try agent.scan(["1.plist": others])
        #expect(Set(agent.downloads.keys) == Set(others))
        for url in others { try agent.finish(url, Self.login) }
        try agent.pass(.seconds(72))
        #expect(Set(agent.downloads.keys) == [others[0], others[2]])
    }

    @Test("an icon that is requested each minute leaves that to another one when its list goes")
    func otherList() throws {
        var agent = AgentScenario()
        try agent.scan(["1.plist": Self.urls])
        try agent.finishAll(Self.login)
        try agent.scan(["1.plist": [Self.urls[1]]])
        #expect(agent.downloads.isEmpty)
        try agent.pass(.seconds(72))
        try agent.finish(Self.urls[1], with: Self.urls[1])
        try agent.finishJobs()
        #expect(agent.plan.status.icons.ready == 1)
    }

    @Test("an icon that is requested each minute leaves that to another one when it fails in another way")
    func otherFailure() throws {
        var agent = AgentScenario()
        try agent.scan(["1.plist": Self.urls])
        for url in Self.urls { try agent.finish(url, Self.login) }
        try agent.pass(.seconds(72))
        try agent.finish(Self.urls[0], .failed(FetchFailure(.addressRefused, "x")))
        try agent.finish(Self.urls[2], Self.login)
        #expect(agent.downloads.isEmpty)
        let failed = try #require(agent.plan.report(on: Self.urls[0], now: agent.now))
        #expect(failed.next == "retry at \(failed.failure?.nextAttempt ?? "")")
        try agent.pass(.seconds(72))
        #expect(Set(agent.downloads.keys) == [Self.urls[1], Self.urls[2]])
        try agent.finish(Self.urls[1], .failed(FetchFailure(.addressRefused, "x")))
        let report = try #require(agent.plan.report(on: Self.urls[1], now: agent.now))
        #expect(report.next == "retry at \(report.failure?.nextAttempt ?? "")")
    }

    @Test("an icon that waits for a login and fails in another way is not said to be retried when a server answers")
    func waitEnded() throws {
        var agent = AgentScenario()
        try agent.scan(["1.plist": Self.urls])
        for url in Self.urls { try agent.finish(url, Self.login) }
        try agent.pass(.seconds(5))
        try agent.handle(.request([Self.urls[1]], isRefresh: false))
        try agent.finish(Self.urls[1], .failed(FetchFailure(.addressRefused, "x")))
        let report = try #require(agent.plan.report(on: Self.urls[1], now: agent.now))
        #expect(report.next == "retry at \(report.failure?.nextAttempt ?? "")")
    }

    @Test("an icon whose URL differs in its fragment from one that waits for a login asks once, and waits too")
    func fragment() throws {
        var agent = AgentScenario()
        try agent.scan(["1.plist": Self.urls])
        for url in Self.urls { try agent.finish(url, Self.login) }
        let other: IconURL = "http://a.example/2#x"
        try agent.scan(["2.plist": [other]])
        try agent.finish(other, Self.login)
        #expect(agent.plan.icon(other)?.failure?.code == .fetch(.networkLogin))
        let report = try #require(agent.plan.report(on: other, now: agent.now))
        #expect(report.next.hasSuffix(", or as soon as a server answers"))
        try agent.pass(.seconds(72))
        try agent.finish(Self.urls[0], with: Self.urls[0])
        #expect(agent.plan.icon(other)?.phase == .fetching)
    }

    @Test("an agent retries icons by their usual backoff once a network's login was suspected for an hour")
    func hour() throws {
        var agent = AgentScenario()
        try agent.scan(["1.plist": Self.urls])
        for _ in 0...60 {
            try agent.finishAll(Self.login)
            try agent.pass(.seconds(72))
        }
        try agent.finishAll(Self.login)
        #expect(Self.codes(agent) == ["not-an-image"])
        #expect(agent.plan.status.problems.allSatisfy { $0.code != "network-login" })
        #expect(agent.requests.count { $0.url == Self.urls[1] } == 2)
        let count = agent.requests.count
        try agent.pass(.seconds(1800))
        #expect(agent.requests.count == count)
    }

    @Test("an icon with an image keeps it and its code while a network's login answers")
    func kept() throws {
        var agent = AgentScenario()
        try agent.publish(["1.plist": Dictionary(uniqueKeysWithValues: Self.urls.map { ($0, $0.text) })])
        try agent.pass(.seconds(10 * 86_400))
        try agent.finishAll(Self.login)
        try agent.finishJobs()
        #expect(agent.plan.status.icons.ready == 3 && agent.plan.status.icons.stale == 3)
        #expect(agent.plan.status.refreshFailures.map(\.code) == ["not-an-image"])
    }

    @Test("an agent that starts again behind a network's login requests all of its icons, and few after that")
    func restarted() throws {
        var agent = AgentScenario()
        try agent.scan(["1.plist": Self.urls])
        try agent.finishAll(Self.login)
        try agent.finishJobs()
        try agent.pass(.seconds(5))
        try agent.restart()
        try agent.scan(["1.plist": Self.urls])
        #expect(Set(agent.downloads.keys) == Set(Self.urls))
        try agent.finishAll(Self.login)
        #expect(Self.codes(agent) == ["network-login"])
        try agent.pass(.seconds(72))
        #expect(agent.downloads.count == 2)
    }

    // MARK: Pages of servers

    /// Two servers with one page for three icons each, and servers that have icons.
    private static let pages: [IconURL] = (0..<6).map { IconURL("http://\($0 < 3 ? "x" : "y").example/\($0)") }
    private static let icons: [IconURL] = (10..<24).map { IconURL("http://s\($0 % 4).example/\($0)") }

    /// Lets all downloads end, in the order of their URLs or against it, until there are no more.
    private static func answer(_ agent: inout AgentScenario, backwards: Bool = false) throws {
        while let url = backwards ? agent.downloads.keys.max() : agent.downloads.keys.min() {
            if pages.contains(url) { try agent.finish(url, page(1)) } else { try agent.finish(url, with: url) }
        }
        try agent.finishJobs()
    }

    @Test(
        "icons that always lead to a page are not behind a network's login, whatever comes first, nor after a restart",
        arguments: [false, true])
    func pagesOfServers(pagesFirst: Bool) throws {
        var agent = AgentScenario()
        try agent.scan(["1.plist": Self.pages + Self.icons])
        try Self.answer(&agent, backwards: pagesFirst)
        #expect(Self.codes(agent) == ["not-an-image"] && agent.plan.status.icons.ready == Self.icons.count)
        let first = agent.requests.count
        #expect(first <= Self.icons.count + 2 * Self.pages.count)
        for hour in 1...12 {
            if hour == 6 {
                try agent.restart()
                try agent.scan(["1.plist": Self.pages + Self.icons])
                try Self.answer(&agent)
            }
            try agent.pass(.seconds(3600))
            try Self.answer(&agent)
            #expect(Self.codes(agent) == ["not-an-image"], "after \(hour) h")
        }
        #expect(agent.requests.count <= first + 8 * Self.pages.count)
    }

    @Test("while a network's login is suspected, another page is a server's answer, and ends it")
    func otherPage() throws {
        var agent = AgentScenario()
        try agent.scan(["1.plist": Self.urls])
        try agent.finishAll(Self.login)
        try agent.scan(["2.plist": ["http://c.example/1"]])
        try agent.finish("http://c.example/1", Self.page(2))
        #expect(agent.plan.icon("http://c.example/1")?.failure?.code == .image(.notAnImage))
        #expect(Set(agent.downloads.keys) == Set(Self.urls))
        try agent.finishAll(Self.login)
        #expect(Self.codes(agent) == ["not-an-image"])
    }
}
