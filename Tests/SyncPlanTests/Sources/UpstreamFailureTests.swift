// SPDX-License-Identifier: Apache-2.0
import AppLists
import CacheFormat
import Reports
import Testing

@testable import AgentSettings
@testable import Fleet
@testable import HTTPRules
@testable import SyncPlan

@Suite("Failures that upstreams report")
struct UpstreamFailureTests {
    private let icon: IconURL = "https://a.example/1.png"
    private static let failed = AppListDocument.State.failed(error: "http-404")

    /// An agent whose upstream reports that the icon failed.
    private func reported(_ fallback: Settings.Upstream.Fallback = .origin) throws -> AgentScenario {
        var agent = AgentScenario.withUpstreams { $0.fallback = fallback }
        try agent.scan(["1.plist": [icon]])
        try agent.finishPoll([icon: Self.failed])
        #expect(try agent.settledStates() == [Self.failed])
        return agent
    }

    @Test(
        "a failure that an upstream no longer reports is over, also after a restart",
        arguments: [AppListDocument.State.pending, nil], [false, true])
    func withdrawn(state: AppListDocument.State?, isRestarted: Bool) throws {
        var agent = try reported(.never)
        if isRestarted { try agent.beginAgain() }
        #expect(try agent.settledStates() == [Self.failed], "its manifest was not read yet")
        try agent.finishPoll(state.map { [icon: $0] } ?? [:], generation: 2)
        #expect(try agent.settledStates() == [.pending])
        #expect(agent.requests.isEmpty && agent.plan.status.downloads.awaitingUpstream == 1)
        try agent.finishPoll([icon: UpstreamSample.ready("x")], generation: 3)
        #expect(agent.requests.last?.copy != nil)
    }

    @Test("a failure that an upstream reports does not count while another one has the image, but cannot be asked")
    func broken() throws {
        var agent = AgentScenario.withUpstreams([UpstreamSample.first, UpstreamSample.second]) { $0.fallback = .never }
        let icons = (1...20).map { IconURL("https://a.example/\($0).png") }
        try agent.scan(["1.plist": icons])
        for _ in 0..<2 {
            let poll = try agent.awaitPoll()
            let states =
                poll.url == UpstreamSample.first
                ? [icon: Self.failed] : Dictionary(icons.map { ($0, UpstreamSample.ready($0.text)) }) { a, _ in a }
            let contents = try UpstreamSample.contents(of: poll.url, states)
            try agent.handle(.polled(UpstreamAnswer(url: poll.url, epoch: poll.epoch, .accepted(contents))))
        }
        while !agent.downloads.isEmpty { try agent.finishAll(.failed(.status(500))) }
        #expect(agent.plan.status.upstreams.last?.state == "broken")
        #expect(agent.plan.icon(icon)?.failure == nil)
    }

    @Test("a failure is over once the manifest is stale", arguments: [false, true])
    func stale(isClockSet: Bool) throws {
        var agent = try reported(.never)
        if isClockSet {
            try agent.handle(.clockSet(offset: .seconds(30 * 86_400)))
        } else {
            while agent.plan.status.upstreams.first?.state != "stale" {
                agent.polls = []
                try agent.handle(.polled(UpstreamAnswer(url: UpstreamSample.first, .unchanged())))
                try agent.passToNextWake()
            }
        }
        #expect(try agent.settledStates() == [.pending])
        #expect(agent.plan.status.downloads.awaitingUpstream == 1)
    }

    @Test("a failure is over once the manifest is stale, also if the upstream was not read since a restart")
    func staleUnread() throws {
        var agent = try reported(.never)
        try agent.beginAgain()
        #expect(try agent.settledStates() == [Self.failed])
        let end = agent.now + .seconds(72 * 3600)
        while agent.now < end {
            for poll in agent.polls {
                let failure = UpstreamFailure(.damaged, "it answers with a page")
                try agent.handle(
                    .polled(UpstreamAnswer(url: poll.url, epoch: poll.epoch, .failed(failure, found: [:]))))
            }
            agent.polls = []
            try agent.passToNextWake()
        }
        #expect(try agent.settledStates() == [.pending])
    }

    @Test("the failure of all URLs of a key is over once no upstream reports that of the last one")
    func keys() throws {
        let host = try #require(HostPattern("a.example"))
        var agent = AgentScenario {
            $0.upstream.urls = [UpstreamSample.first]
            $0.upstream.spread = .zero
            $0.upstream.fallback = .never
            $0.keys = CacheKeys([CacheKeys.Rule(host: host, ignored: ["sig"])])
        }
        let (old, new): (IconURL, IconURL) = ("https://a.example/1.png?sig=1", "https://a.example/1.png?sig=2")
        try agent.scan(["1.plist": [old], "2.plist": [new]])
        try agent.finishPoll([old: Self.failed, new: Self.failed])
        try agent.finishJobs()
        #expect(agent.plan.status.icons.failed == 2)
        try agent.finishPoll([old: .pending, new: .pending], generation: 2)
        #expect(agent.plan.status.icons.failed == 0)
    }

    @Test("the failure that an upstream reported which left the settings is over", arguments: [false, true])
    func replaced(isRestarted: Bool) throws {
        for urls in [[UpstreamSample.second], [UpstreamSample.second, UpstreamSample.first]] {
            var agent = try reported()
            agent.settings.upstream.urls = urls
            if isRestarted { try agent.beginAgain() } else { try agent.handle(.configured(agent.settings)) }
            let status = agent.plan.status
            #expect(agent.requests.isEmpty && status.downloads.awaitingUpstream == 1)
            #expect(status.icons.failed == urls.count - 1, "one that was not read yet may still report it")
        }
    }

    @Test("an upstream that was not read since the start is heard before its failure is over")
    func twoUpstreams() throws {
        var agent = try reported()
        agent.settings.upstream.urls = [UpstreamSample.second, UpstreamSample.first]
        try agent.beginAgain()
        var polls = [try agent.awaitPoll(), try agent.awaitPoll()]
        polls.sort { $0.url == UpstreamSample.second && $1.url != UpstreamSample.second }
        let states: [[IconURL: AppListDocument.State]] = [[icon: .pending], [icon: Self.failed]]
        for (poll, state) in zip(polls, states) {
            let contents = try UpstreamSample.contents(of: poll.url, state, generation: 2, published: agent.now)
            try agent.handle(.polled(UpstreamAnswer(url: poll.url, epoch: poll.epoch, .accepted(contents))))
            #expect(try agent.settledStates() == [Self.failed])
        }
        #expect(agent.events.count { $0.kind == .iconFailed } == 1)
    }
}

extension AgentScenario {
    /// The states of the list's icons once all is published.
    fileprivate mutating func settledStates() throws -> [AppListDocument.State] {
        try finishJobs()
        try pass(.seconds(5))
        try finishJobs()
        return try published("1.plist")
    }

    fileprivate mutating func beginAgain() throws {
        polls = []
        try restart()
        try scan()
    }
}
