// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import HTTPRules
import Reports
import Testing

@testable import SyncPlan

@Suite("Downloads that are cut off")
struct CutDownloadsTests {
    private static let url: IconURL = "https://a.example/1.png"

    /// How an attempt ended: after so many seconds, at this byte of the image.
    struct Attempt: Sendable {
        var time: Int
        var failure: FetchFailure

        /// A response with the whole image that was cut off; what came of it is kept.
        static func whole(_ time: Int, _ end: Int) -> Attempt {
            Attempt(time: time, failure: .cut(at: end, isWhole: true, isKept: true))
        }

        /// The same from a server without ranges, or before there was enough to be kept.
        static func lost(_ time: Int, _ end: Int) -> Attempt {
            Attempt(time: time, failure: .cut(at: end, isWhole: true, isKept: false))
        }

        /// A response with the rest.
        static func rest(_ time: Int, _ end: Int) -> Attempt {
            Attempt(time: time, failure: .cut(at: end, isWhole: false, isKept: true))
        }
    }

    /// What a server does, and for each attempt: `+` is progress, `-` an ordinary failure, `x` one that lasts.
    private static let servers: [(String, [Attempt], String)] = [
        ("each body is cut after some bytes", [.whole(0, 100_000), .rest(1, 200_000), .rest(2, 250_000)], "+++"),
        ("each rest is cut after 16 KiB", [.whole(0, 100_000), .rest(1, 116_384)], "++"),
        ("the rest drips", [.whole(0, 100_000), .rest(1, 100_001), .rest(2, 100_002), .rest(3, 100_003)], "+---"),
        ("the rest comes slowly", [.whole(0, 100_000), .rest(1, 110_000), .rest(2, 120_000)], "+-+"),
        (
            "without ranges, always at one byte",
            [.lost(0, 50_000), .lost(100, 50_000), .lost(299, 50_000), .lost(300, 50_000)], "---x"
        ),
        ("without ranges, twice at one byte", [.lost(0, 50_000), .lost(3600, 50_000)], "--"),
        ("without ranges, at three bytes", [.lost(0, 50_000), .lost(300, 50_001), .lost(600, 50_002)], "---"),
        (
            "without ranges, further each time",
            [.lost(0, 50_000), .lost(300, 90_000), .lost(600, 130_000), .lost(900, 170_000)], "----"
        ),
        (
            "without ranges, elsewhere in between",
            [.lost(0, 50_000), .lost(200, 50_000), .lost(250, 1), .lost(300, 50_000), .lost(400, 50_000)], "-----"
        ),
        (
            "the rest never comes",
            [
                .whole(0, 100_000), .rest(1, 100_000), .rest(2, 100_000), .rest(3, 100_000), .whole(300, 100_000),
                .rest(301, 100_000), .rest(302, 100_000), .rest(303, 100_000), .whole(304, 100_000),
            ], "+-------x"
        ),
        (
            "the tag is another one each time",
            [.whole(0, 100_000), .whole(100, 100_000), .whole(300, 100_000)], "+-x"
        ),
        (
            "ranges end where the file does, and the whole image earlier",
            [.whole(0, 100_000), .rest(1, 150_000), .whole(2, 100_000), .whole(150, 100_000), .whole(302, 100_000)],
            "++--x"
        ),
        (
            "truncated, at another place, then mended",
            [.lost(0, 9), .lost(1, 9), .lost(300, 9), .lost(4000, 8), .whole(9000, 100_000), .rest(9001, 200_000)],
            "--xx++"
        ),
    ]

    /// The same, after parts that were lost: the image changed on the server, or a user wants a full request.
    private static let losses: [(String, [Attempt], String)] = [
        (
            "ranges go on from the new part",
            [
                .whole(0, 100_000), .rest(1, 190_000), .rest(2, 280_000), .whole(10, 100_000), .rest(11, 190_000),
                .rest(12, 280_000), .rest(13, 297_000),
            ], "+++-+++"
        ),
        (
            "the image changes every few seconds",
            [
                .whole(0, 100_000), .rest(1, 200_000), .whole(2, 90_000), .rest(3, 190_000), .whole(4, 95_000),
                .rest(5, 195_000), .whole(302, 97_000), .rest(303, 197_000),
            ], "++-+---+"
        ),
        (
            "ranges end where the file does, again and again",
            [
                .whole(0, 100_000), .rest(1, 150_000), .rest(2, 150_000), .whole(10, 100_000), .rest(11, 150_000),
                .rest(12, 150_000), .whole(150, 100_000), .rest(151, 150_000), .whole(311, 100_000),
            ], "++--+---x"
        ),
        (
            "ranges work again after an hour",
            [
                .whole(0, 100_000), .whole(100, 100_000), .whole(300, 100_000), .rest(3900, 190_000),
                .rest(3901, 280_000),
            ], "+-x++"
        ),
        (
            "the same, and more had come before",
            [
                .whole(0, 100_000), .rest(1, 280_000), .whole(2, 100_000), .whole(3, 100_000), .whole(302, 100_000),
                .rest(3902, 190_000), .rest(3903, 280_000), .rest(3904, 297_000),
            ], "++--x+++"
        ),
    ]

    @Test("CutDownloads tells progress from a place that no response gets beyond", arguments: servers + losses)
    func verdicts(server: String, attempts: [Attempt], verdicts: String) {
        var cuts = CutDownloads()
        var last: FetchFailure.Code?
        var found = ""
        for attempt in attempts {
            let outcome = FetchOutcome.failed(attempt.failure)
            let now = Sample.start + .seconds(attempt.time)
            guard case .failed(let failure) = cuts.record(outcome, of: Self.url, after: last, at: now) else { return }
            last = failure.code
            found += failure.cut?.isProgress == true ? "+" : last == .fetch(.cutShort) ? "x" : "-"
        }
        #expect(found == verdicts)
    }

    @Test("CutDownloads has the whole image requested after three requests for the rest without progress")
    func whole() {
        var cuts = CutDownloads()
        func end(_ attempt: Attempt) -> Bool {
            _ = cuts.record(.failed(attempt.failure), of: Self.url, after: nil, at: Sample.start)
            return cuts.mayResume(Self.url)
        }
        #expect(cuts.mayResume(Self.url))
        let ends = [100_000, 100_000, 100_001, 100_002].map { end(.rest(0, $0)) }
        #expect(ends == [true, true, true, false])
        #expect(end(.whole(0, 100_000)) && end(.rest(0, 120_000)))
    }

    @Test("CutDownloads goes by the code of an icon that always ended at one place before a restart")
    func restarted() {
        for attempt in [Attempt.lost(0, 5), .whole(0, 100_000), .rest(0, 100_000)] {
            var cuts = CutDownloads()
            let outcome = cuts.record(
                .failed(attempt.failure), of: Self.url, after: .fetch(.cutShort), at: Sample.start)
            #expect(outcome.isCutShort)
        }
    }

    @Test("CutDownloads has the rest requested once after each whole image that ends where all do")
    func restOnce() {
        var cuts = CutDownloads()
        let attempts: [Attempt] = [.rest(0, 100_000), .rest(0, 100_000), .whole(0, 100_000), .rest(0, 100_000)]
        let mayResume = attempts.map { attempt in
            let outcome = cuts.record(
                .failed(attempt.failure), of: Self.url, after: .fetch(.cutShort), at: Sample.start)
            return outcome.isCutShort && cuts.mayResume(Self.url)
        }
        // After a restart, nobody knows which was the last one.
        #expect(mayResume == [true, false, true, false])
    }

    @Test("CutDownloads counts pieces before another failure as progress, and that failure is not a cut")
    func otherFailure() {
        var cuts = CutDownloads()
        func end(_ end: Int, after last: FetchFailure.Code?) -> FetchFailure? {
            var failure = FetchFailure.status(503)
            failure.cut = FetchFailure.Cut(end: end, length: 300_000, isWhole: false, isKept: true)
            let outcome = cuts.record(.failed(failure), of: Self.url, after: last, at: Sample.start)
            return if case .failed(let failure) = outcome { failure } else { nil }
        }
        let progress = end(200_000, after: nil)
        #expect(progress?.cut?.isProgress == true && progress?.code == .http(503) && progress?.blame == .origin)
        for _ in 0..<4 {
            let failure = end(200_000, after: .fetch(.cutShort))
            #expect(failure?.cut?.isProgress == false && failure?.code == .http(503))
        }
        #expect(cuts.mayResume(Self.url))
    }

    @Test(
        "CutDownloads forgets a place when something else comes of the image",
        arguments: [
            (.notModified(Sample.response(etag: "x")), true), (.failed(.status(404)), true),
            (.failed(.status(503)), false), (.failed(FetchFailure(.dns, "x")), false), (.cancelled, false),
        ] as [(FetchOutcome, Bool)])
    func others(outcome: FetchOutcome, isForgotten: Bool) {
        var cuts = CutDownloads()
        let cut = FetchOutcome.failed(.cut(at: 5, isWhole: true, isKept: false))
        for time in [0, 300] { _ = cuts.record(cut, of: Self.url, after: nil, at: Sample.start + .seconds(time)) }
        #expect(cuts.record(outcome, of: Self.url, after: nil, at: Sample.start + .seconds(301)) == outcome)
        let last = cuts.record(cut, of: Self.url, after: nil, at: Sample.start + .seconds(302))
        #expect(last.isCutShort == !isForgotten)
    }

    @Test("a cut download says what is kept, or where every response ends")
    func messages() {
        var cuts = CutDownloads()
        let cut = FetchOutcome.failed(.cut(at: 100_000, isWhole: true, isKept: true))
        let kept = cuts.record(cut, of: Self.url, after: nil, at: Sample.start)
        guard case .failed(let progress) = kept else { return }
        #expect(progress.message == "cut; 100000 of 300000 bytes are kept, and the next attempt can go on there")
        #expect(FetchFailure.cut(at: 5, isWhole: true, isKept: false).message == "cut")
        #expect(
            FetchFailure.cutShort(at: FetchFailure.Cut(end: 5, length: nil, isWhole: true, isKept: false)).message
                == "every response ends after 5 bytes: the file on the server is truncated, or something on the way cuts "
                + "it off")
        #expect(FetchFailure.leavingOutPart(of: progress.message) == "cut")
        #expect(FetchFailure.leavingOutPart(of: "a; b") == "a; b")
    }

    // MARK: An agent

    @Test("an agent whose download is cut again and again, but gets further, goes on within seconds")
    func progress() throws {
        var agent = AgentScenario()
        try agent.scan(["1.plist": [Self.url]])
        for part in 1...16 {
            let failure = FetchFailure.cut(at: part * 18_000, isWhole: part == 1, isKept: true)
            try agent.finish(Self.url, .failed(failure), leavingPart: true)
            #expect(agent.plan.status.downloads.origins == [])
            let begin = agent.now
            try agent.fetchAgain(Self.url)
            #expect(agent.now - begin <= .seconds(1))
            #expect(agent.downloads[Self.url]?.mayResume == true)
        }
        try agent.finish(Self.url, with: "x")
        try agent.finishJobs()
        #expect(agent.plan.status.icons.ready == 1 && agent.disk.partials.isEmpty)
    }

    @Test("an agent retries a download that drips with growing delays")
    func drip() throws {
        var agent = AgentScenario()
        try agent.scan(["1.plist": [Self.url]])
        let begin = agent.now
        for part in 0..<40 {
            let isWhole = agent.downloads[Self.url]?.mayResume == false
            let failure = FetchFailure.cut(at: 100_000 + part, isWhole: isWhole, isKept: true)
            try agent.finish(Self.url, .failed(failure), leavingPart: true)
            try agent.fetchAgain(Self.url)
        }
        #expect(agent.now - begin > .seconds(3600))
    }

    @Test("an agent whose download always ends at one byte waits longer after minutes, and gets the image at last")
    func cutShort() throws {
        for isKept in [false, true] {
            var agent = AgentScenario()
            try agent.scan(["1.plist": [Self.url]])
            while agent.plan.status.failures.first?.code != "cut-short" {
                try agent.fetchAgain(Self.url)
                let isWhole = agent.downloads[Self.url]?.mayResume == false
                try agent.finish(
                    Self.url, .failed(.cut(at: 100_000, isWhole: isWhole, isKept: isKept)), leavingPart: isKept)
                try #require(agent.requests.count < 40)
            }
            try agent.finishJobs()
            let failure = try #require(agent.plan.status.failures.first)
            #expect(failure.message.hasPrefix("every response ends after 100000 of 300000 bytes: "))
            let parts: Set<IconURL> = isKept ? [Self.url] : []
            #expect(agent.disk.partials == parts)
            // 1 h, give or take a fifth, then 2 h: not within seconds, also after a restart.
            try agent.pass(.seconds(2879))
            #expect(agent.downloads.isEmpty)
            try agent.restart()
            try agent.scan(["1.plist": [Self.url]])
            try agent.pass(.seconds(1442))
            #expect(agent.downloads[Self.url]?.mayResume == isKept)
            try agent.finish(
                Self.url, .failed(.cut(at: 100_000, isWhole: !isKept, isKept: isKept)), leavingPart: isKept)
            #expect(agent.plan.status.failures.map(\.code) == ["cut-short"] && agent.disk.partials == parts)
            try agent.pass(.seconds(5759))
            #expect(agent.downloads.isEmpty)
            try agent.pass(.seconds(2882))
            try agent.finish(Self.url, with: "x")
            try agent.finishJobs()
            #expect(agent.plan.status.icons.ready == 1 && agent.disk.partials.isEmpty)
        }
    }

    /// Lets pieces come until the image is complete, each within a second.
    private static func complete(_ agent: inout AgentScenario, from first: Int) throws {
        for end in stride(from: first, through: 290_000, by: 90_000) {
            let isWhole = agent.downloads[url]?.mayResume == false
            try agent.finish(url, .failed(.cut(at: end, isWhole: isWhole, isKept: true)), leavingPart: true)
            let begin = agent.now
            try agent.fetchAgain(url)
            #expect(agent.now - begin <= .seconds(1))
            #expect(agent.downloads[url]?.mayResume == true)
        }
        try agent.finish(url, with: "x")
        try agent.finishJobs()
        #expect(agent.plan.status.icons.ready == 1 && agent.disk.partials.isEmpty)
    }

    @Test("an agent that always got the whole image cut at one byte requests the rest once an hour later")
    func restAfterCutShort() throws {
        var agent = AgentScenario()
        try agent.scan(["1.plist": [Self.url]])
        while agent.plan.status.failures.first?.code != "cut-short" {
            try agent.fetchAgain(Self.url)
            let isWhole = agent.downloads[Self.url]?.mayResume == false
            try agent.finish(
                Self.url, .failed(.cut(at: 100_000, isWhole: isWhole, isKept: true)), leavingPart: true)
            try #require(agent.requests.count < 40)
        }
        try agent.fetchAgain(Self.url)
        #expect(agent.downloads[Self.url]?.mayResume == true)
        try Self.complete(&agent, from: 190_000)
    }

    @Test("an agent whose part a full request or a purge discards begins anew", arguments: [false, true])
    func discarded(isPurge: Bool) throws {
        var agent = AgentScenario()
        try agent.scan(["1.plist": [Self.url]])
        for (end, isWhole) in [(100_000, true), (280_000, false)] {
            try agent.finish(Self.url, .failed(.cut(at: end, isWhole: isWhole, isKept: true)), leavingPart: true)
            if isWhole { try agent.fetchAgain(Self.url) }
        }
        try agent.handle(isPurge ? .purge : .request([Self.url], isRefresh: true, isFull: true))
        #expect(agent.disk.partials.isEmpty)
        try agent.finishJobs()
        try agent.fetchAgain(Self.url)
        #expect(agent.downloads[Self.url]?.mayResume == false)
        try Self.complete(&agent, from: 100_000)
    }

    @Test("icons that share a download share its cut, and that it always ends at one byte, but not its part")
    func shared() throws {
        var agent = AgentScenario()
        let urls = ["#x", "#y"].map { IconURL(Self.url.text + $0) }
        try agent.scan(["1.plist": urls])
        let first = try #require(agent.requests.first?.url)
        let other = try #require(urls.first { $0 != first })
        var number = 0
        while agent.plan.icon(first)?.failure?.code != .fetch(.cutShort) {
            // Whoever comes first requests the image.
            while agent.downloads.isEmpty {
                try agent.passToNextWake()
                try agent.finishJobs()
            }
            let request = try #require(agent.requests.last)
            try agent.finish(
                request.url, .failed(.cut(at: 100_000, isWhole: !request.mayResume, isKept: true)), leavingPart: true)
            number += 1
            if number == 1 { #expect(agent.plan.icon(other)?.failure?.message == "cut") }
            try #require(number < 80)
        }
        // It may be due later than the first.
        while agent.plan.icon(other)?.failure?.code != .fetch(.cutShort) {
            try agent.passToNextWake()
            try agent.finishJobs()
            try #require(agent.downloads.isEmpty)
        }
    }
}

extension FetchOutcome {
    /// Whether the image never gets further than its part.
    fileprivate var isCutShort: Bool {
        if case .failed(let failure) = self { failure.code == .fetch(.cutShort) } else { false }
    }
}

extension FetchFailure {
    /// A connection that was closed at this byte of an image of 300,000.
    fileprivate static func cut(at end: Int, isWhole: Bool, isKept: Bool) -> FetchFailure {
        var failure = FetchFailure(.connectionClosed, "cut")
        failure.cut = Cut(end: end, length: 300_000, isWhole: isWhole, isKept: isKept)
        return failure
    }
}
