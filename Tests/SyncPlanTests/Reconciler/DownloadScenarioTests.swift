// SPDX-License-Identifier: Apache-2.0
import AgentSettings
import AppLists
import CacheFormat
import HTTPRules
import Reports
import Testing

@testable import SyncPlan

/// A name that leads to the address of a router.
private let refusedAddress = FetchFailure(.addressRefused, "192.168.1.1 is not a public address", .momentary)

@Suite("From a new list to published icons")
struct DownloadScenarioTests {
    private static let a: IconURL = "https://h.example/a.png"
    private static let b: IconURL = "https://h.example/b.png"

    private static func ready(_ word: String) -> AppListDocument.State { .ready(Sample.image(word)) }

    @Test("a new list is fetched and published")
    func drop() throws {
        var agent = AgentScenario()
        try agent.scan(["1.plist": [Self.a, Self.b]])
        #expect(Set(agent.downloads.keys) == [Self.a, Self.b])
        #expect(agent.requests.allSatisfy { $0.reason == .notCached && $0.condition?.validators == nil })
        try agent.finish(Self.a, with: "x")
        try agent.finish(Self.b, with: "y")
        try agent.finishPublication()
        #expect(try agent.published("1.plist") == [Self.ready("x"), Self.ready("y")])
        #expect(agent.disk.names == [Self.a: Sample.image("x").sha256, Self.b: Sample.image("y").sha256])
        #expect(agent.disk.staging.isEmpty)
        #expect(agent.plan.isSettled && agent.plan.status.inSync)
        #expect(agent.publication == nil)
    }

    @Test("finished icons are published a moment later, while downloads run")
    func gathering() throws {
        var agent = AgentScenario()
        try agent.scan(["1.plist": [Self.a]])
        #expect(agent.publication == nil)
        try agent.pass(.milliseconds(300))
        try agent.finishPublication()
        #expect(try agent.published("1.plist") == [.pending])
    }

    @Test("an empty folder is published too, and an empty list is a list")
    func empty() throws {
        var agent = AgentScenario()
        try agent.scan([:])
        try agent.finishPublication()
        #expect(agent.disk.current?.lists == [:])
        try agent.scan(["1.plist": []])
        try agent.finishPublication()
        #expect(try agent.published("1.plist") == [])
    }

    @Test("a URL that several lists name is fetched once, and an image that several URLs have is stored once")
    func shared() throws {
        var agent = AgentScenario()
        try agent.scan(["1.plist": [Self.a, Self.a], "2.plist": [Self.a, Self.b]])
        try agent.scan(["3.plist": [Self.a]])
        #expect(agent.requests.count == 2)
        try agent.finish(Self.a, with: "x")
        try agent.finish(Self.b, with: "x")
        let publication = try #require(agent.publication)
        #expect(publication.moves.count == 1 && publication.discards.count == 1)
        try agent.finishPublication()
        #expect(try agent.published("1.plist") == [Self.ready("x"), Self.ready("x")])
        #expect(try agent.published("3.plist") == [Self.ready("x")])
        #expect(agent.disk.staging.isEmpty)
    }

    @Test("a later list is served from the images on disk")
    func alreadyThere() throws {
        var agent = AgentScenario()
        try agent.publish(["1.plist": [Self.a: "x"]])
        try agent.scan(["2.plist": [Self.a]])
        #expect(agent.requests.count == 1)
        let publication = try #require(agent.publication)
        #expect(publication.documents.map(\.list) == ["2.plist"] && Array(publication.kept.keys) == ["1.plist"])
        try agent.finishPublication()
        #expect(try agent.published("2.plist") == [Self.ready("x")])
    }

    @Test("an unchanged list changes nothing")
    func unchanged() throws {
        var agent = AgentScenario()
        try agent.publish(["1.plist": [Self.a: "x"]])
        try agent.scan(["1.plist": [Self.a]])
        #expect(agent.publication == nil && agent.downloads.isEmpty)
    }

    @Test("a renamed list cancels nothing, and has nothing downloaded again")
    func renamed() throws {
        var agent = AgentScenario { $0.fetch.perHost = 2 }
        let c: IconURL = "https://h.example/c.png"
        try agent.scan(["1.plist": [Self.a, Self.b, c]])
        let first = try #require(agent.requests.first?.url)
        try agent.finish(first, with: "x")
        try agent.scan(["1.plist": nil, "2.plist": [Self.a, Self.b, c]])
        #expect(agent.cancelled.isEmpty)
        for url in agent.downloads.keys.sorted() { try agent.finish(url, with: "y") }
        #expect(agent.requests.count == 3)
        try agent.finishPublication()
        #expect(try agent.published("2.plist").count { $0 == Self.ready("x") } == 1)
        #expect(agent.disk.staging.isEmpty)
    }

    @Test("an icon is asked for again when it is no longer fresh, and not before")
    func refresh() throws {
        var agent = AgentScenario()
        try agent.publish(["1.plist": [Self.a: "x"]])
        try agent.pass(.seconds(Int(86_400 * 0.8) - 1))
        #expect(agent.requests.count == 1)
        try agent.pass(.seconds(Int(86_400 * 0.4) + 2))
        let request = try #require(agent.downloads[Self.a])
        #expect(request.reason == .expired && request.condition?.validators == Validators(etag: "x"))
    }

    @Test("a 304 keeps the icon, publishes nothing, and makes it fresh again")
    func notModified() throws {
        var agent = AgentScenario()
        try agent.publish(["1.plist": [Self.a: "x"]])
        try agent.pass(.seconds(2 * 86_400))
        try agent.finish(Self.a, .notModified(Sample.response(etag: "x", at: agent.now)))
        #expect(agent.publication == nil && agent.downloads.isEmpty)
        #expect(try agent.published("1.plist") == [Self.ready("x")])
        try agent.pass(.seconds(3600))
        #expect(agent.downloads.isEmpty)
        try agent.pass(.seconds(2 * 86_400))
        #expect(agent.downloads[Self.a]?.condition?.validators == Validators(etag: "x"))
    }

    @Test("a 304 about another image changes nothing, and the next request has no conditions")
    func contradicted() throws {
        var agent = AgentScenario()
        try agent.publish(["1.plist": [Self.a: "x"]])
        try agent.pass(.seconds(2 * 86_400))
        try agent.finish(Self.a, .notModified(Sample.response(etag: "\"y\"", at: agent.now)))
        #expect(try agent.published("1.plist") == [Self.ready("x")])
        let request = try #require(agent.downloads[Self.a])
        #expect(request.condition?.validators == nil)
        try agent.finish(Self.a, with: "y")
        try agent.finishPublication()
        #expect(try agent.published("1.plist") == [Self.ready("y")])
    }

    /// A response of a server that gives no tags, only when its file was changed.
    private static func dated(_ changed: String, at now: Timestamp) -> StoredResponse {
        StoredResponse(
            url: a.text, fields: HTTPFields([("Last-Modified", changed)]), requestTime: now, responseTime: now)
    }

    @Test("an older file is noticed by the date in a 304, and a 304 to the request after it is a failure")
    func olderFile() throws {
        var agent = AgentScenario()
        // The start is on the 15th.
        let (new, old) = ("Thu, 14 Jan 2027 08:00:00 GMT", "Wed, 13 Jan 2027 08:00:00 GMT")
        try agent.scan(["1.plist": [Self.a]])
        try agent.finish(Self.a, with: "x", answer: Self.dated(new, at: agent.now))
        try agent.finishPublication()
        try agent.pass(.seconds(2 * 86_400))
        #expect(agent.downloads[Self.a]?.condition?.validators == Validators(lastModified: new))
        try agent.finish(Self.a, .notModified(Self.dated(old, at: agent.now)))
        // The older date is not stored for the newer bytes.
        #expect(agent.plan.response(of: Self.a) == nil)
        let request = try #require(agent.downloads[Self.a])
        #expect(request.condition == nil)
        let count = agent.requests.count
        try agent.finish(Self.a, .failed(.status(304)))
        #expect(agent.downloads.isEmpty && agent.requests.count == count)
        #expect(try agent.published("1.plist") == [Self.ready("x")])
        try agent.fetchAgain(Self.a)
        #expect(agent.downloads[Self.a]?.condition == nil)
        try agent.finish(Self.a, with: "y", answer: Self.dated(old, at: agent.now))
        try agent.finishPublication()
        #expect(try agent.published("1.plist") == [Self.ready("y")])
        #expect(agent.plan.response(of: Self.a)?.fields.first("last-modified") == old)
    }

    @Test(
        "the server says how soon an icon is requested again, within bounds",
        arguments: [
            ("max-age=7200", 7200), ("max-age=1", 3600), ("no-store", 3600),
            ("max-age=31536000, immutable", 31_536_000),
        ])
    func lifetime(cacheControl: String, seconds: Int) throws {
        var agent = AgentScenario()
        try agent.scan(["1.plist": [Self.a]])
        let answer = StoredResponse(
            fields: HTTPFields([("Cache-Control", cacheControl)]), requestTime: agent.now, responseTime: agent.now)
        try agent.finish(Self.a, with: "x", answer: answer)
        try agent.finishPublication()
        try agent.pass(.seconds(seconds - 1))
        #expect(agent.requests.count == 1)
        // What all were told is not asked for by all at once.
        try agent.pass(.seconds(1 + min(seconds / 10, 3600)))
        #expect(agent.requests.count == 2)
    }

    @Test("a refresh with the same bytes publishes nothing, and one with others replaces the image")
    func changed() throws {
        var agent = AgentScenario { $0.cache.grace = .seconds(600) }
        try agent.publish(["1.plist": [Self.a: "x"]])
        try agent.pass(.seconds(2 * 86_400))
        try agent.finish(Self.a, with: "x")
        #expect(agent.publication == nil && agent.disk.staging.isEmpty)
        try agent.pass(.seconds(2 * 86_400))
        try agent.finish(Self.a, with: "y")
        try agent.finishPublication()
        #expect(try agent.published("1.plist") == [Self.ready("y")])
        #expect(agent.isOnDisk("x"))
        try agent.pass(.seconds(600))
        try agent.finishRelease()
        try agent.finishRemoval()
        #expect(!agent.isOnDisk("x") && agent.isOnDisk("y"))
        #expect(agent.disk.names == [Self.a: Sample.image("y").sha256])
    }

    @Test("a failure is published, and asked again after its delay until it succeeds")
    func failure() throws {
        var agent = AgentScenario()
        try agent.scan(["1.plist": [Self.a]])
        for attempt in 1...5 {
            try agent.finish(Self.a, .failed(.timeout("10 s")))
            if attempt == 1 { try agent.finishPublication() }
            #expect(agent.publication == nil)
            #expect(try agent.published("1.plist") == [.failed(error: "timeout")])
            #expect(agent.plan.icon(Self.a)?.failure?.attempts == attempt)
            #expect(agent.plan.isSettled && agent.downloads.isEmpty && agent.plan.status.downloads.waiting == 1)
            while agent.downloads.isEmpty { try agent.passToNextWake() }
            #expect(agent.requests.last?.reason == .retry)
        }
        try agent.finish(Self.a, with: "x")
        try agent.finishPublication()
        #expect(try agent.published("1.plist") == [Self.ready("x")])
        #expect(agent.plan.icon(Self.a)?.failure == nil)
    }

    /// The failures before, the failure, and how often it comes: after the last time, the delay is an hour or more.
    @Test(
        "a failure that should be over soon is retried soon eight times, and later after that",
        arguments: [
            (0, .status(202), 9), (0, .status(304), 9), (0, .status(421), 9), (0, .status(423), 9),
            (2, .status(202), 7), (5, .status(202), 5), (20, .status(202), 5),
            (0, refusedAddress, 9), (2, refusedAddress, 7), (20, refusedAddress, 5),
            (0, refusedAddress.inRedirect, 1),
        ] as [(Int, FetchFailure, Int)])
    func momentary(earlier: Int, failure: FetchFailure, count: Int) throws {
        var agent = AgentScenario()
        try agent.scan(["1.plist": [Self.a]])
        func delay(after failure: FetchFailure) throws -> Duration {
            while agent.downloads.isEmpty { try agent.passToNextWake() }
            try agent.finish(Self.a, .failed(failure))
            if agent.publication != nil { try agent.finishPublication() }
            return try #require(agent.plan.icon(Self.a)?.failure?.nextAttempt) - agent.now
        }
        for _ in 0..<earlier { #expect(try delay(after: .timeout("10 s")) <= .seconds(600)) }
        for _ in 1..<count {
            #expect(try delay(after: failure) <= .seconds(128))
            #expect(agent.plan.icon(Self.a)?.failure?.persistence == .momentary)
            // What a setting refuses is told at once.
            #expect(agent.plan.icon(Self.a)?.failure?.isLasting == (failure == refusedAddress))
        }
        let hour = Duration.seconds(3600)
        #expect((hour * 0.8...hour * 1.2).contains(try delay(after: failure)))
        #expect((hour * 1.6...hour * 2.4).contains(try delay(after: failure)))
    }

    /// The statuses that the server gives in turn, the number of icons, and the most requests for all in an hour.
    @Test(
        "a server that always asks for a second's delay gets few requests, for new icons and for ready ones",
        arguments: [
            ([401], 1, 4), ([403], 1, 4), ([429], 1, 40), ([503], 1, 40), ([202], 1, 10), ([403, 503], 1, 5),
            ([401, 403], 1, 4), ([403], 20, 80), ([429], 20, 40), ([503], 20, 40), ([202], 20, 200),
        ] as [(statuses: [Int], count: Int, limit: Int)], [false, true])
    func shortDelays(reply: (statuses: [Int], count: Int, limit: Int), isReady: Bool) throws {
        var agent = AgentScenario()
        try agent.scan(["1.plist": (1...reply.count).map { IconURL("https://h.example/\($0).png") }])
        if isReady {
            while let url = agent.downloads.keys.min() { try agent.finish(url, with: "x") }
            try agent.finishJobs()
            try agent.pass(.seconds(2 * 86_400))
        }
        let end = agent.now + .seconds(3600)
        var failures = 0
        while agent.now < end {
            while let url = agent.downloads.keys.min() {
                let status = reply.statuses[failures % reply.statuses.count]
                try agent.finish(url, .failed(.status(status, retryAfter: .seconds(1))))
                failures += 1
            }
            try agent.finishJobs()
            try agent.passToNextWake()
        }
        #expect(failures >= Backoff.shortWaits && failures <= reply.limit)
    }

    @Test("failures with status 403 are counted from the first status on, but not from a timeout on")
    func forbiddenInARow() throws {
        var agent = AgentScenario()
        try agent.scan(["1.plist": [Self.a]])
        let (timeout, busy) = (FetchFailure.timeout("10 s"), FetchFailure.status(503, retryAfter: .seconds(1)))
        let forbidden = FetchFailure.status(403, retryAfter: .seconds(1))
        let failures = [timeout, timeout, timeout, forbidden, busy, forbidden, forbidden]
        for (failure, attempts) in zip(failures, [1, 2, 3, 1, 2, 3, 4]) {
            while agent.downloads.isEmpty { try agent.passToNextWake() }
            try agent.finish(Self.a, .failed(failure))
            try agent.finishJobs()
            let last = try #require(agent.plan.icon(Self.a)?.failure)
            let next = try #require(last.nextAttempt)
            #expect(last.attempts == attempts)
            #expect(next - agent.now < .seconds(10) || attempts == 4 && next - agent.now > .seconds(17_000))
        }
    }

    @Test("a failed refresh keeps the icon ready, and is asked again")
    func failedRefresh() throws {
        var agent = AgentScenario()
        try agent.publish(["1.plist": [Self.a: "x"]])
        try agent.pass(.seconds(2 * 86_400))
        #expect(agent.oldestStaleTime == nil)
        try agent.finish(Self.a, .failed(.status(503)))
        let since = try #require(agent.oldestStaleTime)
        #expect(since > Sample.start && since < agent.now)
        #expect(agent.publication == nil)
        #expect(try agent.published("1.plist") == [Self.ready("x")])
        #expect(agent.plan.status.icons.stale == 1 && agent.plan.status.icons.ready == 1)
        while agent.downloads.isEmpty { try agent.passToNextWake() }
        #expect(agent.requests.last?.condition?.validators == Validators(etag: "x"))
        try agent.finish(Self.a, .failed(.status(503)))
        #expect(agent.oldestStaleTime == since)
        while agent.downloads.isEmpty { try agent.passToNextWake() }
        try agent.finish(Self.a, with: "x")
        #expect(agent.oldestStaleTime == nil)
    }

    @Test("a URL that may not be asked for fails at once, and is never asked for")
    func refused() throws {
        let denied = try #require(HostPattern(".denied"))
        var agent = AgentScenario { $0.network.denyHosts = [denied] }
        try agent.scan(["1.plist": ["ftp://h/a", "http://h:65536/", "http://h.denied/"]])
        try agent.finishPublication()
        let codes = ["scheme-refused", "port-refused", "host-refused"]
        #expect(try agent.published("1.plist") == codes.map { .failed(error: $0) })
        try agent.pass(.seconds(365 * 86_400))
        #expect(agent.requests.isEmpty && agent.plan.status.icons.failed == 3)
    }

    @Test("an image that its URL carries is taken out of it once, and again only if it is missing")
    func inline() throws {
        let url: IconURL = "data:image/png;base64,iVBO"
        var agent = AgentScenario()
        try agent.scan(["1.plist": [url]])
        #expect(agent.requests.map(\.source.origin) == ["data:"])
        try agent.finish(
            url, with: "x",
            answer: StoredResponse(fields: HTTPFields([]), requestTime: agent.now, responseTime: agent.now))
        try agent.finishPublication()
        #expect(try agent.published("1.plist") == [Self.ready("x")])
        for _ in 0..<3 {
            try agent.pass(.seconds(400 * 86_400))
            try agent.restart()
            try agent.scan(["1.plist": [url]])
        }
        #expect(agent.requests.count == 1)
        try agent.restart(losing: [Sample.image("x").sha256])
        try agent.scan(["1.plist": [url]])
        #expect(agent.requests.map(\.reason) == [.notCached, .missingOnDisk])
    }

    @Test("a failed publication takes nothing away, and what it dropped is downloaded and published again")
    func failedPublication() throws {
        var agent = AgentScenario()
        try agent.publish(["1.plist": [Self.a: "x"]])
        try agent.scan(["2.plist": [Self.b]])
        try agent.finish(Self.b, with: "y")
        try agent.finishPublication(fails: true)
        #expect(agent.disk.staging.isEmpty)
        #expect(agent.plan.status.publication.error != nil && !agent.plan.status.inSync)
        #expect(try agent.published("1.plist") == [Self.ready("x")])
        while agent.downloads.isEmpty {
            try agent.passToNextWake()
            if agent.publication != nil { try agent.finishPublication(fails: true) }
        }
        try agent.finish(Self.b, with: "y")
        while agent.publication == nil { try agent.passToNextWake() }
        try agent.finishPublication()
        #expect(try agent.published("2.plist") == [Self.ready("y")])
        #expect(agent.plan.status.publication.error == nil && agent.plan.status.inSync)
    }

    @Test("the last icon of hosts that answer is published at once, whatever others do")
    func publicationBesideHangingHost() throws {
        var agent = AgentScenario()
        let hanging = (1...9).map { IconURL("https://hangs.example/\($0).png") }
        try agent.scan(["0.plist": []])
        try agent.scan(["1.plist": [Self.a, Self.b], "2.plist": hanging])
        try agent.finish(Self.a, with: "x")
        // The first generation takes its time: later changes are not to be published for a while.
        try agent.pass(.seconds(1))
        try agent.finishPublication()
        try agent.pass(.seconds(1))
        #expect(agent.publication == nil && agent.plan.nextWake.map { $0 - agent.now } == .seconds(8))
        try agent.finish(Self.b, with: "y")
        #expect(agent.publication?.moves.count == 2)
        try agent.finishPublication()
        // The failures of the others are gathered again.
        try agent.finish(#require(agent.downloads.keys.first), .failed(.timeout("x")))
        try agent.pass(.seconds(1))
        #expect(agent.publication == nil)
    }

    @Test("images downloaded before a publication failed are downloaded again, in it or not")
    func invalidatedDownloads() throws {
        var agent = AgentScenario()
        let urls = ["c", "d", "e"].map { IconURL("https://h.example/\($0).png") }
        try agent.scan(["1.plist": [Self.a]])
        try agent.finish(Self.a, with: "x")
        try agent.scan(["2.plist": urls])
        try agent.finish(urls[0], with: "y")
        try agent.finishPublication(fails: true)
        #expect(agent.disk.staging.isEmpty)
        try agent.finish(urls[1], with: "z")
        try agent.finish(urls[2], .failed(.status(404)))
        #expect(agent.disk.staging.isEmpty)
        let codes = ([Self.a] + urls).map { agent.plan.icon($0)?.failure?.code }
        #expect(codes == [.fetch(.disk), .fetch(.disk), .fetch(.disk), .http(404)])
        while agent.requests.count < 7 { try agent.passToNextWake() }
        #expect(Set(agent.downloads.keys) == [Self.a, urls[0], urls[1]])
        for url in agent.downloads.keys.sorted() { try agent.finish(url, with: url) }
        while agent.publication == nil { try agent.passToNextWake() }
        try agent.finishPublication()
        #expect(agent.disk.images.count == 3 && agent.plan.status.inSync)
    }

    @Test("a generation that may not be durable removes nothing, and images not in it are downloaded again")
    func doubt() throws {
        var agent = AgentScenario { $0.cache.grace = .zero }
        try agent.publish(["1.plist": [Self.a: "x"]])
        try agent.scan(["1.plist": [Self.b]])
        try agent.finish(Self.b, with: "y")
        try agent.scan(["2.plist": [IconURL("\(Self.a)?2")]])
        try agent.finish(IconURL("\(Self.a)?2"), with: "z")
        try agent.finishPublication(doubt: "fsync failed")
        #expect(agent.release == nil && agent.isOnDisk("x") && agent.isOnDisk("y"))
        #expect(agent.disk.staging.isEmpty)
        #expect(agent.plan.status.publication.error == "fsync failed" && !agent.plan.status.inSync)
        while agent.downloads.isEmpty {
            try agent.passToNextWake()
            if agent.publication != nil { try agent.finishPublication(doubt: "fsync failed") }
        }
        try agent.finish(IconURL("\(Self.a)?2"), with: "z")
        while agent.publication == nil { try agent.passToNextWake() }
        try agent.finishPublication()
        try agent.finishJobs()
        #expect(agent.plan.status.inSync && !agent.isOnDisk("x") && agent.isOnDisk("y") && agent.isOnDisk("z"))
    }

    @Test("a refresh after a failed publication sends the validator of the image on disk")
    func validatorsAfterFailedPublication() throws {
        var agent = AgentScenario()
        try agent.publish(["1.plist": [Self.a: "x"]])
        try agent.pass(.seconds(2 * 86_400))
        try agent.finish(Self.a, with: "y")
        try agent.finishPublication(fails: true)
        while agent.downloads.isEmpty {
            try agent.passToNextWake()
            if agent.publication != nil { try agent.finishPublication() }
        }
        #expect(agent.downloads[Self.a]?.condition?.validators == Validators(etag: "x"))
    }

    @Test("running downloads stay within the limits")
    func limits() throws {
        var agent = AgentScenario {
            $0.fetch.concurrency = 3
            $0.fetch.perHost = 2
        }
        let urls =
            (1...5).map { IconURL("https://h.example/\($0)") } + (1...5).map { IconURL("https://i.example/\($0)") }
        try agent.scan(["1.plist": urls])
        while !agent.downloads.isEmpty {
            #expect(agent.downloads.count <= 3)
            #expect(agent.downloads.values.count { $0.source.origin == "https://h.example:443" } <= 2)
            try agent.finish(try #require(agent.downloads.keys.min()), .failed(.status(404)))
        }
        #expect(agent.requests.count == 10)
    }

    @Test("an image is written ahead of its publication, unless a generation names it")
    func ahead() throws {
        var agent = AgentScenario()
        try agent.scan(["1.plist": [Self.a]])
        try agent.finish(Self.a, with: "x")
        #expect(agent.writtenAhead.map(\.staged.image) == [Sample.image("x")] && agent.writtenAhead[0].url == Self.a)
        try agent.finishPublication()
        try agent.scan(["1.plist": [Self.a, Self.b]])
        try agent.finish(Self.b, with: "x")
        #expect(agent.writtenAhead.count == 1)
    }

    @Test("no image is written ahead before the first look at the folder has ended")
    func aheadOfTheLook() throws {
        var agent = AgentScenario()
        agent.answersInspections = false
        try agent.scan(["1.plist": [Self.a]])
        try agent.finish(Self.a, with: "x")
        #expect(agent.writtenAhead.isEmpty)
    }
}
