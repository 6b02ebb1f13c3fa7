// SPDX-License-Identifier: Apache-2.0
import AppLists
import CacheFormat
import Fleet
import Reports
import Testing

@testable import AgentSettings
@testable import HTTPRules
@testable import SyncPlan

@Suite("Icons from upstreams")
struct UpstreamScenarioTests {
    private let icon: IconURL = "https://a.example/1.png"

    private func file(_ word: String, of upstream: UpstreamURL = UpstreamSample.first) -> String {
        upstream.file(Sample.image(word).path).url
    }

    @Test("an icon that an upstream has is requested there, by its digest, and never from its origin")
    func ready() throws {
        var agent = AgentScenario.withUpstreams()
        try agent.scan(["1.plist": [icon]])
        #expect(agent.downloads.isEmpty)
        try agent.finishPoll([icon: UpstreamSample.ready("x")])
        #expect(agent.target == file("x"))
        #expect(agent.requests.last?.condition == nil && agent.requests.last?.mayResume == false)
        try agent.finish(icon, with: "x")
        try agent.finishJobs()
        #expect(try agent.published("1.plist") == [UpstreamSample.ready("x")])
        #expect(agent.requests.count == 1)
        let report = try #require(agent.plan.report(on: icon, now: agent.now))
        #expect(report.source == file("x"))
        #expect(report.next == "refresh at \(Sample.start + .seconds(72 * 3600) + (agent.now - Sample.start))")
    }

    @Test("the first generation of a follower has the list whose icons wait for an upstream")
    func firstGeneration() throws {
        var agent = AgentScenario.withUpstreams()
        try agent.scan(["1.plist": [icon]])
        while agent.publication == nil { try agent.passToNextWake() }
        try agent.finishPublication()
        #expect(agent.downloads.isEmpty && agent.disk.current?.lists.keys.sorted() == ["1.plist"])
    }

    @Test("a reload that changes requests has the upstreams polled at once")
    func otherRequests() throws {
        var agent = AgentScenario.withUpstreams()
        try agent.scan(["1.plist": [icon]])
        try agent.finishPoll([icon: UpstreamSample.ready("x")])
        try agent.finish(icon, with: "x")
        try agent.finishJobs()
        try agent.pass(.seconds(2))
        #expect(agent.polls.isEmpty)
        agent.settings.images.allowSVG = true
        try agent.handle(.configured(agent.settings))
        #expect(agent.polls.isEmpty)
        agent.settings.fetch.userAgent = "other"
        try agent.handle(.configured(agent.settings))
        #expect(agent.polls.map(\.url) == [UpstreamSample.first])
    }

    @Test("an icon that no upstream has waits, is looked up once more, and then comes from its origin")
    func origin() throws {
        var agent = AgentScenario.withUpstreams { $0.spread = .seconds(60) }
        try agent.scan(["1.plist": [icon]])
        let start = agent.now
        try agent.finishPoll([:])
        var polls = 1
        while agent.downloads.isEmpty {
            try agent.passToNextWake()
            if !agent.polls.isEmpty {
                agent.polls = []
                try agent.handle(.polled(UpstreamAnswer(url: UpstreamSample.first, .unchanged())))
                polls += 1
            }
        }
        #expect(agent.target == icon.text)
        let waited = agent.now - start
        #expect(waited >= .seconds(900) && waited <= .seconds(960 + 20))
        // Soon after the list came, then after 1, 2, 4, 8 minutes, and before the origin.
        #expect((5...7).contains(polls))
        try agent.finish(icon, with: "o")
        try agent.finishJobs()
        #expect(try agent.published("1.plist") == [UpstreamSample.ready("o")])
    }

    @Test("an image that an upstream has when the wait is over is requested there", arguments: [60, 1])
    func lastLook(minute: Int) throws {
        // After looks at about 0, 1, 3 and 7 minutes.
        var agent = AgentScenario.withUpstreams {
            $0.poll = .seconds(15 * minute)
            $0.wait = .seconds(10 * minute)
        }
        let end = Sample.start + .seconds(10 * minute)
        try agent.scan(["1.plist": [icon]])
        try agent.finishPoll([:])
        while agent.now < end {
            try agent.passToNextWake()
            if agent.now < end, !agent.polls.isEmpty {
                agent.polls = []
                try agent.handle(.polled(UpstreamAnswer(url: UpstreamSample.first, .unchanged())))
            }
        }
        #expect(agent.downloads.isEmpty, "the last look comes first")
        try agent.finishPoll([icon: UpstreamSample.ready("x")], generation: 2)
        #expect(agent.target == file("x"))
    }

    @Test("a pause that is longer than the wait is followed by a look, and not by requests to origins")
    func paused() throws {
        var agent = AgentScenario.withUpstreams()
        try agent.scan(["1.plist": [icon]])
        try agent.finishPoll([:])
        // A look that is under way when the pause begins, and ends after the wait.
        let poll = try agent.awaitPoll()
        try agent.handle(.pause(Pause()))
        try agent.pass(.seconds(1200))
        try agent.handle(.polled(UpstreamAnswer(url: poll.url, epoch: poll.epoch, .unchanged())))
        while agent.now < Sample.start + .seconds(3600), agent.plan.nextWake != nil { try agent.passToNextWake() }
        #expect(agent.downloads.isEmpty && agent.polls.isEmpty)
        try agent.handle(.resume(nil))
        #expect(agent.downloads.isEmpty && agent.polls.count == 1)
        try agent.finishPoll([icon: UpstreamSample.ready("x")], generation: 2)
        #expect(agent.target == file("x"))
    }

    /// Lets time pass until an icon is requested from its origin, with an upstream that has nothing new; returns when it
    /// last answered.
    @discardableResult
    private func awaitOrigin(_ agent: inout AgentScenario) throws -> Timestamp? {
        let end = agent.now + .seconds(7200)
        var answered: Timestamp?
        while agent.downloads.isEmpty, agent.now < end {
            try agent.passToNextWake()
            try agent.finishJobs()
            guard let poll = agent.polls.first else { continue }
            agent.polls = []
            answered = agent.now
            try agent.handle(.polled(UpstreamAnswer(url: poll.url, epoch: poll.epoch, .unchanged())))
        }
        #expect(agent.target == icon.text)
        return answered
    }

    /// An agent that was started again after its icon had failed at its origin: waits are not stored.
    private func restartedAfterFailure() throws -> AgentScenario {
        var agent = AgentScenario.withUpstreams()
        try agent.scan(["1.plist": [icon]])
        try agent.finishPoll([:])
        try awaitOrigin(&agent)
        try agent.finish(icon, .failed(.status(500)))
        try agent.finishJobs()
        try agent.restart()
        try agent.scan(["1.plist": [icon]])
        return agent
    }

    @Test("an icon whose wait ends during a purge is requested from its origin after it")
    func purged() throws {
        var agent = AgentScenario.withUpstreams()
        try agent.scan(["1.plist": [icon]])
        try agent.finishPoll([:])
        try agent.pass(.seconds(5))
        try agent.finishJobs()
        try agent.handle(.purge)
        #expect(agent.plan.isPurging)
        try agent.pass(.seconds(1200))
        try agent.finishJobs()
        try agent.pass(.seconds(1))
        try agent.finishJobs()
        #expect(!agent.plan.isPurging && agent.downloads.isEmpty)
        try awaitOrigin(&agent)
    }

    @Test("a purge polls no upstream before its time")
    func purgedWithoutPoll() throws {
        var agent = AgentScenario.withUpstreams()
        try agent.scan(["1.plist": [icon]])
        try agent.finishPoll([:])
        try agent.handle(.purge)
        try agent.finishJobs()
        try agent.pass(.seconds(1))
        try agent.finishJobs()
        #expect(!agent.plan.isPurging && agent.plan.book.sources.isWaiting(icon) && agent.polls.isEmpty)
    }

    @Test("an icon that failed at its origin before a restart is requested there as soon as the last poll has ended")
    func failedBefore() throws {
        var agent = try restartedAfterFailure()
        let answered = try awaitOrigin(&agent)
        #expect(answered == agent.now)
    }

    @Test("an icon that failed at its origin is requested there again after a pause in which its wait ended")
    func failedBeforePause() throws {
        var agent = try restartedAfterFailure()
        while !agent.plan.book.sources.isWaiting(icon) { try agent.passToNextWake() }
        try agent.handle(.pause(Pause()))
        try agent.pass(.seconds(3600))
        #expect(agent.downloads.isEmpty)
        try agent.handle(.resume(nil))
        try awaitOrigin(&agent)
    }

    @Test(
        "a manifest that is fresh again ends what waited for it",
        arguments: [.origin, .never] as [Settings.Upstream.Fallback])
    func freshAgain(fallback: Settings.Upstream.Fallback) throws {
        var agent = AgentScenario.withUpstreams { $0.fallback = fallback }
        try agent.scan(["1.plist": [icon]])
        try agent.finishPoll([icon: UpstreamSample.ready("x")])
        try agent.finish(icon, with: "x")
        try agent.finishJobs()
        // Nothing is published for three days.
        while !agent.plan.book.sources.isWaiting(icon) {
            try agent.passToNextWake()
            agent.polls = []
            try agent.handle(.polled(UpstreamAnswer(url: UpstreamSample.first, .unchanged())))
            try agent.finishJobs()
        }
        #expect(agent.plan.status.upstreams.first?.state == "stale")
        // A heartbeat, with the same documents.
        let poll = try agent.awaitPoll()
        var contents = try UpstreamSample.contents([:], generation: 2, published: agent.now)
        contents.index = try #require(poll.index)
        contents.changes = []
        try agent.handle(.polled(UpstreamAnswer(url: poll.url, epoch: poll.epoch, .accepted(contents))))
        #expect(!agent.plan.book.sources.isWaiting(icon))
        #expect(agent.requests.count == 1, "its origin is not asked")
        #expect(agent.plan.status.upstreams.first?.state == "fresh")
    }

    @Test("an icon whose origin failed after the wait does not wait for upstreams any longer")
    func failedOrigin() throws {
        var agent = AgentScenario.withUpstreams { $0.wait = .seconds(60) }
        try agent.scan(["1.plist": [icon]])
        while agent.downloads.isEmpty {
            if agent.polls.isEmpty { try agent.passToNextWake() } else { try agent.finishPoll([:], generation: 1) }
        }
        #expect(agent.target == icon.text)
        try agent.finish(icon, .failed(.status(503)))
        #expect(agent.plan.status.downloads.awaitingUpstream == 0)
        let contents = try UpstreamSample.contents(
            [icon: UpstreamSample.ready("x")], generation: 2, published: agent.now)
        try agent.handle(.polled(UpstreamAnswer(url: UpstreamSample.first, .accepted(contents))))
        #expect(agent.target == file("x"), "an upstream that has it comes first all the same")
    }

    @Test("an upstream whose manifest is missing again and again is broken")
    func missingManifest() throws {
        var agent = AgentScenario.withUpstreams()
        try agent.scan(["1.plist": [icon]])
        try agent.finishPoll([:])
        for state: UpstreamReport.State in [.fresh, .fresh, .broken, .broken] {
            try agent.finishPoll(.failed(UpstreamFailure(FetchFailure.status(404))))
            #expect(agent.plan.status.upstreams.first?.state == state)
        }
        try agent.finishPoll(.unchanged())
        #expect(agent.plan.status.upstreams.first?.state == "fresh")
    }

    @Test("an icon that no upstream has stays pending without fallback")
    func never() throws {
        var agent = AgentScenario.withUpstreams { $0.fallback = .never }
        try agent.scan(["1.plist": [icon]])
        try agent.finishPoll([:])
        for _ in 0..<200 {
            try agent.passToNextWake()
            agent.polls = []
            try agent.handle(.polled(UpstreamAnswer(url: UpstreamSample.first, .unchanged())))
            try agent.finishJobs()
        }
        #expect(agent.requests.isEmpty && agent.plan.status.icons.pending == 1)
        #expect(agent.plan.status.downloads.awaitingUpstream == 1)
        let report = try #require(agent.plan.report(on: icon, now: agent.now))
        #expect(report.next == "download when an upstream has it (upstream.fallback is never)")
        // So that pin --wait does not wait.
        #expect(report.holds.map(\.reason) == ["no upstream has its image, and upstream.fallback is never"])
        try agent.finishPoll([icon: UpstreamSample.ready("x")], generation: 2)
        #expect(agent.target == file("x"))
    }

    @Test("an icon that an upstream reports as failed is failed without a request, until the report changes")
    func failed() throws {
        var agent = AgentScenario.withUpstreams()
        try agent.scan(["1.plist": [icon]])
        try agent.finishPoll([icon: .failed(error: "http-404")])
        try agent.finishJobs()
        #expect(try agent.published("1.plist") == [.failed(error: "http-404")])
        #expect(agent.requests.isEmpty)
        try agent.finishPoll([icon: UpstreamSample.ready("x")], generation: 2)
        #expect(agent.target == file("x"))
    }

    @Test(
        "only failures that an origin tells every machine count from an upstream",
        arguments: [
            ("http-404", true), ("http-403", true), ("http-410", true), ("not-an-image", true), ("http-503", false),
            ("timeout", false), ("address-refused", false), ("dns", false), ("too-large", false),
            ("unknown-code", false),
        ])
    func sharedFailures(code: String, counts: Bool) throws {
        var agent = AgentScenario.withUpstreams()
        try agent.scan(["1.plist": [icon]])
        try agent.finishPoll([icon: .failed(error: code)])
        try agent.finishJobs()
        #expect(try agent.published("1.plist") == [counts ? .failed(error: code) : .pending])
    }

    @Test("a failure does not count once the manifest is stale")
    func staleFailure() throws {
        var agent = AgentScenario.withUpstreams()
        try agent.scan(["1.plist": [icon]])
        try agent.finishPoll([icon: .failed(error: "http-404")])
        try agent.finishJobs()
        while agent.downloads.isEmpty {
            try agent.passToNextWake()
            agent.polls = []
            try agent.handle(.polled(UpstreamAnswer(url: UpstreamSample.first, .unchanged())))
            try agent.finishJobs()
        }
        #expect(agent.target == icon.text)
        #expect(agent.now - Sample.start >= .seconds(72 * 3600))
        #expect(agent.plan.status.upstreams.first?.state == "stale")
    }

    @Test("an image is refreshed when its upstream has another one, and confirmed by newer manifests")
    func refresh() throws {
        var agent = AgentScenario.withUpstreams()
        try agent.scan(["1.plist": [icon]])
        try agent.finishPoll([icon: UpstreamSample.ready("x")])
        try agent.finish(icon, with: "x")
        try agent.finishJobs()
        for day in 1...5 {
            try agent.pass(.seconds(86_400))
            agent.polls = []
            let contents = try UpstreamSample.contents(
                [icon: UpstreamSample.ready("x")], generation: day + 1, published: agent.now)
            try agent.handle(.polled(UpstreamAnswer(url: UpstreamSample.first, .accepted(contents))))
            try agent.finishJobs()
        }
        #expect(agent.requests.count == 1, "the digest is the same")
        try agent.finishPoll([icon: UpstreamSample.ready("y")], generation: 9)
        #expect(agent.target == file("y") && agent.requests.count == 2)
        try agent.finish(icon, with: "y")
        try agent.finishJobs()
        #expect(try agent.published("1.plist") == [UpstreamSample.ready("y")])
    }

    @Test("a file that is missing is asked for again, with a look past the caches, and then from the next upstream")
    func miss() throws {
        var agent = AgentScenario.withUpstreams([UpstreamSample.first, UpstreamSample.second])
        try agent.scan(["1.plist": [icon]])
        for _ in 0..<2 { try agent.finishPoll([icon: UpstreamSample.ready("x")]) }
        let place = agent.target == file("x") ? UpstreamSample.first : UpstreamSample.second
        let other = place == UpstreamSample.first ? UpstreamSample.second : UpstreamSample.first
        try agent.finish(icon, .failed(.status(404)))
        let poll = try agent.awaitPoll()
        #expect(poll.url == place && poll.bypassesCaches)
        #expect(agent.target == file("x", of: other))
        try agent.finish(icon, with: "x")
        #expect(
            agent.plan.status.upstreams.allSatisfy { $0.state == "fresh" }, "a miss opens no circuit breaker")
    }

    @Test("an image with another digest is requested once more past the caches, and never published")
    func mismatch() throws {
        var agent = AgentScenario.withUpstreams()
        try agent.scan(["1.plist": [icon]])
        try agent.finishPoll([icon: UpstreamSample.ready("x")])
        try agent.finish(icon, with: "y")
        #expect(agent.requests.count == 2)
        #expect(agent.requests.last?.copy?.bypassesCaches == true)
        try agent.finish(icon, with: "y")
        #expect(agent.downloads.isEmpty)
        try agent.finishJobs()
        #expect(try agent.published("1.plist") == [.pending])
    }

    @Test(
        "an upstream that fails three times in a row is not asked until a look at it succeeds",
        arguments: [FetchFailure.status(500), .timeout("5 s"), FetchFailure(.connect, "refused")])
    func breaker(failure: FetchFailure) throws {
        var agent = AgentScenario.withUpstreams()
        let icons = (1...20).map { IconURL("https://a.example/\($0).png") }
        try agent.scan(["1.plist": icons])
        try agent.finishPoll(Dictionary(icons.map { ($0, UpstreamSample.ready($0.text)) }) { a, _ in a })
        let begun = agent.downloads.count
        while !agent.downloads.isEmpty { try agent.finishAll(.failed(failure)) }
        #expect(agent.requests.count <= begun + 2, "those under way, and no others")
        #expect(agent.plan.status.upstreams.first?.state == "broken")
        try agent.finishPoll(.unchanged())
        #expect(agent.plan.status.upstreams.first?.state == "fresh")
        while agent.downloads.isEmpty { try agent.passToNextWake() }
        #expect(agent.requests.last?.copy != nil)
    }

    @Test("an upstream whose manifest is refused is not broken, and the next poll has the documents that came")
    func refused() throws {
        let other: IconURL = "https://a.example/2.png"
        var agent = AgentScenario.withUpstreams()
        try agent.scan(["1.plist": [icon]])
        try agent.finishPoll([icon: UpstreamSample.ready("x"), other: UpstreamSample.ready("y")])
        while agent.plan.status.upstreams.first?.state != "broken" {
            if agent.downloads.isEmpty { try agent.passToNextWake() }
            try agent.finishAll(.failed(.status(500)))
        }
        let poll = try agent.awaitPoll()
        let document = AppListDocument(list: "1.plist", source: Sample.source([]), apps: [])
        let found = [Digest.of("1"): try UpstreamDocument(json: document.text, old: nil, renditions: [])]
        let refusal = UpstreamFailure(.damaged, "it answers with a page")
        try agent.handle(.polled(UpstreamAnswer(url: poll.url, epoch: poll.epoch, .failed(refusal, found: found))))
        try agent.scan(["2.plist": [other]])
        #expect(agent.downloads[other]?.copy != nil)
        #expect(try agent.awaitPoll().found.keys == found.keys)
    }

    @Test("an upstream that refuses this machine is said to, and is not asked for every icon")
    func unauthorized() throws {
        var agent = AgentScenario.withUpstreams()
        let icons = (1...20).map { IconURL("https://a.example/\($0).png") }
        try agent.scan(["1.plist": icons])
        try agent.finishPoll(Dictionary(icons.map { ($0, UpstreamSample.ready($0.text)) }) { a, _ in a })
        let begun = agent.downloads.count
        try agent.finishAll(.failed(.status(401)))
        #expect(agent.requests.count == begun && agent.downloads.isEmpty)
        let row = try #require(agent.plan.status.upstreams.first)
        #expect(row.state == "refused" && row.code == "http-401")
        #expect(agent.plan.status.needsAttention)
        #expect(agent.events.contains { $0.kind == .upstreamRefused })
    }

    @Test("no answer of an upstream takes an image away")
    func keepsImages() throws {
        var agent = AgentScenario.withUpstreams()
        try agent.scan(["1.plist": [icon]])
        try agent.finishPoll([icon: UpstreamSample.ready("x")])
        try agent.finish(icon, with: "x")
        try agent.finishJobs()
        let states: [AppListDocument.State?] = [nil, .pending, .failed(error: "http-410")]
        for (number, state) in states.enumerated() {
            try agent.finishPoll(state.map { [icon: $0] } ?? [:], generation: number + 2)
            try agent.finishJobs()
            #expect(try agent.published("1.plist") == [UpstreamSample.ready("x")])
        }
        try agent.finishPoll(.failed(UpstreamFailure(.rollback, "it is older")))
        try agent.finishJobs()
        #expect(try agent.published("1.plist") == [UpstreamSample.ready("x")])
    }

    @Test("a run that ends when all is done looks at each upstream, and waits for nothing")
    func once() throws {
        var agent = AgentScenario.withUpstreams(triesOnce: true)
        try agent.scan(["1.plist": [icon, "https://a.example/2.png"]])
        #expect(!agent.plan.isSettled)
        try agent.finishPoll([icon: UpstreamSample.ready("x")])
        #expect(Set(agent.requests.map(\.url)) == [icon, "https://a.example/2.png"])
        try agent.finish(icon, with: "x")
        try agent.finish("https://a.example/2.png", with: "o")
        try agent.finishJobs()
        #expect(agent.plan.isSettled)
    }

    @Test("a wait for icons polls the upstreams, and reports when none has them")
    func sync() throws {
        var agent = AgentScenario.withUpstreams()
        try agent.scan(["1.plist": [icon]])
        try agent.finishPoll([:])
        try agent.finishJobs()
        try agent.pass(.seconds(30))
        try agent.handle(.awaited([icon]))
        #expect(agent.polls.count == 1 && !agent.plan.syncReport(of: ["1.plist"]).isDone)
        try agent.finishPoll(.unchanged())
        let report = agent.plan.syncReport(of: ["1.plist"])
        #expect(report.isDone && report.pending == 1 && report.hold?.hasPrefix("no upstream has its image") == true)
    }

    @Test("a retry does not wait for upstreams any longer")
    func retry() throws {
        var agent = AgentScenario.withUpstreams()
        try agent.scan(["1.plist": [icon]])
        try agent.finishPoll([:])
        try agent.pass(.seconds(90))
        try agent.handle(.request([icon], isRefresh: false))
        #expect(agent.downloads.isEmpty)
        try agent.finishPoll(.unchanged())
        #expect(agent.target == icon.text)
    }

    @Test("upstreams are polled on request at once, at most once a second", arguments: [0, 400, 5000])
    func onDemand(milliseconds: Int) throws {
        var agent = AgentScenario.withUpstreams { $0.fallback = .never }
        try agent.scan(["1.plist": [icon]])
        try agent.finishPoll([:])
        let last = agent.now
        try agent.pass(.milliseconds(milliseconds))
        for _ in 1...3 { try agent.handle(.request([icon], isRefresh: false)) }
        _ = try agent.awaitPoll()
        #expect(agent.now == last + max(.seconds(1), .milliseconds(milliseconds)))
        #expect(agent.polls.isEmpty)
    }

    @Test("a request during a poll causes another poll, unless the running one fails", arguments: [false, true])
    func duringLook(fails: Bool) throws {
        var agent = AgentScenario.withUpstreams { $0.fallback = .never }
        try agent.scan(["1.plist": [icon]])
        let poll = try agent.awaitPoll()
        try agent.pass(.seconds(3))
        try agent.handle(.request([icon], isRefresh: false))
        #expect(agent.polls.isEmpty)
        let failure = UpstreamFailure(.incomplete, "a document is missing")
        try agent.handle(
            .polled(UpstreamAnswer(url: poll.url, epoch: poll.epoch, fails ? .failed(failure) : .unchanged())))
        #expect(agent.polls.count == (fails ? 0 : 1))
    }

    @Test("an upstream that lost its image takes no freshness away", arguments: [false, true])
    func lostThere(isFailed: Bool) throws {
        var agent = AgentScenario.withUpstreams()
        try agent.scan(["1.plist": [icon]])
        try agent.finishPoll([icon: UpstreamSample.ready("x")])
        try agent.finish(icon, with: "x")
        try agent.finishJobs()
        try agent.finishPoll([icon: isFailed ? .failed(error: "http-404") : .pending], generation: 2)
        #expect(agent.plan.report(on: icon, now: agent.now)?.next.hasPrefix("refresh at") == true)
        #expect(agent.plan.status.downloads.awaitingUpstream == 0)
    }

    @Test("an icon that came from its origin waits for upstreams again at its next refresh")
    func secondWait() throws {
        var agent = AgentScenario.withUpstreams { $0.wait = .seconds(60) }
        try agent.scan(["1.plist": [icon]])
        while agent.downloads.isEmpty {
            if agent.polls.isEmpty { try agent.passToNextWake() } else { try agent.finishPoll([:], generation: 1) }
        }
        try agent.finish(icon, with: "o")
        try agent.finishJobs()
        #expect(agent.plan.status.downloads.awaitingUpstream == 0)
        try agent.pass(.seconds(400 * 86_400))
        try agent.finishJobs()
        #expect(agent.downloads.isEmpty && agent.plan.book.sources.isWaiting(icon))
    }

    @Test("the answer to a poll under earlier settings does not count")
    func earlierPoll() throws {
        var agent = AgentScenario.withUpstreams()
        try agent.scan(["1.plist": [icon]])
        let poll = try agent.awaitPoll()
        var generator = SeededGenerator(seed: 1)
        agent.settings.upstream.publicKeys = [SecretKey(using: &generator).publicKey]
        try agent.handle(.configured(agent.settings))
        let contents = try UpstreamSample.contents([icon: UpstreamSample.ready("x")])
        try agent.handle(.polled(UpstreamAnswer(url: poll.url, epoch: poll.epoch, .accepted(contents))))
        #expect(agent.downloads.isEmpty)
        #expect(try agent.awaitPoll().settings.publicKeys.count == 1)
    }

    @Test("waiting icons come from their origins once upstreams are removed, or fallback is set")
    func withoutUpstreams() throws {
        for change in [
            { $0.urls = [] },
            {
                $0.fallback = .origin; $0.wait = .zero
            },
        ] as [(inout Settings.Upstream) -> Void] {
            var agent = AgentScenario.withUpstreams { $0.fallback = .never }
            let other: IconURL = "https://a.example/2.png"
            try agent.scan(["1.plist": [icon, other]])
            try agent.finishPoll([other: .failed(error: "http-404")])
            change(&agent.settings.upstream)
            try agent.handle(.configured(agent.settings))
            while agent.requests.isEmpty {
                if agent.polls.isEmpty { try agent.passToNextWake() } else { try agent.finishPoll(.unchanged()) }
            }
            #expect(agent.requests.contains { $0.url == icon && $0.copy == nil })
        }
    }

    @Test("an upstream that lacks an image does not set aside the delays of its origin")
    func backoff() throws {
        var agent = AgentScenario.withUpstreams { $0.wait = .zero }
        try agent.scan(["1.plist": [icon]])
        try agent.finishPoll([icon: UpstreamSample.ready("x")])
        var bypasses = 0
        for _ in 0..<300 {
            if agent.downloads[icon]?.copy != nil { try agent.finish(icon, .failed(.status(404))) }
            if agent.downloads[icon] != nil { try agent.finish(icon, .failed(.status(404))) }
            if agent.polls.isEmpty {
                try agent.passToNextWake()
            } else {
                if agent.polls[0].bypassesCaches { bypasses += 1 }
                try agent.finishPoll(.unchanged())
            }
            try agent.finishJobs()
        }
        let origins = agent.requests.count { $0.copy == nil }
        let hours = (agent.now - Sample.start) / .seconds(3600)
        #expect(Double(origins) <= 3 + hours && bypasses == 1, "\(origins) in \(hours) h, \(bypasses)")
    }

    @Test("paths that no agent writes are not accepted", arguments: [9000, 30, 17, 16, 3])
    func paths(length: Int) throws {
        let digest = Digest.of("x")
        let path = CacheLayout.image(digest, suffix: String(repeating: "a", count: length))
        let image = AppListDocument.Image(path: path, sha256: digest, bytes: 9, type: "image/png", width: 1, height: 1)
        var agent = AgentScenario.withUpstreams()
        try agent.scan(["1.plist": [icon]])
        guard length <= 16 else {
            #expect(throws: FormatError.self) { try agent.finishPoll([icon: .ready(image)]) }
            return
        }
        try agent.finishPoll([icon: .ready(image)])
        #expect(!agent.downloads.isEmpty)
    }

    @Test("an idle agent publishes after the heartbeat, also if its clock was ahead")
    func heartbeat() throws {
        var agent = AgentScenario { $0.publish = Settings.Publish() }
        try agent.publish(["1.plist": [icon: "x"]])
        let first = try #require(agent.disk.current)
        while agent.disk.current?.generation == first.generation {
            try agent.passToNextWake()
            try agent.finishJobs()
            try #require(agent.now < Sample.start + .seconds(86_400 * 3), "no heartbeat")
        }
        #expect(agent.disk.current?.published == agent.now)
        #expect(agent.now - Sample.start >= .seconds(12 * 3600) && agent.now - Sample.start <= .seconds(12 * 3600 + 60))
        try agent.restart(at: Sample.start + .seconds(-86_400 * 365))
        try agent.scan()
        while agent.publication == nil { try agent.passToNextWake() }
        try agent.finishJobs()
        #expect(agent.disk.current?.published == agent.now && agent.now < Sample.start)
    }

    @Test("a manifest that was accepted is remembered over a restart")
    func restart() throws {
        var agent = AgentScenario.withUpstreams()
        try agent.scan(["1.plist": [icon]])
        try agent.finishPoll([icon: UpstreamSample.ready("x")], generation: 7)
        try agent.finish(icon, with: "x")
        try agent.finishJobs()
        try agent.pass(.seconds(2))
        try agent.restart()
        try agent.scan()
        let poll = try agent.awaitPoll()
        #expect(poll.accepted?.generation == 7)
        #expect(poll.index == nil && poll.validators == nil, "what it says is not remembered")
        #expect(agent.downloads.isEmpty && agent.plan.status.icons.ready == 1)
    }

    @Test("an upstream that is configured takes over what waits for its origin")
    func reload() throws {
        var agent = AgentScenario()
        try agent.scan(["1.plist": [icon]])
        try agent.finish(icon, .failed(.timeout("5 s")))
        agent.settings.upstream.urls = [UpstreamSample.first]
        try agent.handle(.configured(agent.settings))
        try agent.finishPoll([icon: UpstreamSample.ready("x")])
        #expect(agent.target == file("x"))
    }
}
