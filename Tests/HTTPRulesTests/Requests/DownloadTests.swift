// SPDX-License-Identifier: Apache-2.0
import AppLists
import CacheFormat
import Testing

@testable import AgentSettings
@testable import HTTPRules

@Suite("A download, decided without a network")
struct DownloadTests {
    private static let url: IconURL = "https://a.example/1.png"
    private static let cdn = "https://cdn.example/1.png"
    private static let validators = Validators(etag: "W/\"1\"", lastModified: "Fri, 20 Nov 2026 10:00:00 GMT")

    /// What follows if the rest is refused.
    private static let whole = "discard, ask https://a.example/1.png"
    private static let tag = (name: "ETag", value: "\"1\"")

    private static func range(_ range: String) -> (name: String, value: String) { ("Content-Range", "bytes \(range)") }

    private static func download(
        condition: Condition? = nil, from partial: PartialDownload? = nil, change: (inout Settings) -> Void = { _ in }
    ) throws -> Download {
        var settings = Settings()
        change(&settings)
        let request = FetchRequest(
            url: url, source: try IconSource(url), reason: .notCached, condition: condition)
        return try Download(request, at: FetchTarget(url.text), from: partial, rules: Download.Rules(settings))
    }

    /// Sends the next request, and takes its answer.
    ///
    /// - Returns: What follows, in a word, and the fields of the request by their names.
    private static func exchange(
        _ download: inout Download, _ status: Int, _ fields: [(name: String, value: String)] = [],
        isMultiplexed: Bool = false
    ) -> (step: String, sent: [String: String]) {
        download.begin(through: nil)
        let sent = download.fields(allowedBy: nil, now: Sample.start)
        let head = ResponseHead(status: status, isMultiplexed: isMultiplexed, fields: HTTPFields(fields))
        let word =
            switch download.answered(head, now: Sample.start) {
            case .ask: "ask \(download.target.url)"
            case .take(let body):
                "take \(body.announced.map { "\($0)" } ?? "all")" + (body.length == nil ? "" : " rest")
            case .discardPartial: "discard, ask \(download.target.url)"
            case .end(.failed(let failure)): failure.code.rawValue
            case .end(.notModified): "not-modified"
            case .end(let outcome): "\(outcome)"
            }
        return (word, Dictionary(uniqueKeysWithValues: sent.map { ($0.name, $0.value) }))
    }

    /// Sends the next request, and takes the body of its answer.
    private static func body(
        of download: inout Download, _ fields: [(name: String, value: String)] = []
    ) throws -> Download.Body {
        download.begin(through: nil)
        _ = download.fields(allowedBy: nil, now: Sample.start)
        let step = download.answered(ResponseHead(status: 200, fields: HTTPFields(fields)), now: Sample.start)
        let body: Download.Body? = if case .take(let body) = step { body } else { nil }
        return try #require(body)
    }

    @Test(
        "the head of an answer decides the next step of a download",
        arguments: [
            (200, [], "take all"), (200, [("Content-Length", "5")], "take 5"),
            (200, [("Content-Length", "5242880")], "take 5242880"), (200, [("Content-Length", "5242881")], "too-large"),
            (200, [("Content-Encoding", "identity")], "take all"),
            (200, [("Content-Encoding", "gzip")], "content-encoding"), (203, [], "take all"),
            (203, [("Content-Length", "5")], "take 5"), (203, [("Content-Encoding", "br")], "content-encoding"),
            (204, [], "http-204"), (206, [("Content-Range", "bytes 0-1/2")], "http-206"), (304, [], "http-304"),
            (300, [("Location", "/2")], "http-300"), (404, [], "http-404"), (416, [], "http-416"),
            (503, [], "http-503"),
            (101, [], "http-101"), (999, [], "http-999"),
            (302, [("Location", "/2.png")], "ask https://a.example/2.png"),
            (301, [("Location", "2"), ("Location", "2")], "ask https://a.example/2"),
            (307, [("Location", "https://cdn.example/1.png")], "ask https://cdn.example/1.png"),
            (308, [], "bad-redirect"),
            (303, [("Location", "/2"), ("Location", "/3")], "bad-redirect"),
            (302, [("Location", "/1.png")], "redirect-loop"),
            (302, [("Location", "http://a.example/")], "downgrade-refused"),
            (302, [("Location", "file:///x")], "scheme-refused"),
            (302, [("Location", "https://denied.example/")], "host-refused"),
        ] as [(Int, [(name: String, value: String)], String)])
    func heads(status: Int, fields: [(name: String, value: String)], step: String) throws {
        let denied = try #require(HostPattern("denied.example"))
        var download = try Self.download { $0.network.denyHosts = [denied] }
        #expect(Self.exchange(&download, status, fields).step == step)
    }

    @Test(
        "an image that is announced to be larger than the room for it is not downloaded",
        arguments: [(nil, "take 5"), (5, "take 5"), (4, "over-limit"), (-1, "over-limit")] as [(Int?, String)])
    func room(bytes: Int?, step: String) throws {
        var request = FetchRequest(url: Self.url, source: try IconSource(Self.url), reason: .notCached)
        request.room = bytes
        let start = try FetchTarget(Self.url.text)
        var download = try Download(request, at: start, from: nil, rules: Download.Rules(Settings()))
        #expect(Self.exchange(&download, 200, [("Content-Length", "5")]).step == step)
        download = try Download(request, at: start, from: nil, rules: Download.Rules(Settings()))
        let image = [("Content-Length", "5"), ("Content-Type", "Image/PNG")]
        #expect(Self.exchange(&download, 200, image).step == step)
        // A page may stand for a smaller image.
        download = try Download(request, at: start, from: nil, rules: Download.Rules(Settings()))
        let page = [("Content-Length", "5"), ("Content-Type", "text/html")]
        #expect(Self.exchange(&download, 200, page).step == "take 5")
    }

    @Test(
        "a coding that encodes nothing is ignored",
        arguments: [
            ([], true), (["identity"], true), (["IDENTITY"], true), ([""], true), (["aws-chunked"], true),
            (["UTF-8"], true), (["none"], true), (["binary"], true), (["base64"], true), (["identity, "], true),
            (["aws-chunked", "identity"], true), (["gzip"], false), (["GZip"], false), (["x-gzip"], false),
            (["deflate"], false), (["br"], false), (["zstd"], false), (["aws-chunked, gzip"], false),
            (["aws-chunked,gzip"], false), (["identity", "br"], false), (["compress"], false), (["dcz"], false),
        ] as [([String], Bool)])
    func codings(values: [String], isTaken: Bool) throws {
        var download = try Self.download()
        let fields = values.map { (name: "Content-Encoding", value: $0) }
        #expect(Self.exchange(&download, 200, fields).step == (isTaken ? "take all" : "content-encoding"))
    }

    @Test("a whole body has as many bytes as were announced", arguments: [(4, false), (5, true), (6, false)])
    func lengths(bytes: Int, isRight: Bool) throws {
        var download = try Self.download()
        let body = try Self.body(of: &download, [("Content-Length", "5")])
        let failure: FetchFailure.Code?
        do throws(FetchFailure) {
            try body.checkLength(bytes)
            failure = nil
        } catch {
            failure = error.code
        }
        #expect(failure == (isRight ? nil : .fetch(.protocolViolation)))
    }

    @Test("a redirect that leads on too often, or downwards where that is allowed")
    func redirects() throws {
        var download = try Self.download { $0.fetch.maxRedirects = 1 }
        #expect(Self.exchange(&download, 302, [("Location", "/2")]).step == "ask https://a.example/2")
        #expect(Self.exchange(&download, 302, [("Location", "/3")]).step == "too-many-redirects")
        #expect(download.trail?.hops.map(\.status) == [302, 302])
        var downwards = try Self.download { $0.fetch.allowDowngrade = true }
        #expect(Self.exchange(&downwards, 302, [("Location", "http://a.example/")]).step == "ask http://a.example/")
    }

    @Test(
        "an image is as fresh as the redirects to it, of which only a permanent one may say nothing",
        arguments: [
            ([(302, "max-age=60")], 60), ([(307, "no-store")], 0), ([(303, "no-cache")], 0), ([(302, nil)], 86_400),
            ([(301, nil)], nil), ([(308, "")], nil), ([(301, "max-age=600")], 600), ([(308, "no-store")], 0),
            ([(302, "max-age=900"), (301, "max-age=60"), (308, nil)], 60), ([(301, nil), (302, "max-age=9")], 9),
        ] as [([(Int, String?)], Int?)])
    func redirectLifetimes(hops: [(status: Int, control: String?)], seconds: Int?) throws {
        var download = try Self.download()
        for (index, hop) in hops.enumerated() {
            let fields = hop.control.map { [(name: "Cache-Control", value: $0)] } ?? []
            _ = Self.exchange(&download, hop.status, [("Location", "/\(index)")] + fields)
        }
        let body = try Self.body(of: &download, [Self.tag, ("Cache-Control", "max-age=31536000")])
        #expect(body.response.redirectLifetime == seconds.map { .seconds($0) })
        #expect(Freshness(of: body.response).end == Sample.start + .seconds(seconds ?? 31_536_000))
    }

    @Test(
        "a temporary redirect that says nothing sets no limit to an image of which its server says nothing either",
        arguments: [
            ([], nil), ([Self.tag], 86_400), ([("Cache-Control", "no-store")], 86_400),
            ([("Last-Modified", "Sun, 06 Nov 1994 08:49:37 GMT")], 86_400),
        ] as [([(name: String, value: String)], Int?)])
    func unsaidRedirects(fields: [(name: String, value: String)], seconds: Int?) throws {
        var download = try Self.download()
        _ = Self.exchange(&download, 302, [("Location", "/1")])
        #expect(try Self.body(of: &download, fields).response.redirectLifetime == seconds.map { .seconds($0) })
        var other = try Self.download()
        _ = Self.exchange(&other, 302, [("Location", "/1")])
        _ = Self.exchange(&other, 302, [("Location", "/2"), ("Cache-Control", "max-age=60")])
        #expect(try Self.body(of: &other, fields).response.redirectLifetime == .seconds(60))
    }

    @Test(
        "a response tells which redirect to it holds for the shortest time, and what that one says",
        arguments: [
            ([(302, "no-store")], "302, no-store"), ([(302, nil)], "302, no freshness lifetime given"),
            ([(301, "max-age=600"), (307, "max-age=60")], "number 2, 307, max-age 60 s"), ([(301, nil)], nil),
        ] as [([(Int, String?)], String?)])
    func redirectCauses(hops: [(status: Int, control: String?)], cause: String?) throws {
        var download = try Self.download()
        for (index, hop) in hops.enumerated() {
            let fields = hop.control.map { [(name: "Cache-Control", value: $0)] } ?? []
            _ = Self.exchange(&download, hop.status, [("Location", "/\(index)")] + fields)
        }
        #expect(try Self.body(of: &download, [Self.tag]).response.redirectCause == cause)
    }

    @Test("a download that starts anew forgets the redirects before")
    func redirectsForgotten() throws {
        var download = try Self.download(condition: Condition(url: Self.url.text, validators: Self.validators))
        _ = Self.exchange(&download, 302, [("Location", Self.cdn), ("Cache-Control", "no-store")])
        #expect(Self.exchange(&download, 304).step == "ask https://a.example/1.png")
        let body = try Self.body(of: &download)
        #expect(body.response.redirectLifetime == nil)
    }

    @Test("validators go to the URL that gave them, and its 304 counts")
    func conditions() throws {
        var download = try Self.download(condition: Condition(url: Self.cdn, validators: Self.validators))
        let first = Self.exchange(&download, 302, [("Location", Self.cdn)])
        #expect(first.sent["If-None-Match"] == nil && first.sent["If-Modified-Since"] == nil)
        #expect(first.sent["Accept-Encoding"] == "identity")
        let second = Self.exchange(&download, 304)
        #expect(second.step == "not-modified")
        #expect(second.sent["If-None-Match"] == "W/\"1\"")
        #expect(second.sent["If-Modified-Since"] == "Fri, 20 Nov 2026 10:00:00 GMT")
    }

    @Test("a request that bypasses caches says so to each URL, has no conditions, and takes no 304 for an answer")
    func bypass() throws {
        var request = FetchRequest(url: Self.url, source: try IconSource(Self.url), reason: .expired)
        request.bypassesCaches = true
        var download = try Download(
            request, at: FetchTarget(Self.url.text), from: nil, rules: Download.Rules(Settings()))
        let first = Self.exchange(&download, 302, [("Location", Self.cdn)])
        let second = Self.exchange(&download, 304)
        #expect([first, second].map(\.sent["Cache-Control"]) == ["no-cache", "no-cache"])
        #expect(second.step == "http-304" && second.sent["If-None-Match"] == nil)
        var plain = try Self.download()
        #expect(Self.exchange(&plain, 200).sent["Cache-Control"] == nil)
    }

    @Test(
        "a part is kept of a download that can go on, also past caches, and not of one with conditions, or a small one",
        arguments: [
            (false, false, nil, true), (false, true, nil, true), (true, false, nil, false),
            (false, false, 65_536, true), (false, false, 65_535, false),
        ] as [(Bool, Bool, Int?, Bool)])
    func keptPart(isConditional: Bool, bypassesCaches: Bool, length: Int?, isKept: Bool) throws {
        var request = FetchRequest(url: Self.url, source: try IconSource(Self.url), reason: .expired)
        if isConditional { request.condition = Condition(url: Self.url.text, validators: Self.validators) }
        request.bypassesCaches = bypassesCaches
        var download = try Download(
            request, at: FetchTarget(Self.url.text), from: nil, rules: Download.Rules(Settings()))
        download.begin(through: nil)
        _ = download.fields(allowedBy: nil, now: Sample.start)
        let size = length.map { [("Content-Length", "\($0)")] } ?? []
        let head = ResponseHead(status: 200, fields: HTTPFields([("ETag", "\"1\"")] + size))
        guard case .take(let body) = download.answered(head, now: Sample.start) else {
            Issue.record("not taken")
            return
        }
        #expect((body.partial != nil) == isKept)
    }

    @Test("a 304 from another URL has all asked again without conditions, once")
    func strayNotModified() throws {
        var download = try Self.download(condition: Condition(url: Self.url.text, validators: Self.validators))
        #expect(Self.exchange(&download, 302, [("Location", "/2")]).sent["If-None-Match"] == "W/\"1\"")
        #expect(Self.exchange(&download, 304).step == "ask \(Self.url.text)")
        let again = Self.exchange(&download, 302, [("Location", "/2")])
        #expect(again.step == "ask https://a.example/2" && again.sent["If-None-Match"] == nil)
        #expect(Self.exchange(&download, 304).step == "http-304")
    }

    @Test(
        "a partial image has its rest requested, and an answer that does not fit has the whole requested",
        arguments: [
            (206, [tag, range("100000-199999/200000"), ("Content-Length", "100000")], "take 100000 rest"),
            (206, [tag, range("100000-149999/200000"), ("Content-Length", "50000")], "take 50000 rest"),
            (206, [range("100000-199999/200000")], whole),
            (206, [tag, range("100000-100099/200000")], whole),
            (206, [tag, range("100001-199999/200000")], whole),
            (206, [tag, range("100000-199999/*")], whole),
            (206, [], whole),
            (206, [tag, range("100000-199999/200000"), ("Content-Encoding", "br")], whole), (204, [], whole),
            (200, [range("100000-199999/200000")], whole), (200, [("Content-Encoding", "br")], whole),
            (304, [], whole), (400, [], whole), (401, [], whole), (403, [], whole), (404, [], whole), (405, [], whole),
            (410, [], whole), (412, [], whole), (416, [], whole), (501, [], whole), (999, [], whole),
            (308, [], whole), (302, [("Location", "/1.png")], whole), (302, [("Location", "file:///x")], whole),
            (200, [], "take all"), (200, [("Content-Length", "5242881")], "too-large"), (500, [], "http-500"),
            (503, [], "http-503"), (429, [], "http-429"), (408, [], "http-408"), (202, [], "http-202"),
        ] as [(Int, [(name: String, value: String)], String)])
    func rest(status: Int, fields: [(name: String, value: String)], step: String) throws {
        var partial = try #require(
            PartialDownload(
                of: Self.url, from: FetchTarget(Self.url.text),
                response: Sample.response([("ETag", "\"1\"")], status: 200),
                fields: HTTPFields([])))
        partial.bytes = 100_000
        var download = try Self.download(from: partial)
        let first = Self.exchange(&download, status, fields)
        #expect(first.step == step)
        #expect(first.sent["Range"] == "bytes=100000-" && first.sent["If-Range"] == "\"1\"")
        guard step == Self.whole else { return }
        let second = Self.exchange(&download, 404)
        #expect(second.step == "http-404" && second.sent["Range"] == nil && second.sent["If-Range"] == nil)
    }

    @Test(
        "a request for the rest that was redirected to a failure has the whole requested, unless the failure passes",
        arguments: [(404, whole), (403, whole), (503, "http-503"), (200, "take all")])
    func redirectedRest(status: Int, step: String) throws {
        let first = Sample.response([Self.tag], status: 200)
        var partial = try #require(
            PartialDownload(of: Self.url, from: FetchTarget(Self.url.text), response: first, fields: HTTPFields([])))
        partial.bytes = 100_000
        var download = try Self.download(from: partial)
        #expect(Self.exchange(&download, 302, [("Location", Self.cdn)]).sent["Range"] != nil)
        let answer = Self.exchange(&download, status)
        #expect(answer.step == step && answer.sent["Range"] == nil)
    }

    @Test(
        "a rest of known length is delimited, whatever its own response says",
        arguments: [
            (206, [tag, range("100000-199999/200000")], true), (200, [], false),
            (200, [("Content-Length", "5")], true),
        ] as [(Int, [(name: String, value: String)], Bool)])
    func delimited(status: Int, fields: [(name: String, value: String)], isDelimited: Bool) throws {
        var partial = try #require(
            PartialDownload(
                of: Self.url, from: FetchTarget(Self.url.text),
                response: Sample.response([("ETag", "\"1\"")], status: 200), fields: HTTPFields([])))
        partial.bytes = 100_000
        var download = try Self.download(from: partial)
        download.begin(through: nil)
        _ = download.fields(allowedBy: nil, now: Sample.start)
        let head = ResponseHead(status: status, fields: HTTPFields(fields))
        guard case .take(let body) = download.answered(head, now: Sample.start) else {
            Issue.record("the body is not taken")
            return
        }
        #expect(body.isDelimited == isDelimited)
    }

    @Test("a download goes on after a piece of the rest at the URL of that piece, and its hops do not grow")
    func pieces() throws {
        let first = Sample.response([("ETag", "\"1\"")], status: 200)
        var partial = try #require(
            PartialDownload(of: Self.url, from: FetchTarget(Self.cdn), response: first, fields: HTTPFields([])))
        partial.bytes = 100_000
        var download = try Self.download(from: partial)
        #expect(Self.exchange(&download, 302, [("Location", Self.cdn)]).sent["Range"] == nil)
        for begin in [100_000, 120_000, 140_000, 160_000, 180_000] {
            let fields = [Self.tag, Self.range("\(begin)-\(begin + 19_999)/200000")]
            let answer = Self.exchange(&download, 206, fields)
            #expect(answer.step == "take all rest" && answer.sent["Range"] == "bytes=\(begin)-")
            partial.bytes = begin + 20_000
            guard begin < 180_000 else { break }
            guard case .ask = download.goOn(from: partial) else {
                Issue.record("the rest is not requested")
                return
            }
        }
        #expect(download.target.url == Self.cdn)
        #expect(download.trail?.hops.count == 2)
    }

    @Test("a rest must not make the image too large, and is requested only where the beginning came from")
    func restElsewhere() throws {
        var partial = try #require(
            PartialDownload(
                of: Self.url, from: FetchTarget(Self.cdn), response: Sample.response([("ETag", "\"1\"")], status: 200),
                fields: HTTPFields([])))
        partial.bytes = 100_000
        var download = try Self.download(from: partial) { $0.fetch.maxBytes = ByteCount(199_999) }
        #expect(Self.exchange(&download, 302, [("Location", Self.cdn)]).sent["Range"] == nil)
        let rest = Self.exchange(&download, 206, [Self.tag, Self.range("100000-199999/200000")])
        #expect(rest.step == "too-large" && rest.sent["Range"] == "bytes=100000-")
    }

    @Test(
        "a download is multiplexed if every answer was, and the failure of another origin is its own",
        arguments: [(true, true, true), (false, true, false), (true, false, false)])
    func answers(first: Bool, second: Bool, isMultiplexed: Bool) throws {
        var download = try Self.download()
        _ = Self.exchange(&download, 302, [("Location", Self.cdn)], isMultiplexed: first)
        #expect(download.isMultiplexed == nil)
        download.begin(through: nil)
        let head = ResponseHead(status: 503, isMultiplexed: second, fields: HTTPFields([("Retry-After", "120")]))
        guard case .end(.failed(let failure)) = download.answered(head, now: Sample.start) else {
            Issue.record("it goes on")
            return
        }
        #expect(failure.origin == "https://cdn.example:443" && failure.retryAfter == .seconds(120))
        #expect(download.isMultiplexed == isMultiplexed)
    }

    @Test("a request that goes out again because nothing was answered is the same hop")
    func again() throws {
        var download = try Self.download()
        download.begin(through: nil)
        _ = Self.exchange(&download, 302, [("Location", Self.cdn)])
        download.begin(through: nil)
        _ = Self.exchange(&download, 404)
        #expect(download.trail?.hops.map(\.url) == [Self.url.text, Self.cdn])
    }
}
