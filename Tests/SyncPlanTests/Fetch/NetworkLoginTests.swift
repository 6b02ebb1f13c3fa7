// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import ImageChecks
import Reports
import Testing

@testable import HTTPRules
@testable import SyncPlan

@Suite("The login page of a network")
struct NetworkLoginTests {
    /// An answer after so many seconds: `p` or `q` is a page, `>` a redirect, `?` no answer, `!` anything else.
    private struct Step {
        var time: Int
        var origin: String
        var answer: NetworkLogin.Answer

        init(_ time: Int, _ origin: String, _ marks: String) {
            (self.time, self.origin) = (time, origin)
            switch marks {
            case "?": answer = .none
            case "!": answer = .genuine
            default:
                let signs = marks.utf8.map { mark -> NetworkLogin.Sign in
                    mark == UInt8(ascii: ">") ? .redirect(origin: "l") : .page(.of([mark]))
                }
                answer = .page(Set(signs))
            }
        }
    }

    private static let steps: [([(Int, String, String)], Bool)] = [
        ([], false), ([(0, "a", "p")], false), ([(0, "a", "p"), (1, "a", "p"), (2, "a", "p")], false),
        ([(0, "a", "p"), (1, "b", "p")], true), ([(0, "a", ">"), (1, "b", ">")], true),
        // The page has the URL in it, or the redirect has another host.
        ([(0, "a", "p>"), (1, "b", "q>")], true), ([(0, "a", "p>"), (1, "b", "p")], true),
        ([(0, "a", "p"), (1, "b", "q")], false), ([(0, "a", "p"), (1, "b", ">")], false),
        // Whoever answers otherwise is a server, and there is no login in its place.
        ([(0, "a", "p"), (1, "b", "q"), (2, "c", "q")], false), ([(0, "a", "p"), (1, "a", "q"), (2, "b", "q")], false),
        ([(0, "a", "p"), (1, "c", "!"), (2, "b", "p")], false), ([(0, "c", "!"), (1, "a", "p"), (2, "b", "p")], false),
        ([(0, "a", "p"), (1, "b", "p"), (2, "c", "!")], false),
        ([(0, "c", "!"), (60, "a", "p"), (61, "b", "p")], true),
        // Those that do not answer tell nothing.
        ([(0, "a", "p"), (1, "c", "?"), (2, "b", "p")], true),
        // Within a minute.
        ([(0, "a", "p"), (60, "b", "p")], true), ([(0, "a", "p"), (61, "b", "p")], false),
        ([(0, "a", "p"), (61, "b", "p"), (62, "a", "p")], true),
        // For an hour, and not again unless something else comes first.
        ([(0, "a", "p"), (1, "b", "p"), (3600, "a", "p")], true),
        ([(0, "a", "p"), (1, "b", "p"), (3601, "a", "p"), (3602, "b", "p")], false),
        ([(0, "a", "p"), (1, "b", "p"), (2, "a", "!"), (62, "a", "p"), (63, "b", "p")], true),
    ]

    @Test(
        "a NetworkLogin is suspected if two origins answer alike within a minute, and nothing else does",
        arguments: steps)
    func suspected(steps: [(Int, String, String)], isSuspected: Bool) {
        var login = NetworkLogin()
        var now = Sample.start
        for step in steps.map({ Step($0.0, $0.1, $0.2) }) {
            now = Sample.start + .seconds(step.time)
            _ = login.record(step.answer, of: IconURL("http://\(step.origin)/1"), from: step.origin, at: now)
        }
        #expect(login.isSuspected(at: now) == isSuspected)
    }

    @Test("a NetworkLogin that becomes suspected names the icons whose pages came before")
    func earlier() {
        var login = NetworkLogin()
        let page = NetworkLogin.Answer.page([.redirect(origin: "l")])
        #expect(login.record(page, of: "http://a/1", from: "a", at: Sample.start).isEmpty)
        #expect(login.record(page, of: "http://a/2", from: "a", at: Sample.start).isEmpty)
        #expect(login.record(page, of: "http://b/1", from: "b", at: Sample.start) == ["http://a/1", "http://a/2"])
        #expect(login.record(page, of: "http://b/2", from: "b", at: Sample.start).isEmpty)
    }

    @Test(
        "a NetworkLogin counts pages and redirects to refused addresses, and failures to answer tell it nothing",
        arguments: [
            (.failed(.status(404)), .genuine), (.failed(.status(403)), .genuine), (.failed(.status(503)), .none),
            (.failed(.status(511)), .none), (.failed(FetchFailure(.tls, "x")), .none),
            (.failed(FetchFailure(.dns, "x")), .none), (.failed(FetchFailure(.addressRefused, "x")), .none),
            (.failed(.image(.notAnImage(hint: nil))), .none), (.failed(.image(.truncated(.png))), .genuine),
            (.failed(page(.image(.notAnImage(hint: "HTML")), .of([1]), nil)), .page([.page(.of([1]))])),
            (
                .failed(page(FetchFailure(.addressRefused, "x"), nil, "http://l:80")),
                .page([.redirect(origin: "http://l:80")])
            ),
            (.cancelled, .none),
        ] as [(FetchOutcome, NetworkLogin.Answer)])
    func answers(outcome: FetchOutcome, answer: NetworkLogin.Answer) {
        #expect(NetworkLogin.Answer(outcome) == answer)
    }

    private static func page(_ failure: FetchFailure, _ body: Digest?, _ origin: String?) -> FetchFailure {
        var failure = failure
        failure.page = FetchFailure.Page(body: body, origin: origin)
        return failure
    }

    private static let urls: [IconURL] = ["http://a.example/1", "http://a.example/2", "http://b.example/1"]
    private static let login = FetchOutcome.failed(page(.image(.notAnImage(hint: "HTML")), .of([1]), nil))

    @Test("an agent retries new icons each minute while a network's login answers, and gets them after the login")
    func retried() throws {
        var agent = AgentScenario()
        try agent.scan(["1.plist": Self.urls])
        for url in Self.urls { try agent.finish(url, Self.login) }
        try agent.finishJobs()
        #expect(try agent.published("1.plist") == Array(repeating: .failed(error: "network-login"), count: 3))
        let failure = try #require(agent.plan.status.failures?.first)
        #expect(failure.code == "network-login" && failure.message.hasSuffix("log in to the network"))
        #expect(agent.plan.status.verdict.sentence == "NETWORK LOGIN: 3 icons wait.")
        #expect(agent.plan.status.needsAttention)
        for _ in 0..<10 {
            try agent.pass(.seconds(72))
            #expect(Set(agent.downloads.keys) == Set(Self.urls))
            try agent.finishAll(Self.login)
        }
        try agent.pass(.seconds(72))
        try agent.finish(Self.urls[0], with: Self.urls[0])
        #expect(agent.plan.status.problems.first?.count == 2)
        for url in Self.urls.dropFirst() { try agent.finish(url, with: url) }
        try agent.finishJobs()
        #expect(agent.plan.status.icons.ready == 3 && agent.plan.status.failures?.isEmpty == true)
        #expect(agent.plan.status.problems.allSatisfy { $0.code != "network-login" })
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
        #expect(agent.plan.status.failures?.map(\.code) == ["not-an-image"])
        #expect(agent.plan.status.problems.allSatisfy { $0.code != "network-login" })
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
        #expect(agent.plan.status.refreshFailures?.map(\.code) == ["not-an-image"])
    }
}
