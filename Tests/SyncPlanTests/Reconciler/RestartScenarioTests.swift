import AppLists
import CacheFormat
import HTTPRules
import Reports
import Testing

@testable import AgentSettings
@testable import SyncPlan

// SPDX-License-Identifier: Apache-2.0

@Suite("The agent ends, and starts again")
struct RestartScenarioTests {
    private static let a: IconURL = "https://h.example/a.png"
    private static let b: IconURL = "https://h.example/b.png"

    private static func ready(_ word: String) -> AppListDocument.State { .ready(Sample.image(word)) }

    /// An agent that has published a list, remembered all there is to, and ended.
    private static func restarted(losing words: [String] = []) throws -> AgentScenario {
        var agent = AgentScenario { $0.cache.grace = .seconds(600) }
        try agent.publish(["1.plist": [a: "x", b: "y"]])
        try agent.pass(.seconds(1))
        try agent.restart(losing: Set(words.map { Sample.image($0).sha256 }))
        return agent
    }

    @Test("a restart fetches and publishes nothing again")
    func nothingToDo() throws {
        var agent = try Self.restarted()
        #expect(!agent.plan.status.inSync)
        try agent.scan(["1.plist": [Self.a, Self.b]])
        #expect(agent.requests.count == 2 && agent.publication == nil)
        #expect(agent.plan.status.inSync && agent.plan.isSettled)
        try agent.pass(.seconds(2 * 86_400))
        #expect(agent.downloads[Self.a]?.condition?.validators == Validators(etag: "x"))
    }

    @Test("a copy of the machine checks its images at another time, which it keeps; the original keeps its own")
    func copied() throws {
        var agent = AgentScenario()
        try agent.scan(["1.plist": [Self.a]])
        let response = Sample.response([("Cache-Control", "max-age=86400"), ("ETag", "\"x\"")])
        let received = agent.now
        try agent.finish(Self.a, with: "x", answer: response)
        try agent.finishJobs()
        var planned = try #require(agent.plan.icon(Self.a)?.freshUntil)
        // An image is often filled before it has an ID; a start without one does not make a machine a copy.
        let starts = [
            (nil, isCopy: false), ("original", isCopy: true), ("original", isCopy: false), (nil, isCopy: false),
            ("original", isCopy: false), ("copy", isCopy: true), ("copy", isCopy: false),
        ]
        for (machine, isCopy) in starts {
            try agent.pass(.seconds(60))
            agent.machine = machine
            agent.seed += 1
            try agent.restart()
            let time = try #require(agent.plan.icon(Self.a)?.freshUntil)
            #expect((time != planned) == isCopy, "\(machine ?? "no ID")")
            #expect((received + .seconds(86_400)...received + .seconds(90_000)).contains(time))
            planned = time
        }
    }

    @Test("a generation number is never used again")
    func numbers() throws {
        var agent = try Self.restarted()
        try agent.scan(["1.plist": [Self.a]])
        #expect(agent.publication?.generation == 2)
        try agent.restart()
        try agent.scan(["1.plist": [Self.a]])
        try agent.finishPublication()
        // Perhaps the first one came about, although nobody was told.
        #expect(agent.disk.current?.generation == 3)
    }

    @Test("the way of the last download is known until the next one, which may be straight")
    func trail() throws {
        let hops = [FetchTrail.Hop(try FetchTarget(Self.a.text)), FetchTrail.Hop(try FetchTarget(Self.b.text))]
        var agent = AgentScenario()
        try agent.scan(["1.plist": [Self.a]])
        try agent.finish(Self.a, .failed(.status(404)), trail: FetchTrail(hops))
        try agent.finishPublication()
        try agent.passToNextWake()
        try agent.restart()
        try agent.scan(["1.plist": [Self.a]])
        #expect(agent.plan.report(on: Self.a, now: agent.now)?.trail == hops)
        while agent.downloads.isEmpty { try agent.passToNextWake() }
        try agent.finish(Self.a, .cancelled)
        #expect(agent.plan.report(on: Self.a, now: agent.now)?.trail == hops)
        try agent.finish(Self.a, with: "x")
        #expect(agent.plan.report(on: Self.a, now: agent.now)?.trail == [])
    }

    @Test("an image that is missing is fetched again, and put back")
    func missing() throws {
        var agent = try Self.restarted(losing: ["x"])
        try agent.scan(["1.plist": [Self.a, Self.b]])
        let request = try #require(agent.downloads[Self.a])
        #expect(agent.downloads.count == 1 && request.reason == .missingOnDisk && request.condition?.validators == nil)
        try agent.finish(Self.a, with: "x")
        while agent.publication != nil { try agent.finishPublication() }
        #expect(agent.isOnDisk("x"))
        #expect(try agent.published("1.plist") == [Self.ready("x"), Self.ready("y")])
        #expect(agent.plan.status.publication.error == nil)
    }

    @Test("a lost image is in no manifest until it is fetched again")
    func missingMeanwhile() throws {
        var agent = try Self.restarted(losing: ["x"])
        try agent.scan(["1.plist": [Self.a, Self.b]])
        try agent.pass(.milliseconds(50))
        try agent.finishPublication()
        #expect(try agent.published("1.plist") == [.pending, Self.ready("y")])
    }

    @Test("the grace of retired images goes on over a restart, and then their files are removed")
    func grace() throws {
        var agent = AgentScenario { $0.cache.grace = .seconds(600) }
        try agent.publish(["1.plist": [Self.a: "x"]])
        try agent.scan(["1.plist": nil])
        try agent.finishPublication()
        try agent.pass(.seconds(300))
        try agent.restart()
        try agent.scan([:])
        try agent.pass(.seconds(299))
        #expect(agent.release == nil)
        try agent.pass(.seconds(2))
        #expect(agent.release == [1])
        try agent.finishRelease()
        try agent.finishRemoval()
        #expect(agent.disk.images.isEmpty && agent.disk.names.isEmpty)
    }

    @Test("a list that was removed meanwhile is retired")
    func removedMeanwhile() throws {
        var agent = try Self.restarted()
        try agent.scan(["1.plist": nil])
        try agent.finishPublication()
        #expect(agent.disk.current?.lists == [:] && agent.isOnDisk("x"))
    }

    @Test("a failure's delay goes on, and a refused URL is judged anew")
    func failures() throws {
        var agent = AgentScenario()
        try agent.scan(["1.plist": [Self.a, "ftp://h/b"]])
        try agent.finish(Self.a, .failed(.status(404)))
        try agent.finishPublication()
        try agent.pass(.seconds(1))
        try agent.restart()
        try agent.scan(["1.plist": [Self.a, "ftp://h/b"]])
        #expect(agent.downloads.isEmpty)
        #expect(agent.plan.icon(Self.a)?.failure?.attempts == 1)
        #expect(agent.plan.icon("ftp://h/b")?.failure?.code == .url(.schemeRefused))
        while agent.publication != nil { try agent.finishPublication() }
        #expect(try agent.published("1.plist") == [.failed(error: "http-404"), .failed(error: "scheme-refused")])
        try agent.pass(.seconds(2 * 3600))
        #expect(agent.downloads[Self.a]?.reason == .retry)
    }

    @Test("an image that was downloaded and not published does not vouch for the one on disk")
    func crashBeforePublication() throws {
        var agent = AgentScenario()
        try agent.publish(["1.plist": [Self.a: "x"]])
        try agent.pass(.seconds(2 * 86_400))
        try agent.finish(Self.a, with: "y")
        #expect(agent.publication != nil)
        try agent.restart()
        try agent.scan(["1.plist": [Self.a]])
        if agent.downloads.isEmpty { try agent.pass(.seconds(2 * 86_400)) }
        #expect(agent.downloads[Self.a]?.condition?.validators == Validators(etag: "x"))
    }

    @Test("the response of a first image is remembered when its publication begins")
    func crashDuringPublication() throws {
        var agent = AgentScenario()
        try agent.scan(["1.plist": [Self.a]])
        try agent.finish(Self.a, with: "x")
        let publication = try #require(agent.publication)
        // The manifest is the last that the agent writes.
        _ = try agent.disk.publish(publication)
        try agent.restart()
        try agent.scan(["1.plist": [Self.a]])
        try agent.pass(.seconds(2 * 86_400))
        #expect(agent.downloads[Self.a]?.condition?.validators == Validators(etag: "x"))
    }

    @Test("the remembered response of an unpublished first image vouches for nothing")
    func crashBeforeFirstPublication() throws {
        var agent = AgentScenario()
        try agent.scan(["1.plist": [Self.a]])
        try agent.finish(Self.a, with: "x")
        #expect(agent.publication != nil)
        try agent.restart()
        try agent.scan(["1.plist": [Self.a]])
        #expect(agent.downloads[Self.a] != nil && agent.downloads[Self.a]?.condition == nil)
    }

    @Test("a stop in the middle publishes what was downloaded, and begins nothing any more")
    func stop() throws {
        var agent = AgentScenario { $0.fetch.perHost = 2 }
        let c: IconURL = "https://h.example/c.png"
        try agent.scan(["1.plist": [Self.a, Self.b, c]])
        let (first, second) = (try #require(agent.requests.first?.url), try #require(agent.requests.last?.url))
        try agent.finish(first, with: "x")
        let begun = Set(agent.downloads.keys)
        try agent.handle(.stopping)
        #expect(Set(agent.cancelled) == begun && begun.contains(second))
        #expect(!agent.plan.isSettled)
        for url in begun { try agent.finish(url, .cancelled) }
        #expect(agent.requests.count == 3)
        try agent.finishPublication()
        #expect(agent.plan.isSettled && agent.downloads.isEmpty && agent.disk.staging.isEmpty)
        #expect(try agent.published("1.plist").count { $0 == Self.ready("x") } == 1)
        try agent.restart()
        try agent.scan(["1.plist": [Self.a, Self.b, c]])
        #expect(!agent.requests.dropFirst(3).contains { $0.url == first } && agent.downloads.count == 2)
    }

    @Test("a stop ends although publishing fails, and with nothing to do it ends at once")
    func stopWithoutDisk() throws {
        var agent = AgentScenario()
        try agent.scan(["1.plist": [Self.a]])
        try agent.finish(Self.a, with: "x")
        try agent.handle(.stopping)
        #expect(!agent.plan.isSettled)
        try agent.finishPublication(fails: true)
        #expect(agent.plan.isSettled && agent.downloads.isEmpty)

        var idle = AgentScenario()
        try idle.handle(.stopping)
        #expect(idle.plan.isSettled)
    }

    @Test("the changes drained at the end are those not stored before")
    func drainMemoChanges() throws {
        var agent = AgentScenario()
        try agent.publish(["1.plist": [Self.a: "x"]])
        try agent.pass(.seconds(2 * 86_400))
        try agent.finish(Self.a, .notModified(Sample.response(etag: "x", at: agent.now)))
        var plan = agent.plan
        let changes = plan.drainMemoChanges()
        #expect(changes.remembered.map(\.url) == [Self.a] && changes.forgotten.isEmpty)
        #expect(changes.remembered.first?.packedResponse?.unpacked.validators == Validators(etag: "x"))
        #expect(plan.drainMemoChanges().isEmpty)
    }

    @Test("memos that were lost are stored again")
    func memoryLost() throws {
        var agent = AgentScenario {
            $0.cache.grace = .seconds(600)
            $0.eviction.holdAbove = HoldThreshold(percent: 50, images: 0)
        }
        try agent.publish(["1.plist": [Self.a: "x", Self.b: "y"], "2.plist": ["https://i.example/": "z"]])
        try agent.scan(["1.plist": nil])
        try agent.finishJobs()
        try agent.scan(["3.plist": ["https://j.example/"]])
        try agent.finish("https://j.example/", .failed(.timeout("the test's patience")))
        try agent.handle(.pause(Pause()))
        try agent.finishJobs()
        try agent.pass(.seconds(1))
        let memory = agent.memory
        #expect(
            memory.values.hold != nil && !memory.superseded.isEmpty && !memory.origins.isEmpty && memory.values.isPaused
        )
        agent.memory = SimulatedMemory()
        try agent.handle(.memoryLost(.removed))
        #expect(agent.memory.icons == memory.icons && agent.memory.origins == memory.origins)
        #expect(agent.memory.values.hold == memory.values.hold && agent.memory.superseded == memory.superseded)
        #expect(agent.memory.values.isPaused && agent.memory.values.folder == memory.values.folder)
        #expect(agent.memory.lists == memory.lists)
    }

    // MARK: Lists that need not be parsed again

    @Test("a list is known after a restart once it was read and published")
    func knownLists() throws {
        var agent = try Self.restarted()
        #expect(agent.plan.knownLists == ["1.plist": Self.known([Self.a, Self.b])])
        try agent.scan(["1.plist": [Self.a], "2.plist": [Self.b]])
        try agent.pass(.seconds(1))
        var early = agent
        try early.restart()
        #expect(early.plan.knownLists == ["1.plist": Self.known([Self.a, Self.b])])
        try agent.finishPublication()
        try agent.pass(.seconds(1))
        try agent.restart()
        #expect(agent.plan.knownLists == ["1.plist": Self.known([Self.a]), "2.plist": Self.known([Self.b])])
        try agent.scan(["1.plist": nil, "2.plist": [Self.b]])
        try agent.finishPublication()
        try agent.pass(.seconds(1))
        #expect(agent.memory.lists.keys.sorted() == ["2.plist"])
    }

    private static func known(_ urls: [IconURL]) -> KnownList {
        KnownList(sha256: Sample.source(urls).sha256, entries: AppEntries(Sample.entries(urls)))
    }

    @Test("a list with a flaw is not known after a restart: its document does not tell the flaw")
    func flawedList() throws {
        var agent = try Self.restarted()
        var reading = Sample.reading([Self.a, Self.b])
        reading.verdict = .success(
            AppList(
                entries: Sample.entries([Self.a, Self.b]),
                problems: [EntryProblem(keyPath: "[2]", reason: "not a string")]))
        try agent.handle(.scanned(.listed(agent.folder, present: ["1.plist"], changed: ["1.plist": reading])))
        try agent.pass(.seconds(1))
        #expect(agent.memory.lists.isEmpty)
        try agent.restart()
        #expect(agent.plan.knownLists.isEmpty)
    }

    @Test("a list is not known after a restart if other settings reject it before its memo is stored")
    func rejectedByReload() throws {
        var agent = try Self.restarted()
        try agent.scan(["1.plist": [Self.a]])
        agent.settings.lists.maxEntries -= 1
        try agent.handle(.configured(agent.settings, needRestart: []))
        try agent.pass(.milliseconds(100))
        try agent.spoil("1.plist")
        try agent.pass(.seconds(2))
        try agent.finishJobs()
        try agent.pass(.seconds(2))
        #expect(agent.plan.status.lists.first?.state == .lastGood && agent.memory.lists.isEmpty)
    }

    @Test("all lists are read again under other rules, also after a start that did not read them")
    func otherRules() throws {
        var agent = try Self.restarted()
        agent.settings.lists.maxEntries -= 1
        for _ in 1...2 {
            try agent.restart()
            #expect(agent.plan.knownLists.isEmpty)
            try agent.pass(.seconds(1))
            #expect(agent.memory.lists.isEmpty)
        }
        try agent.scan(["1.plist": [Self.a, Self.b]])
        try agent.pass(.seconds(1))
        try agent.restart()
        #expect(agent.plan.knownLists.keys.sorted() == ["1.plist"])
    }

    @Test("a hold is not of generations that are yet to come")
    func holdAhead() throws {
        var agent = try Self.restarted()
        var changes = MemoChanges()
        changes.values = RememberedValues(
            holds: [
                EvictionBrake.Hold(
                    since: agent.now, generation: 1 << 53, images: 1_000_000_000, total: 1_000_000_000)
            ])
        agent.memory.store(changes)
        try agent.restart()
        try agent.scan(["1.plist": [Self.a, Self.b]])
        #expect(agent.plan.status.eviction == .active && agent.memory.values.holds.isEmpty)
    }

    @Test("a restart probes a broken origin with one request if other settings may let it answer, and no other one")
    func probes() throws {
        let urls = (1...20).map { IconURL("https://h.example/\($0)") }
        for (failure, count) in [(FetchFailure(.tls, "not trusted"), 1), (.timeout("60 s"), 0)] {
            var agent = AgentScenario { ($0.fetch.retryBase, $0.fetch.retryMax) = (.seconds(10_000), .seconds(10_000)) }
            try agent.scan(["1.plist": urls])
            while !agent.downloads.isEmpty { try agent.finishAll(.failed(failure)) }
            try agent.finishJobs()
            for _ in 0..<3 {
                try agent.pass(.seconds(2))
                let requests = agent.requests.count
                try agent.restart()
                try agent.scan(["1.plist": urls])
                #expect(agent.requests.count == requests + count && agent.downloads.count == count)
                if count == 1 { try agent.finishAll(.failed(failure)) }
                try agent.finishJobs()
                #expect(agent.downloads.isEmpty)
            }
        }
    }

    @Test(
        "failures that settings decided are requested again at a restart, those of servers are not",
        arguments: [
            ("address-refused", true), ("host-refused", true), ("downgrade-refused", true), ("too-large", true),
            ("too-many-redirects", true), ("image-too-large", true), ("tls", true), ("http-404", false),
            ("http-503", false), ("timeout", false), ("not-an-image", true), ("digest-mismatch", false),
        ])
    func settings(code: String, isAskedAgain: Bool) throws {
        let code = try #require(FetchFailure.Code(rawValue: code))
        var agent = AgentScenario()
        try agent.scan(["1.plist": [Self.a]])
        try agent.finish(Self.a, .failed(FetchFailure(code, "", .lasting)))
        try agent.finishPublication()
        try agent.pass(.seconds(2))
        try agent.restart()
        try agent.scan(["1.plist": [Self.a]])
        #expect(agent.requests.count == (isAskedAgain ? 2 : 1))
        #expect(agent.plan.icon(Self.a)?.failure?.code == code)
    }

    @Test(
        "a URL that no list names and of which nothing is on disk is forgotten, and named again it is remembered anew")
    func forgotten() throws {
        let memo = IconMemo(
            url: Self.a, image: nil, freshUntil: Timestamp(sinceEpoch: .zero),
            failure: IconRecord.Failure(
                code: .http(404), message: "", attempts: 1, nextAttempt: Timestamp(sinceEpoch: .zero)))
        var restored = RestoredState()
        restored.memory.icons = [memo]
        var plan = Reconciler(settings: Settings(), seed: 1, restored: restored, now: Timestamp(sinceEpoch: .zero))
        #expect(plan.drainMemoChanges() == MemoChanges(forgotten: [Self.a]))
    }

    @Test("a generation number is never used again, also if the cache is an older copy by then, or a new one")
    func numbersOfAnotherCache() throws {
        var agent = AgentScenario()
        try agent.publish(["1.plist": [Self.a: "x"]])
        let copy = agent.disk
        for number in 2..<6 { try agent.scan(["\(number).plist": []]); try agent.finishJobs() }
        let newest = try #require(agent.disk.current?.generation)
        #expect(newest >= 5)
        for disk in [copy, SimulatedDisk()] {
            var later = agent
            try later.restart(on: disk)
            try later.scan(["1.plist": [Self.a]])
            if later.publication == nil { try later.pass(.seconds(1)) }
            if later.publication == nil { try later.scan(["2.plist": []]) }
            #expect(later.publication?.generation == newest + 1)
        }
        // What was given to a publication that came to nothing is not remembered as less.
        try agent.scan(["9.plist": []])
        try agent.finishPublication(fails: true)
        #expect(agent.memory.values.newestGeneration == newest + 1)
        try agent.handle(.memoryLost(.removed))
        #expect(agent.memory.values.newestGeneration == newest + 1)
    }
}
