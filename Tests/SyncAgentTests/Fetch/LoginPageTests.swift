// SPDX-License-Identifier: Apache-2.0
import AgentSettings
import AppLists
import CacheFormat
import HTTPRules
import ImageChecks
import NIOHTTP1
import TestSupport
import Testing
import Transfers

@testable import SyncAgent
@testable import SyncPlan

@Suite("Downloads that get the login page of a network")
struct LoginPageTests {
    private static let html = Array("<!DOCTYPE html><html><body>Please log in</body></html>".utf8)

    private static func failure(_ fetch: HostileFetch) throws -> FetchFailure {
        guard case .failed(let failure) = fetch.outcome else { throw Unexpected(outcome: fetch.outcome) }
        return failure
    }

    private struct Unexpected: Error { var outcome: FetchOutcome }

    // MARK: Over sockets

    /// Runs two servers that redirect all requests to one place.
    private func withRedirects(
        to location: String, _ body: (_ origins: [String]) async throws -> Void
    ) async throws {
        let script: @Sendable (RawOrigin.Request) -> [RawOrigin.Step] = { _ in
            [.send("HTTP/1.1 302 Found\r\nLocation: \(location)\r\nContent-Length: 0\r\n\r\n")]
        }
        try await RawOrigin.run(script) { a in
            try await RawOrigin.run(script) { b in try await body([a.baseURL, b.baseURL]) }
        }
    }

    /// Whether the outcomes of these origins are those of a network's login.
    private static func isSuspected(_ fetches: [HostileFetch], of origins: [String]) -> Bool {
        var login = NetworkLogin()
        let now = Timestamp(sinceEpoch: .seconds(1_800_000_000))
        for (fetch, origin) in zip(fetches, origins) {
            let url = IconURL("\(origin)/1.png")
            _ = login.record(NetworkLogin.Answer(fetch.outcome), of: url, from: origin, at: now)
        }
        return login.isSuspected(at: now)
    }

    @Test("two servers that redirect to a page are recognized as a network's login")
    func page() async throws {
        let html = Self.html
        try await RawOrigin.run { _ in
            [.send(Array("HTTP/1.1 200 OK\r\nContent-Length: \(html.count)\r\n\r\n".utf8) + html)]
        } _: { portal in
            try await withRedirects(to: "\(portal.baseURL)/login") { origins in
                let fetches = try await HostileFetch.run(origins.map { "\($0)/1.png" })
                for fetch in fetches {
                    let failure = try Self.failure(fetch)
                    #expect(failure.code == .image(.notAnImage) && fetch.isTidy)
                    #expect(failure.page == FetchFailure.Page(body: .of(html), origin: portal.baseURL))
                }
                #expect(Self.isSuspected(fetches, of: origins))
                #expect(!Self.isSuspected(fetches, of: [origins[0], origins[0]]))
            }
        }
    }

    @Test("two servers that redirect to a refused address are recognized as a network's login")
    func refusedAddress() async throws {
        try await withRedirects(to: "http://127.0.0.2:8080/login") { origins in
            let fetches = try await HostileFetch.run(origins.map { "\($0)/1.png" })
            for fetch in fetches {
                let failure = try Self.failure(fetch)
                #expect(failure.code == .fetch(.addressRefused))
                #expect(failure.page == FetchFailure.Page(origin: "http://127.0.0.2:8080"))
            }
            #expect(Self.isSuspected(fetches, of: origins))
        }
    }

    // MARK: From a script

    private static let url = "http://127.0.0.1/icon"
    private static let portal = "http://127.0.0.2/login"
    private static let redirect = ScriptedTransport.Answer(302, ["Location": portal])
    private static let origin = "http://127.0.0.2:80"
    /// A page that is written to a file as it arrives.
    private static let long = html + [UInt8](repeating: UInt8(ascii: " "), count: 3 << 20)
    /// A page in Shift_JIS.
    private static let foreign = Array("<html><title>".utf8) + [0x83, 0x8D, 0x83, 0x4F, 0x83, 0x43, 0x83, 0x93]

    /// The answer of the icon's server, that of where it redirects, the code, and what is known of the page.
    private static let bodies: [(ScriptedTransport.Answer, ScriptedTransport.Answer?, String, FetchFailure.Page?)] = [
        (.init(200, body: html), nil, "not-an-image", .init(body: .of(html))),
        (redirect, .init(200, body: html), "not-an-image", .init(body: .of(html), origin: origin)),
        (.init(200, body: foreign), nil, "not-an-image", .init(body: .of(foreign))),
        (.init(200, body: long), nil, "not-an-image", .init(body: .of(long))),
        (redirect, .init(200, body: long), "not-an-image", .init(body: .of(long), origin: origin)),
        (.init(200, body: Array("no".utf8)), nil, "not-an-image", nil),
        (redirect, .init(200, body: Array("no".utf8)), "not-an-image", .init(origin: origin)),
        (redirect, .init(200), "not-an-image", .init(origin: origin)),
    ]

    @Test("a failure tells the page and the redirect behind it, however long the page is", arguments: bodies)
    func pages(
        answer: ScriptedTransport.Answer, behind: ScriptedTransport.Answer?, code: String, page: FetchFailure.Page?
    ) async throws {
        let transport = ScriptedTransport { url, _ in url == Self.url ? answer : behind }
        let failure = try Self.failure(try await fetch(1, over: transport)[0])
        #expect(failure.code.rawValue == code && failure.page == page)
    }

    @Test("a page in place of the rest of an image is told like any other")
    func resumed() async throws {
        let transport = ScriptedTransport { _, number in
            number == 1 ? CutIcon.beginning() : .init(200, body: Self.html)
        }
        let fetches = try await fetch(2, over: transport)
        #expect(fetches.map(\.code) == ["connection-closed", "not-an-image"])
        #expect(try Self.failure(fetches[1]).page == FetchFailure.Page(body: .of(Self.html)))
    }

    @Test(
        "a failure tells the other origin that refuses, or encodes its page",
        arguments: [
            (403, [:], "http-403"), (404, [:], "http-404"), (200, ["Content-Encoding": "gzip"], "content-encoding"),
        ] as [(Int, HTTPHeaders, String)])
    func otherOrigin(status: Int, headers: HTTPHeaders, code: String) async throws {
        let transport = ScriptedTransport { url, _ in url == Self.url ? Self.redirect : .init(status, headers) }
        let failure = try Self.failure(try await fetch(1, over: transport)[0])
        #expect(failure.code.rawValue == code && failure.origin == Self.origin)
        #expect(NetworkLogin.Answer(.failed(failure)) == .page([.redirect(origin: Self.origin)]))
    }

    private func fetch(_ times: Int, over transport: ScriptedTransport) async throws -> [HostileFetch] {
        var settings = Settings()
        settings.network.allow = [try #require(AddressRange("127.0.0.0/8"))]
        return try await withTemporaryFolder { [settings] path in
            try await CacheFixture(path).fetch(
                Array(repeating: Self.url, count: times), over: transport, settings)
        }
    }

    @Test(
        "a name with a local address is told by it, but not one with its own machine's, and no address in a URL is",
        arguments: [
            ("http://h.example/", ["10.0.0.1"], "10.0.0.1"), ("http://h.example/", ["fd00::7"], "fd00::7"),
            ("http://h.example/", ["127.0.0.1"], nil), ("http://h.example/", ["::1"], nil),
            ("http://h.example/", ["0.0.0.0"], nil), ("http://10.0.0.1/", [], nil),
        ] as [(String, [String], String?)])
    func address(url: String, addresses: [String], told: String?) async throws {
        let known = addresses.compactMap { IPAddress($0) }
        let resolver = Resolver(policy: Settings().network) { _, _ in .addresses(known) }
        let failure = await #expect(throws: FetchFailure.self) {
            try await resolver.route(to: FetchTarget(url), through: nil)
        }
        #expect(failure?.code == .fetch(.addressRefused) && failure?.page?.address == told)
    }
}
