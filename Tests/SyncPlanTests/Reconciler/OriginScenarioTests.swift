// SPDX-License-Identifier: Apache-2.0
import AgentSettings
import CacheFormat
import ImageChecks
import Reports
import Testing

@testable import HTTPRules
@testable import SyncPlan

@Suite("Origins that fail, throttle and come back")
struct OriginScenarioTests {
    private static let urls = (1...20).map { IconURL("https://h.example/\($0)") }
    private static let origin = "https://h.example:443"
    private static let other: IconURL = "https://i.example/1"
    private static let timeout = FetchOutcome.failed(.timeout("60 s"))

    /// An agent whose only origin has failed five times in a row, each time for another icon.
    private static func broken(
        _ urls: [IconURL] = Self.urls, _ outcome: FetchOutcome = timeout
    ) throws -> AgentScenario {
        var agent = AgentScenario()
        try agent.scan(["1.plist": urls])
        while let url = agent.downloads.keys.min() { try agent.finish(url, outcome) }
        return agent
    }

    @Test("an origin that failed five times in a row gets no more requests, and the agent is settled")
    func breaks() throws {
        var agent = try Self.broken()
        #expect(agent.requests.count == 5)
        try agent.finishJobs()
        #expect(try agent.published("1.plist").count { $0 == .pending } == 15)
        let status = agent.plan.status
        #expect(agent.plan.isSettled && status.inSync && status.needsAttention)
        #expect(agent.plan.status.downloads.counts == [0, 0, 20, 15])
        #expect(status.icons.failed == 5 && status.icons.pending == 15)
        #expect(agent.plan.book.downloads.origins[Self.origin]?.isBroken == true)
    }

    @Test(
        "answers that are no icon, and failures of the agent itself, are not held against the origin",
        arguments: [
            .failed(.status(404)), .failed(.image(.notAnImage(hint: nil))),
            .failed(FetchFailure(.disk, "full")),
        ]
            as [FetchOutcome])
    func answers(outcome: FetchOutcome) throws {
        let agent = try Self.broken(Self.urls, outcome)
        #expect(agent.requests.count == 20 && agent.plan.book.downloads.origins[Self.origin] == nil)
        #expect(agent.plan.status.downloads.counts == [0, 0, 20, 0])
    }

    @Test(
        "a new icon is tried at once on a server whose other icon fails, unless the server asked for the delay",
        arguments: [nil, .seconds(3600)] as [Duration?])
    func newIcon(retryAfter: Duration?) throws {
        var agent = AgentScenario()
        try agent.scan(["1.plist": [Self.urls[0]]])
        for _ in 1...8 {
            while agent.downloads.isEmpty { try agent.passToNextWake() }
            try agent.finish(Self.urls[0], .failed(.status(500)))
            if agent.publication != nil { try agent.finishPublication() }
        }
        if let retryAfter {
            while agent.downloads.isEmpty { try agent.passToNextWake() }
            try agent.finish(Self.urls[0], .failed(.status(429, retryAfter: retryAfter)))
        }
        let added = Array(Self.urls[1...3])
        try agent.scan(["1.plist": [Self.urls[0]], "2.plist": added])
        guard retryAfter == nil else {
            #expect(agent.downloads.isEmpty)
            return
        }
        let first = try #require(agent.downloads.keys.first)
        #expect(agent.downloads.count == 1 && added.contains(first))
        try agent.finish(first, with: "x")
        #expect(Set(agent.downloads.keys) == Set(added).subtracting([first]))
    }

    @Test("one answer between failures of an origin restarts the count")
    func inARow() throws {
        var agent = AgentScenario { $0.fetch.perHost = 1 }
        try agent.scan(["1.plist": Self.urls])
        for outcome in Array(repeating: Self.timeout, count: 4) + [.failed(.status(404))] {
            try agent.finishAll(outcome)
        }
        #expect(agent.plan.book.downloads.origins[Self.origin] == nil)
        for _ in 0..<4 { try agent.finishAll(Self.timeout) }
        #expect(agent.downloads.count == 1)
        try agent.finishAll(Self.timeout)
        #expect(agent.downloads.isEmpty)
    }

    @Test("an origin that answers over HTTP/2 gets every slot, and a few again once it answers over HTTP/1")
    func multiplexed() throws {
        var agent = AgentScenario()
        let urls = (1...100).map { IconURL("https://h.example/\($0)") }
        try agent.scan(["1.plist": urls])
        /// Lets the first download end, and tells how many are under way then.
        func end(_ outcome: FetchOutcome, isMultiplexed: Bool?) throws -> Int {
            try agent.finish(try #require(agent.downloads.keys.min()), outcome, isMultiplexed: isMultiplexed)
            return agent.downloads.count
        }
        let missing = FetchOutcome.failed(.status(404))
        #expect(agent.downloads.count == 4)
        #expect(try end(missing, isMultiplexed: true) == 32)
        #expect(try end(.cancelled, isMultiplexed: nil) == 32)
        #expect(try end(missing, isMultiplexed: false) == 31)
        while agent.downloads.count > 4 { _ = try end(missing, isMultiplexed: nil) }
        #expect(try end(missing, isMultiplexed: nil) == 4)
    }

    @Test("a broken origin is probed by one request at a time, each after a wait of one wake-up")
    func probes() throws {
        var agent = try Self.broken()
        try agent.finishJobs()
        try agent.pass(.seconds(1))
        for _ in 0..<30 {
            var wakes = 0
            let held = try #require(agent.plan.book.downloads.origins[Self.origin]?.waitsUntil)
            while agent.downloads.isEmpty {
                try agent.passToNextWake()
                try agent.finishJobs()
                wakes += 1
            }
            #expect(agent.downloads.count == 1 && agent.now >= held)
            // One for the origin, one for what is to be remembered, one for each icon whose own retry became due.
            #expect(wakes <= 2 + 20)
            try agent.finishAll(Self.timeout)
            try agent.finishJobs()
            #expect(agent.downloads.isEmpty && agent.plan.isSettled)
        }
    }

    @Test("the first answer of a broken origin opens it for all icons")
    func opens() throws {
        var agent = try Self.broken()
        while agent.downloads.isEmpty {
            try agent.finishJobs()
            try agent.passToNextWake()
        }
        let probe = try #require(agent.downloads.keys.first)
        try agent.finish(probe, with: "x")
        #expect(agent.downloads.count == 4 && agent.plan.book.downloads.origins[Self.origin] == nil)
        while let url = agent.downloads.keys.min() { try agent.finish(url, with: url) }
        #expect(agent.plan.book.catalog.tally.blank.isEmpty && agent.plan.status.downloads.blocked == 0)
        try agent.pass(.seconds(1))
        #expect(agent.memory.origins.isEmpty)
    }

    @Test("an icon that is ready stays so while its origin waits, and that needs nobody's attention")
    func stale() throws {
        var agent = AgentScenario()
        try agent.scan(["1.plist": Self.urls])
        while let url = agent.downloads.keys.min() { try agent.finish(url, with: url) }
        try agent.finishJobs()
        try agent.pass(.seconds(2 * 86_400))
        try agent.finishJobs()
        while !agent.downloads.isEmpty { try agent.finishAll(.failed(.status(500))) }
        #expect(agent.publication == nil && agent.plan.isSettled && agent.plan.status.inSync)
        let status = agent.plan.status
        #expect(status.icons.ready == 20 && status.icons.stale == 5 && status.downloads.waiting == 20)
        #expect(!status.needsAttention)
        try agent.scan(["2.plist": ["https://h.example/new", "https://h.example/newer"]])
        #expect(agent.downloads.count == 1)
        try agent.finishAll(.failed(.status(500)))
        #expect(agent.downloads.isEmpty && agent.plan.status.downloads.blocked == 1 && agent.plan.status.needsAttention)
    }

    @Test("a Retry-After with 429 holds for the whole origin, and for no other origin")
    func retryAfter() throws {
        var agent = AgentScenario { $0.fetch.perHost = 1 }
        try agent.scan(["1.plist": Self.urls])
        try agent.finishAll(.failed(.status(429, retryAfter: .seconds(100))))
        #expect(agent.downloads.isEmpty && agent.plan.status.downloads.blocked == 19)
        try agent.scan(["2.plist": [Self.other, "https://h.example/late"]])
        #expect(Array(agent.downloads.keys) == [Self.other])
        try agent.finish(Self.other, with: "x")
        try agent.finishJobs()
        try agent.pass(.seconds(99))
        #expect(agent.downloads.isEmpty)
        try agent.pass(.seconds(11))
        #expect(agent.downloads.count == 1)
        try agent.finishAll(.failed(.status(404)))
        #expect(agent.downloads.count == 1)
    }

    @Test(
        "a Retry-After with another status holds for its URL, and the icons of other lists come",
        arguments: [403, 500, 503])
    func neighbour(status: Int) throws {
        var agent = AgentScenario { $0.fetch.perHost = 1 }
        let busy: IconURL = "https://h.example/busy"
        try agent.scan(["1.plist": [busy]])
        try agent.finish(busy, .failed(.status(status, retryAfter: .seconds(3600))))
        try agent.scan(["2.plist": Self.urls])
        for _ in Self.urls {
            let url = try #require(agent.downloads.keys.first)
            #expect(url != busy)
            try agent.finish(url, with: url)
        }
        #expect(agent.downloads.isEmpty && agent.plan.status.downloads.blocked == 0)
        try agent.finishJobs()
        try agent.pass(.seconds(3599))
        #expect(agent.downloads[busy] == nil)
        try agent.pass(.seconds(361))
        #expect(agent.downloads[busy] != nil)
    }

    @Test("an origin whose three URLs ask for a delay waits for the shortest one, and the URLs for their own")
    func commonDelay() throws {
        var agent = AgentScenario { $0.fetch.perHost = 1 }
        try agent.scan(["1.plist": Self.urls])
        var asked: [IconURL] = []
        for seconds in [300, 100, 3600] {
            let url = try #require(agent.downloads.keys.first)
            asked.append(url)
            try agent.finish(url, .failed(.status(503, retryAfter: .seconds(seconds))))
        }
        #expect(agent.downloads.isEmpty && agent.plan.status.downloads.blocked == 17)
        try agent.finishJobs()
        try agent.pass(.seconds(99))
        #expect(agent.downloads.isEmpty)
        try agent.pass(.seconds(11))
        #expect(!agent.downloads.isEmpty)
        #expect(try #require(agent.plan.icon(asked[2])?.failure?.nextAttempt) >= Sample.start + .seconds(3600))
    }

    @Test("a Retry-After with 429 behind a redirect holds for the target's origin, and for the URL")
    func redirected() throws {
        var agent = AgentScenario { $0.fetch.perHost = 1 }
        try agent.scan(["1.plist": Self.urls + [Self.other, "https://i.example/2"]])
        let url = try #require(agent.downloads.keys.first { $0.text.hasPrefix("https://h.") })
        let direct = try #require(agent.downloads.keys.first { $0.text.hasPrefix("https://i.") })
        var failure = FetchFailure.status(429, retryAfter: .seconds(500))
        failure.origin = "https://i.example:443"
        try agent.finish(url, .failed(failure))
        #expect(agent.downloads.count == 2)
        #expect(agent.plan.book.downloads.origins[Self.origin] == OriginHealth(failures: 1, waitsUntil: agent.now))
        try agent.finish(direct, with: "x")
        #expect(agent.downloads.count == 1 && agent.plan.status.downloads.blocked == 1)
        #expect(try #require(agent.plan.icon(url)?.failure?.nextAttempt) >= agent.now + .seconds(500))

        failure.origin = "https://unknown.example:443"
        try agent.finishAll(.failed(failure))
        #expect(agent.plan.book.downloads.origins["https://unknown.example:443"] == nil)
    }

    @Test("broken origins and their Retry-After survive restarts")
    func restart() throws {
        var agent = try Self.broken()
        try agent.finishJobs()
        try agent.pass(.zero)
        while agent.memory.origins.isEmpty { try agent.pass(.milliseconds(1001)) }
        for url in agent.downloads.keys.sorted() {
            try agent.finish(url, .failed(.status(503, retryAfter: .seconds(300))))
        }
        try agent.scan(["2.plist": [Self.other]])
        try agent.finish(Self.other, .failed(.status(429, retryAfter: .seconds(300))))
        try agent.finishJobs()
        try agent.pass(.seconds(1))
        let before = try #require(agent.plan.book.downloads.origins[Self.origin])
        try agent.restart()
        #expect(agent.plan.book.downloads.origins[Self.origin] == before && before.isBroken)
        try agent.scan(["1.plist": Self.urls, "2.plist": [Self.other, "https://i.example/2"]])
        #expect(agent.downloads.isEmpty || !before.isWaiting(at: agent.now) && agent.downloads.count == 1)
        try agent.pass(max(.zero, before.waitsUntil - agent.now))
        #expect(agent.downloads.keys.count { $0.text.hasPrefix("https://h.") } == 1)
        #expect(!agent.downloads.keys.contains { $0.text.hasPrefix("https://i.") })
    }

    @Test("a list that goes takes its held icons along, and if it comes back, their origin waits after one request")
    func dereferenced() throws {
        var agent = try Self.broken()
        try agent.scan(["1.plist": nil])
        try agent.finishJobs()
        let status = agent.plan.status
        #expect(status.downloads.counts == [0, 0, 0, 0] && !status.needsAttention && status.icons.referenced == 0)
        #expect(agent.cancelled.isEmpty && agent.plan.icon(Self.urls[19]) == nil)
        let failures = try #require(agent.plan.book.downloads.origins[Self.origin]?.failures)
        try agent.scan(["1.plist": Self.urls])
        #expect(agent.downloads.count == 1)
        try agent.finishAll(Self.timeout)
        #expect(agent.downloads.isEmpty)
        #expect(agent.plan.book.downloads.origins[Self.origin]?.failures == failures + 1)
    }

    @Test("an icon that somebody waits for is the first to be asked for")
    func awaited() throws {
        var agent = AgentScenario { $0.fetch.perHost = 1 }
        try agent.scan(["1.plist": Self.urls])
        let last = try #require(Self.urls.last { agent.downloads[$0] == nil })
        try agent.handle(.awaited([last, "https://unknown.example/"]))
        try agent.finishAll(.failed(.status(404)))
        #expect(Array(agent.downloads.keys) == [last])
    }

    @Test("the hours after a 404 are counted from the first 404, whatever happened before")
    func lastingAnew() throws {
        var agent = AgentScenario()
        try agent.scan(["1.plist": [Self.other]])
        for _ in 0..<4 {
            try agent.finishAll(Self.timeout)
            while agent.downloads.isEmpty {
                try agent.finishJobs()
                try agent.passToNextWake()
            }
        }
        for hours in [1, 2, 4, 8, 16, 24, 24] {
            try agent.finishAll(.failed(.status(404)))
            let next = try #require(agent.plan.icon(Self.other)?.failure?.nextAttempt)
            #expect(next >= agent.now + .seconds(hours * 2880) && next <= agent.now + .seconds(hours * 4320))
            while agent.downloads.isEmpty {
                try agent.finishJobs()
                try agent.passToNextWake()
            }
        }
    }

    @Test("requests put off by a clock years ahead are made at once")
    func clockWasAhead() throws {
        var agent = AgentScenario()
        let (ready, missing, gone, held): (IconURL, IconURL, IconURL, IconURL) = (
            "https://a/1", "https://b/1", "https://c/1", "https://d/1"
        )
        try agent.pass(.seconds(10 * 365 * 86_400))
        try agent.publish(["1.plist": [ready: "x"]])
        try agent.scan(["2.plist": [missing, gone, held]])
        try agent.finish(missing, .failed(.status(404)))
        try agent.finish(gone, .failed(.status(410)))
        try agent.finish(held, .failed(.status(503, retryAfter: .seconds(86_400))))
        try agent.finishJobs()
        try agent.pass(.seconds(1))
        try agent.restart(at: Sample.start)
        try agent.scan(["1.plist": [ready], "2.plist": [missing, gone, held]])
        #expect(Set(agent.downloads.keys) == [ready, missing, gone, held])
    }
}
