// SPDX-License-Identifier: Apache-2.0
import AgentSettings
import AppLists
import CacheFormat
import HTTPRules
import ImageChecks
import Reports
import Testing

@testable import SyncPlan

@Suite("Reports on one icon")
struct IconReportTests {
    private static let a: IconURL = "https://h.example/a.png"
    private static let b: IconURL = "https://h.example/b.png"

    private static func report(_ agent: AgentScenario, on url: IconURL) throws -> IconReport {
        try #require(agent.plan.report(on: url, now: agent.now))
    }

    @Test("the next request of an icon is when the wait of its server ends")
    func origin() throws {
        var agent = AgentScenario { $0.fetch.perHost = 1 }
        try agent.scan(["1.plist": [Self.a, Self.b]])
        let first = try #require(agent.downloads.keys.first)
        let other = first == Self.a ? Self.b : Self.a
        #expect(try Self.report(agent, on: first).next == "downloading")
        #expect(try Self.report(agent, on: other).next == "queued for download")
        try agent.finish(first, .failed(.status(429, retryAfter: .seconds(86_400))))
        let queued = try Self.report(agent, on: other)
        let until = try #require(queued.origin?.waitsUntil)
        #expect(queued.next == "download at \(until), when its server is asked again")
        #expect(queued.holds.map(\.code) == ["origin-waiting"])
        #expect(queued.holds[0].reason.hasSuffix("as the server asked"))
        let failed = try Self.report(agent, on: first)
        let own = try #require(failed.failure?.nextAttempt)
        #expect(failed.next == "retry at \(max(until, own))" + (until > own ? ", when its server is asked again" : ""))
        #expect(failed.rule?.contains("Retry-After") == true)
        // What is paused is told first.
        try agent.handle(.pause(Pause()))
        let paused = try Self.report(agent, on: other)
        #expect(paused.next == "download when downloads are resumed")
        #expect(paused.holds.map(\.code) == ["paused", "origin-waiting"])
        #expect(try Self.report(agent, on: first).next.hasSuffix(", if downloads are resumed by then"))
    }

    @Test("the report of a queued icon counts the others in the queue")
    func queue() throws {
        var agent = AgentScenario { $0.fetch.perHost = 1 }
        let urls = (0..<1003).map { IconURL("https://h.example/\($0).png") }
        try agent.scan(["1.plist": urls])
        let queued = try #require(urls.first { agent.downloads[$0] == nil })
        #expect(try Self.report(agent, on: queued).next == "queued for download, with 1,001 others")
    }

    @Test(
        "the report of an icon names the rule of its refresh or retry",
        arguments: [
            // What the server says, and the rule.
            ([("Cache-Control", "max-age=60")], "refresh.minimum (1h) is longer than its freshness"),
            ([("Cache-Control", "max-age=7200")], "its freshness ends"),
            ([("Cache-Control", "max-age=99999999")], "an image is kept for 365d at most"),
            ([], "refresh.default (1d ± 20 %), because the server says nothing"),
        ] as [([(String, String)], String)])
    func refresh(fields: [(String, String)], rule: String) throws {
        var agent = AgentScenario()
        try agent.scan(["1.plist": [Self.a]])
        try agent.finish(Self.a, with: "a", answer: Sample.response(fields.map { (name: $0.0, value: $0.1) }))
        while agent.publication != nil { try agent.finishPublication() }
        let report = try Self.report(agent, on: Self.a)
        #expect(report.next.hasPrefix("refresh at 20"), "\(report.next)")
        #expect(report.rule?.hasPrefix(rule) == true, "\(report.rule ?? "")")
    }

    @Test(
        "the report of an icon behind a redirect names the rule of its refresh",
        arguments: [
            (
                [("Cache-Control", "max-age=31536000")], 60,
                "refresh.minimum (1h) is longer than the freshness of the redirect to it"
            ),
            ([("Cache-Control", "max-age=31536000")], 7200, "the freshness of the redirect to it ends"),
            ([("Cache-Control", "max-age=7200")], 86_400, "its freshness ends"),
            ([], 7200, "the freshness of the redirect to it ends"),
            ([], 604_800, "refresh.default (1d ± 20 %), because the server says nothing"),
        ] as [([(String, String)], Int, String)])
    func redirect(fields: [(String, String)], seconds: Int, rule: String) throws {
        var agent = AgentScenario()
        try agent.scan(["1.plist": [Self.a]])
        let response = Sample.response(fields.map { (name: $0.0, value: $0.1) }, redirectLifetime: .seconds(seconds))
        try agent.finish(Self.a, with: "a", answer: response)
        while agent.publication != nil { try agent.finishPublication() }
        #expect(try Self.report(agent, on: Self.a).rule?.hasPrefix(rule) == true)
    }

    @Test(
        "the report of a failed icon names the rule of its retry",
        arguments: [
            (
                FetchFailure.status(500),
                "one failure: a random delay of at most fetch.retryBase (1s), doubled for each failure up to "
            ),
            (.status(404), "one failure, probably lasting: 1 h, doubled for each failure up to 1 day"),
            (
                .image(.truncatedAtSource(.png)),
                "one failure, probably lasting: 1 h, doubled for each failure up to 1 day"
            ),
            (.image(.truncated(.png)), "one failure: a random delay of at most fetch.retryBase (1s), doubled for "),
            (FetchFailure(.cutShort, "x"), "one failure, probably lasting: 1 h, doubled for each failure up to 1 day"),
            (
                FetchFailure(.url(.hostRefused), "x").inRedirect,
                "one failure, probably lasting: 1 h, doubled for each failure up to 1 day"
            ),
            (
                FetchFailure(.authRefused, "x").inRedirect,
                "one failure, probably lasting: 1 h, doubled for each failure up to 1 day"
            ),
            (.protocolViolation("x"), "one failure, probably lasting: 1 h, doubled for each failure up to 1 day"),
            (.protocolViolation("x", .passing), "one failure: a random delay of at most fetch.retryBase (1s), doubled"),
            (.status(403), "the server refuses access: 6 h"), (.status(410), "the server says that it is gone: 7 days"),
        ])
    func retry(failure: FetchFailure, rule: String) throws {
        var agent = AgentScenario()
        try agent.scan(["1.plist": [Self.a]])
        try agent.finish(Self.a, .failed(failure))
        let report = try Self.report(agent, on: Self.a)
        #expect(report.next == "retry at \(report.failure?.nextAttempt ?? "")")
        #expect(report.rule?.hasPrefix(rule) == true, "\(report.rule ?? "")")
    }

    @Test(
        "the report of a failed icon says whether a delay that the server asks for counts",
        arguments: [
            (403, 3, "6 h; or as long as the server asked, if it did (Retry-After)"),
            (403, 4, "6 h; or as long as the server asked, if that is longer (Retry-After)"),
            (503, 3, "(10m); or as long as the server asked, if it did (Retry-After)"),
            (429, 4, "(10m); or as long as the server asked, if that is longer (Retry-After)"),
            (202, 9, "1 day; or as long as the server asked, if that is longer (Retry-After)"),
            (404, 1, "one failure, probably lasting: 1 h, doubled for each failure up to 1 day"),
            (410, 1, "the server says that it is gone: 7 days"),
        ])
    func retryAfter(status: Int, failures: Int, rule: String) throws {
        var agent = AgentScenario()
        try agent.scan(["1.plist": [Self.a]])
        for _ in 0..<failures {
            while agent.downloads.isEmpty { try agent.passToNextWake() }
            try agent.finish(Self.a, .failed(.status(status, retryAfter: .seconds(2))))
            try agent.finishJobs()
        }
        let report = try Self.report(agent, on: Self.a)
        #expect(report.rule?.hasSuffix(rule) == true, "\(report.rule ?? "")")
    }

    @Test("the report of a status that should be over soon says from which failure on it is retried later")
    func momentary() throws {
        var agent = AgentScenario()
        try agent.scan(["1.plist": [Self.a]])
        for failures in 1...9 {
            while agent.downloads.isEmpty { try agent.passToNextWake() }
            try agent.finish(Self.a, .failed(.status(202)))
            if agent.publication != nil { try agent.finishPublication() }
            let rule = try #require(try Self.report(agent, on: Self.a).rule)
            if failures < 9 {
                #expect(rule.contains("; from failure 9 on 1 h, doubled up to 1 day"), "\(rule)")
            } else {
                #expect(rule.hasPrefix("9 failures in a row, probably lasting: 1 h at failure 9, doubled"), "\(rule)")
            }
        }
    }
}
