// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import Testing

@testable import AgentSettings
@testable import Fleet
@testable import HTTPRules
@testable import SyncPlan

@Suite("Manifests of upstreams")
struct UpstreamPollTests {
    private func poll(accepted: (seconds: Int, generation: Int, word: String)?) -> UpstreamPoll {
        let memo = accepted.map {
            UpstreamMemo(
                url: UpstreamSample.first.description, published: Sample.start + .seconds($0.seconds),
                generation: $0.generation, sha256: .of($0.word))
        }
        return UpstreamPoll(
            url: UpstreamSample.first, validators: nil, bypassesCaches: false, accepted: memo,
            index: accepted == nil ? nil : UpstreamIndex())
    }

    @Test(
        "a manifest is accepted if it is newer than the last one, by its time and then by its generation",
        arguments: [
            (5, 1, "new", nil), (10, 9, "new", nil), (10, 8, "old", nil),
            // An agent whose cache and state were removed begins again.
            (11, 1, "new", nil),
            (9, 9, "new", "manifest-rollback"), (10, 7, "new", "manifest-rollback"),
            (10, 8, "new", "manifest-conflict"),
        ] as [(Int, Int, String, String?)])
    func order(seconds: Int, generation: Int, word: String, code: String?) throws {
        let accepted = seconds == 5 ? nil : (10, 8, "old")
        let manifest = Manifest(generation: generation, published: Sample.start + .seconds(seconds), lists: [:])
        var thrown: String?
        do throws(UpstreamFailure) {
            let poll = poll(accepted: accepted)
            #expect(poll.isKnown(.of(word)) == (word == "old"), "the manifest that is known says nothing new")
            if !poll.isKnown(.of(word)) {
                _ = try poll.validate(manifest.text, digest: .of(word), now: Sample.start + .seconds(60))
            }
        } catch {
            thrown = error.code
        }
        #expect(thrown == code)
    }

    @Test(
        "a manifest of the future is refused", arguments: [(3600, nil), (3601, "manifest-ahead")] as [(Int, String?)])
    func ahead(seconds: Int, code: String?) {
        let manifest = Manifest(generation: 1, published: Sample.start + .seconds(seconds), lists: [:])
        var thrown: String?
        do throws(UpstreamFailure) {
            _ = try poll(accepted: nil).validate(manifest.text, digest: .of("new"), now: Sample.start)
        } catch {
            thrown = error.code
        }
        #expect(thrown == code)
    }

    @Test(
        "a text that is not a manifest is refused",
        arguments: ["", "<html>", "{}", "{ \"format\": 2, \"generation\": 1 }"])
    func damaged(text: String) {
        #expect(throws: UpstreamFailure.self) {
            try poll(accepted: nil).validate(Array(text.utf8), digest: .of(text), now: Sample.start)
        }
    }

    @Test("an upstream's URL that no list could have is not kept", arguments: [(8192, 1), (8193, 0)])
    func longURL(bytes: Int, count: Int) throws {
        let url = IconURL("https://a.example/" + String(repeating: "x", count: bytes - 18))
        let text = Sample.document("1.plist", [url: "x"]).text
        let list = Manifest.List(sha256: .of(text), apps: 1, ready: 1, pending: 0, failed: 0)
        let document = try poll(accepted: nil).document(text, of: list)
        #expect(document.contents.count == count && document.changes.count == count)
    }

    @Test("a document is refused that does not have its digest, or is none")
    func documents() throws {
        let document = Sample.document("1.plist", ["https://a.example/1.png": "x"]).text
        func list(_ digest: Digest) -> Manifest.List {
            Manifest.List(sha256: digest, apps: 1, ready: 1, pending: 0, failed: 0)
        }
        let poll = poll(accepted: nil)
        #expect(try poll.document(document, of: list(.of(document))).contents.count == 1)
        #expect(throws: UpstreamFailure.self) { try poll.document(document, of: list(.of("x"))) }
        #expect(throws: UpstreamFailure.self) { try poll.document(Array("{}".utf8), of: list(.of("{}"))) }
    }

    private static let digest = Digest.of("x").hex

    @Test(
        "URLs of upstreams name folders, and not files of an export",
        arguments: [
            ("https://icons.example/fleet", "https://icons.example/fleet/"),
            ("http://10.0.0.5:8080/", "http://10.0.0.5:8080/"),
            ("https://icons.example", "https://icons.example/"), ("https://icons.example/?x", nil),
            ("https://icons.example/#x", nil), ("ftp://icons.example/", nil), ("https://user@icons.example/", nil),
            ("icons.example", nil), ("", nil), ("https://icons.example/fleet/manifest.json", nil),
            ("https://icons.example/manifest.json/", nil), ("https://icons.example/lists/\(digest).json", nil),
            ("https://icons.example/a/icons/\(digest.prefix(2))/\(digest).png", nil),
            ("https://icons.example/signatures/\(digest).minisig", nil),
            ("https://icons.example/lists/x.json", "https://icons.example/lists/x.json/"),
            ("https://icons.example/lists", "https://icons.example/lists/"),
        ] as [(String, String?)])
    func urls(text: String, url: String?) {
        #expect(UpstreamURL(text)?.description == url)
    }

    @Test(
        "a failed request has a verdict on its upstream",
        arguments: [
            (FetchFailure.status(404), .miss), (.status(403), .miss), (.status(410), .miss),
            (.status(401), .configuration), (.status(407), .configuration), (.status(500), .unavailable),
            (.status(429, retryAfter: .seconds(7)), .wait(.seconds(7))), (.status(429), .unavailable),
            (.status(503, retryAfter: .seconds(9)), .wait(.seconds(9))), (.timeout("5 s"), .unavailable),
            (.copyMismatch, .unavailable), (.tooLarge(limit: .mebibytes(5)), .rejected),
            (FetchFailure(.tls, "not trusted"), .unavailable), (FetchFailure(.disk, "full"), .unknown),
        ] as [(FetchFailure, UpstreamVerdict)])
    func verdicts(failure: FetchFailure, verdict: UpstreamVerdict) {
        #expect(UpstreamVerdict(failure) == verdict)
    }

    @Test("a circuit breaker opens for a random time whose limit doubles, and forgets it when all was well for a while")
    func breaker() {
        var settings = Settings.Upstream()
        settings.breakMax = .seconds(240)
        var generator = SeededGenerator(seed: 1)
        var breaker = CircuitBreaker()
        var now = Sample.start
        for _ in 0..<2 { breaker.recordFailure(settings, at: now, using: &generator) }
        #expect(!breaker.isOpen)
        for limit in [60, 120, 240, 240] {
            breaker.recordFailure(settings, at: now, using: &generator)
            let probe = breaker.probe ?? .distantPast
            #expect(breaker.isOpen && probe >= now && probe <= now + .seconds(limit))
            let open = breaker
            breaker.recordFailure(settings, at: probe + .milliseconds(-1), using: &generator)
            #expect(breaker == open, "those under way tell nothing new")
            now = probe
        }
        breaker.close(after: settings.breakMax, at: now)
        #expect(!breaker.isOpen && breaker.openings == 4)
        breaker.close(after: settings.breakMax, at: now + settings.breakMax * 2)
        #expect(breaker == CircuitBreaker())
    }

    @Test("an upstream whose circuit breaker is open is not polled earlier because an icon waits")
    func hurried() {
        let settings = Settings.Upstream()
        let failure = UpstreamFailure(FetchFailure(.connect, "refused"))
        var generator = SeededGenerator(seed: 1)
        var upstream = Upstream(UpstreamSample.first, accepted: nil, firstPoll: Sample.start)
        var now = Sample.start
        while !upstream.breaker.isOpen {
            now = max(now, upstream.nextPoll)
            upstream.hurry(settings.poll, from: now, using: &generator)
            upstream.end(.failed(failure), settings, isHurried: true, at: now, using: &generator)
        }
        for _ in 0..<20 {
            upstream.hurry(settings.poll, from: now, using: &generator)
            #expect(upstream.breaker.probe.map { upstream.nextPoll >= $0 } == true)
        }
    }
}
