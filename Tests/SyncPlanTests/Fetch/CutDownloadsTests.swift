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

    @Test("CutDownloads tells progress from a place that no response gets beyond", arguments: servers)
    func judge(server: String, attempts: [Attempt], verdicts: String) {
        var cuts = CutDownloads()
        var last: FetchFailure.Code?
        var found = ""
        for attempt in attempts {
            let outcome = FetchOutcome.failed(attempt.failure)
            let now = Sample.start + .seconds(attempt.time)
            guard case .failed(let failure) = cuts.judge(outcome, of: Self.url, after: last, at: now) else { return }
            last = failure.code
            found += failure.cut?.isProgress == true ? "+" : last == .fetch(.cutShort) ? "x" : "-"
        }
        #expect(found == verdicts)
    }

    @Test("CutDownloads has the whole image requested after three requests for the rest without progress")
    func whole() {
        var cuts = CutDownloads()
        func end(_ attempt: Attempt) -> Bool {
            _ = cuts.judge(.failed(attempt.failure), of: Self.url, after: nil, at: Sample.start)
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
            let outcome = cuts.judge(.failed(attempt.failure), of: Self.url, after: .fetch(.cutShort), at: Sample.start)
            #expect(outcome.isCutShort)
        }
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
        for time in [0, 300] { _ = cuts.judge(cut, of: Self.url, after: nil, at: Sample.start + .seconds(time)) }
        #expect(cuts.judge(outcome, of: Self.url, after: nil, at: Sample.start + .seconds(301)) == outcome)
        let last = cuts.judge(cut, of: Self.url, after: nil, at: Sample.start + .seconds(302))
        #expect(last.isCutShort == !isForgotten)
    }

    @Test("a cut download says what is kept, or where every response ends")
    func messages() {
        var cuts = CutDownloads()
        let cut = FetchOutcome.failed(.cut(at: 100_000, isWhole: true, isKept: true))
        let kept = cuts.judge(cut, of: Self.url, after: nil, at: Sample.start)
        guard case .failed(let progress) = kept else { return }
        #expect(progress.message == "cut; 100000 of 300000 bytes are kept, and the next attempt can go on there")
        #expect(FetchFailure.cut(at: 5, isWhole: true, isKept: false).message == "cut")
        #expect(
            FetchFailure.cutShort(at: FetchFailure.Cut(end: 5, length: nil, isWhole: true, isKept: false)).message
                == "every response ends after 5 bytes: the file on the server is truncated, or something on the way cuts "
                + "it off")
    }

    // MARK: An agent

    @Test("an agent whose download is cut again and again, but gets further, goes on within seconds")
    func progress() throws {
        var agent = AgentScenario()
        try agent.scan(["1.plist": [Self.url]])
        for part in 1...16 {
            let failure = FetchFailure.cut(at: part * 18_000, isWhole: part == 1, isKept: true)
            try agent.finish(Self.url, .failed(failure), leavingPart: true)
            #expect(agent.plan.status.downloads.origins ?? [] == [])
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
            while agent.plan.status.failures?.first?.code != "cut-short" {
                try agent.fetchAgain(Self.url)
                let isWhole = agent.downloads[Self.url]?.mayResume == false
                try agent.finish(
                    Self.url, .failed(.cut(at: 100_000, isWhole: isWhole, isKept: isKept)), leavingPart: isKept)
                try #require(agent.requests.count < 40)
            }
            try agent.finishJobs()
            let failure = try #require(agent.plan.status.failures?.first)
            #expect(failure.message.hasPrefix("every response ends after 100000 of 300000 bytes: "))
            #expect(agent.disk.partials.isEmpty)
            // 1 h, give or take a fifth, then 2 h: not within seconds, also after a restart.
            try agent.pass(.seconds(2879))
            #expect(agent.downloads.isEmpty)
            try agent.restart()
            try agent.scan(["1.plist": [Self.url]])
            try agent.pass(.seconds(1442))
            try agent.finish(
                Self.url, .failed(.cut(at: 100_000, isWhole: true, isKept: isKept)), leavingPart: isKept)
            #expect(agent.plan.status.failures?.map(\.code) == ["cut-short"] && agent.disk.partials.isEmpty)
            try agent.pass(.seconds(5759))
            #expect(agent.downloads.isEmpty)
            try agent.pass(.seconds(2882))
            try agent.finish(Self.url, with: "x")
            try agent.finishJobs()
            #expect(agent.plan.status.icons.ready == 1)
        }
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
