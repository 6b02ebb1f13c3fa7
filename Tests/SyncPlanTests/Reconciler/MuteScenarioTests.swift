// SPDX-License-Identifier: Apache-2.0
import AppLists
import CacheFormat
import HTTPRules
import Reports
import Testing

@testable import SyncPlan

@Suite("Known failures are muted")
struct MuteScenarioTests {
    private static let a: IconURL = "https://h.example/a.png"
    private static let b: IconURL = "https://h.example/b.png"
    private static let day: Duration = .seconds(86_400)

    /// An agent with one list of each icon, which fail with 404 and 503.
    private static func failing() throws -> AgentScenario {
        var agent = AgentScenario()
        try agent.scan(["1.plist": [a], "2.plist": [b]])
        try agent.finish(a, .failed(.status(404)))
        try agent.finish(b, .failed(.status(503)))
        try agent.finishJobs()
        return agent
    }

    /// The codes of the problems, without notices.
    private static func problems(_ agent: AgentScenario) -> [String] {
        agent.plan.status.problems.filter { $0.severity == .problem }.map(\.code)
    }

    @Test(
        "a muted icon makes no problem, whether its URL or each of its lists is muted",
        arguments: [
            ([], ["http-404", "http-503"]), ([.icon(a)], ["http-503"]), ([.list("1.plist")], ["http-503"]),
            ([.icon(a), .icon(b)], []), ([.list("1.plist"), .list("2.plist")], []),
            ([.list("1.plist"), .icon(b)], []),
            ([.list("none.plist"), .icon("https://h.example/c")], ["http-404", "http-503"]),
        ] as [([MuteTarget], [String])])
    func targets(muted: [MuteTarget], problems: [String]) throws {
        var agent = try Self.failing()
        let requests = agent.requests.count
        for target in muted { try agent.handle(.mute(target, isMuted: true)) }
        let status = agent.plan.status
        #expect(Self.problems(agent).sorted() == problems && status.needsAttention == !problems.isEmpty)
        #expect(status.icons.failed == 2 && status.muted == muted.count)
        #expect(status.problems.contains { $0.known == .muted } == !muted.isEmpty)
        #expect(agent.requests.count == requests, "a mute changes no download")
        for target in muted { try agent.handle(.mute(target, isMuted: false)) }
        #expect(Self.problems(agent).sorted() == ["http-404", "http-503"] && agent.plan.status.muted == 0)
        #expect(agent.events.suffix(2 * muted.count) == (muted.map { .muted($0) } + muted.map { .unmuted($0) })[...])
    }

    @Test("an icon of several lists counts until all of them, or its URL, are muted")
    func severalLists() throws {
        var agent = try Self.failing()
        try agent.scan(["2.plist": [Self.a, Self.b]])
        try agent.handle(.mute(.list("1.plist"), isMuted: true))
        #expect(Self.problems(agent).contains("http-404"))
        #expect(agent.plan.report(on: Self.a, now: agent.now)?.mutes == [])
        try agent.handle(.mute(.list("2.plist"), isMuted: true))
        #expect(Self.problems(agent).isEmpty)
        #expect(agent.plan.report(on: Self.a, now: agent.now)?.mutes?.compactMap(\.list) == ["1.plist", "2.plist"])
    }

    @Test("an example of a failure is an icon that is not muted, and the row counts those that are")
    func examples() throws {
        var agent = AgentScenario()
        let urls = (1...3).map { IconURL("https://h.example/\($0)") }
        try agent.scan(["1.plist": urls])
        for url in urls { try agent.finish(url, .failed(.status(404))) }
        for url in urls.prefix(2) { try agent.handle(.mute(.icon(url), isMuted: true)) }
        let row = try #require(agent.plan.status.failures.first)
        #expect(row.icons == 3 && row.muted == 2 && row.example == urls[2])
        #expect(agent.plan.status.problems.first?.count == 1)
    }

    @Test("a list that is not accepted makes no problem while it is muted")
    func rejected() throws {
        var agent = AgentScenario()
        try agent.scan([:], rejected: ["1.plist": .emptyFile])
        #expect(agent.plan.status.needsAttention)
        try agent.handle(.mute(.list("1.plist"), isMuted: true))
        let status = agent.plan.status
        #expect(!status.needsAttention && status.lists.first?.muted == true && status.lists.first?.state == .rejected)
    }

    @Test("a muted icon stays muted when it is ready, and its next failure is muted too")
    func recovery() throws {
        var agent = try Self.failing()
        try agent.handle(.mute(.icon(Self.a), isMuted: true))
        try agent.handle(.request([Self.a], isRefresh: false))
        try agent.finish(Self.a, with: "x")
        try agent.finishJobs()
        #expect(agent.plan.status.muted == 1 && agent.plan.failedIcons(now: agent.now)[.muted] == nil)
        try agent.pass(Self.day * 3)
        try agent.finish(Self.a, .failed(.status(404)))
        let failed = agent.plan.failedIcons(now: agent.now)
        #expect(failed[.muted]?.failed == 0 && failed[.muted]?.staleSince != nil)
        #expect(!agent.plan.status.problems.contains { $0.known == .stale })
    }

    @Test("failed icons are counted by how long their failures are likely to last")
    func outlooks() throws {
        var agent = try Self.failing()
        #expect(agent.plan.failedIcons(now: agent.now).mapValues(\.failed) == [.lasting: 1, .temporary: 1])
        try agent.handle(.mute(.icon(Self.a), isMuted: true))
        #expect(agent.plan.failedIcons(now: agent.now).mapValues(\.failed) == [.muted: 1, .temporary: 1])
    }

    @Test("a mute is stored at once, outlives the agent, and so does its end")
    func restart() throws {
        var agent = try Self.failing()
        try agent.handle(.mute(.icon(Self.a), isMuted: true))
        try agent.handle(.mute(.list("2.plist"), isMuted: true, until: agent.now + Self.day))
        #expect(agent.memory.values.mutes?.map(\.target) == [.list("2.plist"), .icon(Self.a)])
        try agent.restart()
        #expect(agent.plan.muteReport().mutes.map(\.until) == ["\(agent.now + Self.day)", nil])
        try agent.handle(.mute(.icon(Self.a), isMuted: false))
        #expect(agent.memory.values.mutes?.map(\.target) == [.list("2.plist")])
        try agent.restart()
        #expect(agent.plan.muteReport().mutes.compactMap(\.list) == ["2.plist"])
    }

    @Test("a mute ends with its time, which a later one replaces")
    func end() throws {
        var agent = try Self.failing()
        try agent.handle(.mute(.icon(Self.a), isMuted: true, until: agent.now + Self.day))
        try agent.handle(.mute(.icon(Self.a), isMuted: true, until: agent.now + .seconds(60)))
        try agent.pass(.seconds(59))
        #expect(agent.plan.status.muted == 1)
        try agent.pass(.seconds(1))
        #expect(agent.plan.status.muted == 0 && agent.events.last == .unmuted(.icon(Self.a)))
        #expect(agent.memory.values.mutes == nil)
    }

    @Test("a mute lasts no longer than it was to, whatever the clock was", arguments: [day * 400, .zero - day * 30])
    func clock(error: Duration) throws {
        var agent = try Self.failing()
        try agent.handle(.mute(.icon(Self.a), isMuted: true, until: agent.now + Self.day))
        try agent.restart(at: agent.now + (.zero - error))
        // Each start could begin the time anew.
        try agent.pass(.seconds(2))
        try agent.restart(at: agent.now + .seconds(3600))
        try agent.pass(Self.day - .seconds(1800))
        #expect(agent.plan.status.muted == 0)
    }

    @Test("a purge forgets what is muted")
    func purge() throws {
        var agent = try Self.failing()
        try agent.handle(.mute(.icon(Self.a), isMuted: true))
        try agent.handle(.purge)
        #expect(agent.plan.status.muted == 0)
    }

    @Test("there is a limit to what can be muted, and to the length of a URL")
    func limits() throws {
        var agent = AgentScenario()
        for number in 0..<Reconciler.mostMutes {
            try agent.handle(.mute(.icon("https://h.example/\(number)"), isMuted: true))
        }
        #expect(agent.plan.flaw(inMute: .icon("https://h.example/0")) == nil)
        #expect(agent.plan.flaw(inMute: .list("a.plist"))?.hasPrefix("1000 URLs and lists are muted") == true)
        // Of two clients that were asked at once, the later one is refused.
        try agent.handle(.mute(.list("a.plist"), isMuted: true))
        #expect(agent.plan.muteReport().mutes.count == Reconciler.mostMutes)
        let long = IconURL("https://h.example/" + String(repeating: "a", count: AgentEvent.longestURL))
        #expect(agent.plan.flaw(inMute: .icon(long)) == "longer than 4096 bytes: mute its list")
    }
}
