// SPDX-License-Identifier: Apache-2.0
import AgentSettings
import AppLists
import CacheFormat
import DemoOrigin
import FoundationEssentials
import Glibc
import NIOHTTP1
import SystemPackage
import TestSupport
import Testing

@testable import HTTPRules
@testable import SyncAgent
@testable import SyncPlan

@Suite("A download from its request to staging")
struct FetcherTests {
    private static let icon = IconDrawing("Mail").png()
    private static let large = IconDrawing("Mail", paddedTo: 200_000).png()

    /// Runs a download against a table of answers.
    private func fetch(
        from url: String = "http://127.0.0.1/icon.png", condition: Condition? = nil,
        _ answers: [String: ScriptedTransport.Answer], change: (inout Settings) -> Void = { _ in }
    ) async throws -> (
        outcome: FetchOutcome, trail: FetchTrail?, requests: [(url: String, headers: HTTPHeaders)], staging: [String]
    ) {
        var settings = Settings()
        settings.network.allow = [try #require(AddressRange("127.0.0.0/8"))]
        change(&settings)
        let transport = ScriptedTransport(answers)
        return try await withTemporaryFolder { [settings] path in
            let cache = try CacheFixture(path)
            let request = FetchRequest(
                url: IconURL(url), source: try IconSource(IconURL(url)), reason: .notCached, condition: condition)
            let end = try await Fetching.run(settings, into: cache.staging, over: transport) {
                await $0.fetch(request)
            }
            return (end.outcome, end.trail, transport.requests, try cache.names(in: "staging").sorted())
        }
    }

    private func failure(_ outcome: FetchOutcome) -> FetchFailure? {
        if case .failed(let failure) = outcome { failure } else { nil }
    }

    private func code(_ outcome: FetchOutcome) -> String? { failure(outcome)?.code.rawValue }

    @Test("an image is staged with its digest, type and size, however large", arguments: [false, true])
    func image(isLarge: Bool) async throws {
        let bytes = isLarge ? Self.large : Self.icon
        let result = try await fetch([
            "http://127.0.0.1/icon.png": .init(
                200, ["ETag": "\"1\"", "Last-Modified": "Fri, 20 Nov 2026 10:00:00 GMT"], body: bytes)
        ])
        guard case .image(let staged, let response) = result.outcome else {
            Issue.record("\(result.outcome)")
            return
        }
        #expect(staged.image.sha256 == .of(bytes) && staged.image.bytes == bytes.count)
        #expect(staged.image.type == "image/png" && staged.image.width == 64 && staged.image.height == 64)
        #expect(response.validators == Validators(etag: "\"1\"", lastModified: "Fri, 20 Nov 2026 10:00:00 GMT"))
        #expect(result.staging == [staged.name])
    }

    @Test("an image that its URL carries is staged without a request, and with the same checks")
    func inline() async throws {
        let encoded = Self.icon.map { "%" + ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        let base64 = Data(Self.icon).base64EncodedString()
        for url in ["data:image/png,\(encoded)", "data:text/html;base64,\(base64)"] {
            let result = try await fetch(from: url, [:])
            guard case .image(let staged, _) = result.outcome else {
                Issue.record("\(result.outcome)")
                continue
            }
            #expect(staged.image.sha256 == .of(Self.icon) && staged.image.bytes == Self.icon.count)
            #expect(staged.image.type == "image/png" && staged.image.width == 64)
            #expect(result.staging == [staged.name] && result.requests.isEmpty)
        }
        let drawing = "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' width='8' height='8'/>"
        let limit = ByteCount(Self.icon.count - 1)
        for (url, expected) in [
            ("data:image/png;base64,\(base64)", "too-large"), ("data:image/png,x", "not-an-image"),
            ("data:image/png;base64,x", "bad-url"), (drawing, "not-an-image"),
        ] {
            let result = try await fetch(from: url, [:]) { $0.fetch.maxBytes = limit }
            #expect(code(result.outcome) == expected, "\(result.outcome)")
            #expect(result.staging.isEmpty && result.requests.isEmpty)
        }
        let drawn = try await fetch(from: drawing, [:]) { $0.images.allowSVG = true }
        #expect(code(drawn.outcome) == nil)
    }

    @Test(
        "an unwanted answer has its code, and leaves nothing in staging",
        arguments: [
            (.init(404), "http-404"), (.init(503), "http-503"), (.init(206, body: icon), "http-206"),
            (.init(304), "http-304"), (.init(200, body: Array("<!DOCTYPE html>".utf8)), "not-an-image"),
            (.init(200), "not-an-image"), (.init(200, ["Content-Length": "6000000"]), "too-large"),
            (.init(200, body: Array(repeating: 0, count: 5 << 20 | 1)), "too-large"),
            (.init(200, ["Content-Encoding": "gzip"], body: icon), "content-encoding"),
            (.init(302), "bad-redirect"), (.init(302, ["Location": "/icon.png"]), "redirect-loop"),
            (.init(302, ["Location": "ftp://127.0.0.1/"]), "scheme-refused"),
            (
                .init(
                    302, ["Location": "data:image/gif;base64,R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7"]),
                "scheme-refused"
            ),
            (.init(302, ["Location": "http://h.example:65536/"]), "port-refused"),
            (.init(302, ["Location": "http://a:b@127.0.0.1/"]), "userinfo-refused"),
            (.init(302, ["Location": "http://10.0.0.1/"]), "address-refused"),
            (.init(302, ["Location": "http://127.0.0.1:1/"]), "connect"),
        ] as [(ScriptedTransport.Answer, String)])
    func failures(answer: ScriptedTransport.Answer, expected: String) async throws {
        let result = try await fetch(["http://127.0.0.1/icon.png": answer])
        #expect(code(result.outcome) == expected, "\(result.outcome)")
        #expect(result.staging.isEmpty)
    }

    @Test(
        "an address that is not public is not asked",
        arguments: [
            "http://127.0.0.1/", "http://[::1]/", "http://[::ffff:127.0.0.1]/", "http://localhost/",
            "http://169.254.169.254/", "http://0.0.0.0/",
        ])
    func refused(url: String) async throws {
        let result = try await fetch(from: url, [:]) { $0.network.allow = [] }
        #expect(code(result.outcome) == "address-refused", "\(result.outcome)")
        #expect(result.requests.isEmpty)
    }

    @Test("redirects are followed, and at most as many as allowed")
    func redirects() async throws {
        var answers: [String: ScriptedTransport.Answer] = ["http://127.0.0.1/3": .init(200, body: Self.icon)]
        for hop in 0..<3 { answers["http://127.0.0.1/\(hop)"] = .init(301, ["Location": "\(hop + 1)"]) }
        let followed = try await fetch(from: "http://127.0.0.1/0", answers)
        #expect(followed.requests.map(\.url) == (0...3).map { "http://127.0.0.1/\($0)" })
        #expect(code(followed.outcome) == nil)
        let limited = try await fetch(from: "http://127.0.0.1/0", answers) { $0.fetch.maxRedirects = 2 }
        #expect(code(limited.outcome) == "too-many-redirects")
        #expect(limited.requests.count == 3)
    }

    @Test("the trail of an indirect download is reported, whatever its end, without queries")
    func trail() async throws {
        let first = "http://127.0.0.1/0?key=SECRET"
        var answers: [String: ScriptedTransport.Answer] = [first: .init(302, ["Location": "/1?key=SECRET"])]
        let straight = try await fetch(from: "http://8.8.8.8/a", ["http://8.8.8.8/a": .init(200, body: Self.icon)])
        #expect(code(straight.outcome) == nil && straight.trail == nil)
        for (answer, status, code) in [
            (.init(404), 404, "http-404"), (nil, nil, "connect"), (.init(200, body: [1]), 200, "not-an-image"),
        ] as [(ScriptedTransport.Answer?, Int?, String)] {
            answers["http://127.0.0.1/1?key=SECRET"] = answer
            let result = try await fetch(from: first, answers)
            #expect(self.code(result.outcome) == code)
            #expect(result.trail?.hops.map(\.url) == ["http://127.0.0.1/0?…", "http://127.0.0.1/1?…"])
            #expect(result.trail?.hops.map(\.status) == [302, status])
            #expect(result.trail?.hops.map(\.allowedBy) == ["network.allow", "network.allow"])
        }
        answers[first] = .init(302, ["Location": "http://10.0.0.5/\(String(repeating: "x", count: 500))"])
        let refused = try await fetch(from: first, answers)
        #expect(code(refused.outcome) == "address-refused")
        #expect(failure(refused.outcome)?.persistence == .lasting)
        let last = try #require(refused.trail?.hops.last)
        #expect(last.status == nil && last.allowedBy == nil && last.url.count == 256)
    }

    private static let validators = Validators(etag: "W/\"1\"", lastModified: "Fri, 20 Nov 2026 10:00:00 GMT")

    @Test("validators are sent to the URL that gave them, also at the end of redirects and on another origin")
    func validators() async throws {
        let first = "http://127.0.0.1/icon.png"
        let last = "http://127.0.0.2/v1.png?x=%C3%A4"
        let redirected = [first: ScriptedTransport.Answer(302, ["Location": last]), last: .init(304)]
        for (url, answers) in [(first, [first: .init(304)]), (last, redirected)] {
            let condition = Condition(url: url, validators: Self.validators)
            let unchanged = try await fetch(condition: condition, answers)
            guard case .notModified(let answer) = unchanged.outcome else {
                Issue.record("\(unchanged.outcome)")
                continue
            }
            #expect(answer.status == 304 && answer.url == url)
            let headers = try #require(unchanged.requests.last).headers
            #expect(headers.first(name: "If-None-Match") == "W/\"1\"")
            #expect(headers.first(name: "If-Modified-Since") == "Fri, 20 Nov 2026 10:00:00 GMT")
            #expect(headers.first(name: "Accept-Encoding") == "identity")
            #expect(unchanged.requests.dropLast().allSatisfy { !$0.headers.contains(name: "If-None-Match") })
        }
    }

    @Test(
        "no other URL gets the validators, however alike it is, and its 304 is no answer",
        arguments: [
            "http://127.0.0.1/v2.png", "http://127.0.0.1/V1.png", "http://127.0.0.1:8080/v1.png",
            "http://127.0.0.2/v1.png", "http://127.0.0.1/v1.png?", "http://127.0.0.1/%761.png",
        ])
    func otherValidators(target: String) async throws {
        let url = "http://127.0.0.1/icon.png"
        let redirect = ScriptedTransport.Answer(302, ["Location": target])
        let condition = Condition(url: "http://127.0.0.1/v1.png", validators: Self.validators)
        let changed = try await fetch(condition: condition, [url: redirect, target: .init(200, body: Self.icon)])
        guard case .image(_, let response) = changed.outcome else {
            Issue.record("\(changed.outcome)")
            return
        }
        #expect(response.url == target)
        #expect(changed.requests.allSatisfy { !$0.headers.contains(name: "If-None-Match") })
        // Asked again without conditions, it says the same.
        let confused = try await fetch(condition: condition, [url: redirect, target: .init(304)])
        #expect(code(confused.outcome) == "http-304" && confused.requests.count == 4)
    }

    @Test("a 304 from another URL than the conditional one leads to requests without conditions")
    func strayNotModified() async throws {
        let url = "http://127.0.0.1/icon.png"
        let target = "http://127.0.0.1/v2.png"
        let transport = ScriptedTransport { asked, number in
            if asked == url { return .init(302, ["Location": "/v2.png"]) }
            return number == 2 ? .init(304) : .init(200, body: Self.icon)
        }
        var settings = Settings()
        settings.network.allow = [try #require(AddressRange("127.0.0.0/8"))]
        try await withTemporaryFolder { [settings] path in
            let cache = try CacheFixture(path)
            let request = FetchRequest(
                url: IconURL(url), source: try IconSource(IconURL(url)), reason: .expired,
                condition: Condition(url: url, validators: Self.validators))
            let end = try await Fetching.run(settings, into: cache.staging, over: transport) { await $0.fetch(request) }
            guard case .image = end.outcome else {
                Issue.record("the 304 counts")
                return
            }
            #expect(transport.requests.map(\.url) == [url, target, url, target])
            #expect(
                transport.requests.map { $0.headers.contains(name: "If-None-Match") } == [true, false, false, false])
        }
    }

    @Test("a download cancelled during the check for free space sends no request")
    func givenUpEarly() async throws {
        var settings = Settings()
        settings.network.allow = [try #require(AddressRange("127.0.0.0/8"))]
        let transport = ScriptedTransport { _, _ in .init(200, body: Self.icon) }
        try await withTemporaryFolder { [settings] path in
            let cache = try CacheFixture(path)
            let (ends, report) = AsyncStream.makeStream(of: EndedDownload.self)
            let downloads = Downloads(
                settings: settings, transport: transport, staging: cache.staging, clock: AgentClock()
            ) {
                for end in $0 { report.yield(end) }
            }
            let requests = try ["http://127.0.0.1/1", "http://127.0.0.1/2"].map {
                FetchRequest(url: IconURL($0), source: try IconSource(IconURL($0)), reason: .notCached, condition: nil)
            }
            var pipes: [Int32] = [-1, -1]
            pipe(&pipes)
            let (reading, writing) = (pipes[0], pipes[1])
            defer { for end in pipes { close(end) } }
            // The thread that looks has something else to do.
            let name = try await cache.staging.begin(nil)
            let work = Task {
                try await cache.staging.end(name) { _ in
                    var byte: UInt8 = 0
                    _ = read(reading, &byte, 1)
                    throw CancellationError()
                }
            }
            var end = ends.makeAsyncIterator()
            downloads.begin([requests[0]])
            downloads.cancel(requests[0].url)
            let first = await end.next()
            #expect(first?.url == requests[0].url && first?.outcome == .cancelled)
            write(writing, "x", 1)
            await #expect(throws: CancellationError.self) { try await work.value }
            downloads.begin([requests[1]])
            #expect(await end.next()?.url == requests[1].url)
            await downloads.shutdown()
            #expect(transport.requests.map(\.url) == [requests[1].url.text])
        }
    }
}
