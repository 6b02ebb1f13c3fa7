// SPDX-License-Identifier: Apache-2.0
import AppLists
import CacheFormat
import Reports
import Testing

@testable import Fleet
@testable import HTTPRules
@testable import SyncPlan

@Suite("Reports on upstreams")
struct UpstreamReportTests {
    private let icon: IconURL = "https://a.example/1.png"

    private func words(_ agent: AgentScenario) throws -> (status: String?, why: String?) {
        let report = try #require(agent.plan.report(on: icon, now: agent.now))
        return (agent.plan.status.upstreams.first?.state.text, report.upstreams.first?.says)
    }

    private func obstacle(_ agent: AgentScenario) throws -> String? {
        try #require(agent.plan.report(on: icon, now: agent.now)).upstreams.first?.obstacle
    }

    @Test("an upstream without an accepted manifest is in the same state for status and for why")
    func unread() throws {
        var agent = AgentScenario.withUpstreams()
        try agent.scan(["1.plist": [icon]])
        #expect(try words(agent) == ("unknown", "unknown"))
        try agent.finishPoll(.failed(UpstreamFailure(FetchFailure(.tls, "not trusted"))))
        #expect(try words(agent) == ("broken", "broken"))
        #expect(try obstacle(agent) == "not trusted [tls]")
        try agent.finishPoll(.failed(UpstreamFailure(.signature, "not signed")))
        #expect(try words(agent) == ("refused", "refused"))
        try agent.finishPoll([:])
        #expect(try words(agent) == ("fresh", "unlisted"))
        try agent.finishPoll(.failed(UpstreamFailure(.signature, "not signed")))
        #expect(try words(agent) == ("refused", "unlisted"))
        #expect(try obstacle(agent) == "not signed [manifest-signature]")
    }

    @Test("icons that wait for an upstream are blocked by a pause, also after a restart", arguments: [false, true])
    func paused(isRestarted: Bool) throws {
        var agent = AgentScenario.withUpstreams()
        try agent.scan(["1.plist": [icon]])
        try agent.finishPoll([:])
        #expect(agent.plan.status.downloads.blocked == 0)
        try agent.handle(.pause(Pause()))
        if isRestarted {
            try agent.pass(.seconds(2))
            try agent.finishJobs()
            try agent.restart()
            try agent.scan()
        }
        let status = agent.plan.status
        #expect(status.state == .paused && status.downloads.blocked == 1)
        #expect(status.verdict.sentence.hasPrefix("PAUSED: 1 icon is pending"))
        let next = try #require(agent.plan.report(on: icon, now: agent.now)?.next)
        #expect(next.hasSuffix(", if downloads are resumed by then"))
        try agent.handle(.resume(nil))
        #expect(agent.plan.status.downloads.blocked == 0 && agent.plan.status.downloads.awaitingUpstream == 1)
    }

    @Test("icons that no list of an upstream names are a notice, and no problem", arguments: [true, false])
    func unlisted(never: Bool) throws {
        var agent = AgentScenario.withUpstreams { if never { $0.fallback = .never } }
        let (other, third): (IconURL, IconURL) = ("https://a.example/2.png", "https://a.example/3.png?token=x")
        try agent.scan(["1.plist": [icon, other, third]])
        #expect(agent.plan.status.downloads.unlisted == nil, "no manifest was read")
        try agent.finishPoll([other: .pending])
        let status = agent.plan.status
        let notice = try #require(status.problems.first { $0.code == "upstream-unlisted" })
        #expect(notice.severity == .notice && notice.count == 2 && !status.needsAttention)
        #expect(notice.sentence == "2 icons are in no list of an upstream")
        #expect(notice.detail?.contains("upstream.fallback is never") == never)
        #expect(["syncagent why \(icon)", "syncagent list 1.plist"].contains(notice.commands.first))
        #expect(status.json.line.contains("\"unlisted\": { \"icons\": 2, "))
        try agent.finishPoll([other: .pending, icon: .pending], generation: 2)
        #expect(agent.plan.status.downloads.unlisted?.icons == 1)
        #expect(agent.plan.status.problems.first?.commands == ["syncagent list 1.plist"], "the URL may have a secret")
        try agent.scan(["1.plist": [icon, other]])
        #expect(agent.plan.status.downloads.unlisted == nil && agent.plan.book.catalog.tally.sourceLacks.isEmpty)
    }

    @Test(
        "icons that failed for the agent of an upstream are a notice, with the code in why", arguments: [true, false]
    )
    func failedThere(never: Bool) throws {
        var agent = AgentScenario.withUpstreams { if never { $0.fallback = .never } }
        let other: IconURL = "https://a.example/2.png"
        try agent.scan(["1.plist": [icon, other]])
        try agent.finishPoll([icon: .failed(error: "http-503"), other: .pending])
        let status = agent.plan.status
        let notice = try #require(status.problems.first { $0.code == "upstream-icons-failed" })
        #expect(notice.severity == .notice && notice.count == 1 && !status.needsAttention)
        #expect(notice.sentence == "1 icon failed at an upstream")
        #expect(notice.detail?.contains("upstream.fallback is never") == never)
        #expect(status.verdict.sentence == "Waiting for an upstream: 2 of 2 icons have no image yet.")
        #expect(status.json.line.contains("\"failedUpstream\": { \"icons\": 1, "))
        let opinions = agent.plan.report(on: icon, now: agent.now)?.upstreams
        #expect(opinions?.map(\.says) == ["failed"] && opinions?.map(\.obstacle) == ["http-503"])
        try agent.finishPoll([icon: UpstreamSample.ready("x"), other: .pending], generation: 2)
        #expect(agent.plan.status.downloads.failedUpstream == nil)
    }

    @Test(
        "an image that an upstream lists and does not deliver is told with its code, and requested when a user asks",
        arguments: [FetchFailure.copyMismatch, .status(404), .timeout("5 s")], [true, false])
    func undelivered(failure: FetchFailure, isRefresh: Bool) throws {
        var agent = AgentScenario.withUpstreams { $0.fallback = .never }
        try agent.scan(["1.plist": [icon]])
        try agent.finishPoll([icon: UpstreamSample.ready("x")])
        repeat { try agent.finish(icon, .failed(failure)) } while !agent.downloads.isEmpty
        let status = agent.plan.status
        let row = try #require(status.upstreams.first)
        #expect(row.state == "fresh" && row.code == failure.code.rawValue && row.undelivered == 1)
        let problem = try #require(status.problems.first)
        #expect(problem.code == "upstream-failed" && problem.severity == .problem && status.needsAttention)
        #expect(problem.sentence.hasSuffix(" did not deliver 1 image that it lists: 1 icon is pending"))
        #expect(problem.detail == "\(failure.message) [\(failure.code)]")
        let events = agent.events.filter { $0.kind == .upstreamUndelivered }
        #expect(events.map(\.code) == [failure.code.rawValue])
        let cause = "it did not deliver the image: \(failure.message) [\(failure.code)]; not asked until "
        #expect(try obstacle(agent)?.hasPrefix(cause) == true)
        #expect(agent.plan.syncReport(of: []).hold?.contains("[\(failure.code)]") == true)
        let requests = agent.requests.count
        try agent.handle(.request([icon], isRefresh: isRefresh))
        #expect(agent.requests.count == requests + 1)
        try agent.finish(icon, with: "x")
        try agent.finishJobs()
        #expect(agent.plan.status.upstreams.first?.error == nil && agent.plan.status.problems.isEmpty)
    }

    @Test("an image that an upstream did not deliver is no longer told when no icon needs it")
    func unneeded() throws {
        var agent = AgentScenario.withUpstreams()
        try agent.scan(["1.plist": [icon]])
        try agent.finishPoll([icon: UpstreamSample.ready("x")])
        try agent.finish(icon, .failed(.timeout("5 s")))
        #expect(agent.plan.status.upstreams.first?.code == "timeout")
        try agent.scan(["1.plist": []])
        try agent.pass(.seconds(1200))
        agent.polls = []
        try agent.handle(.polled(UpstreamAnswer(url: UpstreamSample.first, .unchanged())))
        #expect(agent.plan.status.upstreams.first?.error == nil)
    }

    @Test("problems of upstreams count the icons that are pending, and say what to type next")
    func problems() throws {
        var agent = AgentScenario.withUpstreams([UpstreamSample.first, UpstreamSample.second]) { $0.fallback = .never }
        try agent.scan(["1.plist": [icon]])
        try agent.finishPoll([icon: .failed(error: "http-404")])
        try agent.finishPoll(.failed(UpstreamFailure(FetchFailure(.tls, "not trusted"))))
        var status = agent.plan.status
        #expect(status.icons.failed == 1 && status.icons.pending == 0)
        status.downloads.awaitingUpstream = 1
        let problem = try #require(status.problems.first { $0.code == "upstream-broken" })
        let url = status.upstreams.first { $0.state == "broken" }?.url ?? ""
        #expect(problem.sentence == "the upstream \(url) fails")
        #expect(problem.commands == ["curl -I \(url)manifest.json"])
        (status.icons.pending, status.downloads.awaitingUpstream) = (2, 3)
        #expect(
            status.problems.first { $0.code == "upstream-broken" }?.sentence.hasSuffix(": 2 icons are pending") == true)
    }

    @Test("a failure that an upstream reports ends when it reports another state")
    func reported() throws {
        var agent = AgentScenario.withUpstreams { $0.fallback = .never }
        try agent.scan(["1.plist": [icon]])
        try agent.finishPoll([icon: .failed(error: "http-404")])
        let report = try #require(agent.plan.report(on: icon, now: agent.now))
        #expect(report.failure?.message == "the upstream \(UpstreamSample.first) reports http-404")
        #expect(report.next.hasSuffix(", or when an upstream reports another state"))
        #expect(report.rule?.contains("until it reports another state") == true)
    }

    @Test("the report of an icon names the source of its image, also with nested upstreams and origins")
    func source() throws {
        let inner = UpstreamSample.url("\(UpstreamSample.first)inner/")
        let own: IconURL = "https://one.example/fleet/own.png"
        var agent = AgentScenario.withUpstreams([UpstreamSample.first, inner])
        try agent.scan(["1.plist": [icon, own]])
        for _ in 1...2 {
            let poll = try agent.awaitPoll()
            let contents = try UpstreamSample.contents(
                of: poll.url, poll.url == inner ? [icon: UpstreamSample.ready("x")] : [:])
            try agent.handle(.polled(UpstreamAnswer(url: poll.url, epoch: poll.epoch, .accepted(contents))))
        }
        try agent.finish(icon, with: "x")
        try agent.pass(.seconds(90))
        try agent.handle(.request([own], isRefresh: false))
        for _ in 1...2 { try agent.finishPoll(.unchanged()) }
        try agent.finish(own, with: "o", answer: Sample.response(etag: "o", at: agent.now, from: own.text))
        try agent.finishJobs()
        for isRestarted in [false, true] {
            if isRestarted {
                // What is to be remembered is stored by then.
                try agent.pass(.seconds(60))
                try agent.restart()
                try agent.scan(["1.plist": [icon, own]])
            }
            let report = try #require(agent.plan.report(on: icon, now: agent.now))
            #expect(report.source == inner.file(Sample.image("x").path).url)
            #expect(report.rule?.hasPrefix("the manifest of the upstream \(inner) ") == true)
            let other = try #require(agent.plan.report(on: own, now: agent.now))
            #expect(other.source == nil)
            #expect(other.rule?.contains("upstream") == false)
        }
    }

    @Test("the report of an icon says why an upstream's image is fresh, also when the manifest is old")
    func freshness() throws {
        var agent = AgentScenario.withUpstreams { ($0.fallback, $0.maxAge) = (.never, .seconds(3600)) }
        try agent.scan(["1.plist": [icon]])
        try agent.finishPoll([icon: UpstreamSample.ready("x")])
        try agent.finish(icon, with: "x")
        try agent.finishJobs()
        func rule() -> String { agent.plan.report(on: icon, now: agent.now)?.rule ?? "" }
        #expect(rule().contains(" is valid for upstream.maxAge ("))
        while agent.plan.status.upstreams.first?.state != "stale" {
            try agent.finishPoll(.unchanged())
            try agent.finishJobs()
        }
        #expect(rule().contains(" is older than upstream.maxAge ("))
    }
}
