// SPDX-License-Identifier: Apache-2.0
import AgentSettings
import AppLists
import CacheFormat
import HTTPRules
import NIOHTTP1
import Synchronization
import TestSupport
import Testing

@testable import SyncAgent
@testable import SyncPlan

@Suite("Requests through a proxy")
struct ProxyTests {
    /// Runs the body with a fetcher whose requests go through a proxy on loopback, which answers in the servers' place.
    ///
    /// - Parameters:
    ///   - tunnel: What it answers to be asked for a connection.
    ///   - answer: What it answers to requests through it.
    ///   - credentials: What the setting says before the proxy's host.
    ///   - settings: What else is set.
    ///   - body: What is asked.
    ///
    /// - Returns: The heads of the requests that the proxy received.
    /// - Throws: What the body throws.
    private func withProxy(
        tunnel: String, answer: String = "", credentials: String = "", settings: Settings = Settings(),
        _ body: (Fetching) async throws -> Void
    ) async throws -> [String] {
        let heads = Mutex<[String]>([])
        try await withTemporaryFolder { folder in
            try await RawOrigin.run { request in
                heads.withLock { $0.append(request.head) }
                return request.head.hasPrefix("CONNECT ") ? [.send(tunnel)] : [.send(answer), .close]
            } _: { proxy in
                let cache = try CacheFixture(folder)
                let policy = try ProxyPolicy(setting: "\(credentials)127.0.0.1:\(proxy.port)") { _ in nil }
                try await Fetching.run(settings, into: cache.staging, through: policy, body)
            }
        }
        return heads.withLock(\.self)
    }

    private func request(_ url: String) throws -> FetchRequest {
        FetchRequest(url: IconURL(url), source: try IconSource(IconURL(url)), reason: .notCached)
    }

    private func failure(_ outcome: FetchOutcome) -> FetchFailure? {
        if case .failed(let failure) = outcome { failure } else { nil }
    }

    @Test(
        "an HTTP proxy gets the request for an http URL, with the credentials of the setting",
        arguments: [
            ("http://icons.invalid/a.png?x=1", "http://icons.invalid/a.png?x=1", "icons.invalid"),
            ("http://icons.invalid:8080?x=1", "http://icons.invalid:8080/?x=1", "icons.invalid:8080"),
            ("http://[2001:4860::1]/%2f%c3%a9", "http://[2001:4860::1]/%2f%c3%a9", "[2001:4860::1]"),
            ("http://[2001:4860::1]:8080/", "http://[2001:4860::1]:8080/", "[2001:4860::1]:8080"),
        ])
    func forward(url: String, target: String, host: String) async throws {
        let heads = try await withProxy(
            tunnel: "", answer: "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n", credentials: "user:pass@"
        ) { fetcher in
            let outcome = await fetcher.fetch(try request(url)).outcome
            #expect(failure(outcome)?.code == .http(404))
        }
        let head = try #require(heads.first)
        #expect(heads.count == 1 && head.hasPrefix("GET \(target) HTTP/1.1\r\n"), "\(heads)")
        let lines = head.lowercased().split(separator: "\r\n")
        #expect(lines.filter { $0.hasPrefix("host:") } == ["host: \(host)"])
        #expect(lines.contains("proxy-authorization: basic dxnlcjpwyxnz"))
    }

    @Test("a proxy that wants to know who asks is a failure, and is not retried at once")
    func unauthorized() async throws {
        let heads = try await withProxy(
            tunnel: "", answer: "HTTP/1.1 407 Who?\r\nProxy-Authenticate: Basic\r\nContent-Length: 0\r\n\r\n"
        ) { fetcher in
            let outcome = await fetcher.fetch(try request("http://icons.invalid/a.png")).outcome
            #expect(failure(outcome)?.code == .http(407))
        }
        #expect(heads.count == 1)
    }

    @Test("a redirect from http to https leads from what the proxy fetches to what it connects to")
    func redirect() async throws {
        let heads = try await withProxy(
            tunnel: "HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n",
            answer: "HTTP/1.1 301 Moved\r\nLocation: https://icons.invalid/b.png\r\nContent-Length: 0\r\n\r\n",
            credentials: "user:pass@"
        ) { fetcher in
            let outcome = await fetcher.fetch(try request("http://icons.invalid/a.png")).outcome
            #expect(failure(outcome) != nil)
        }
        #expect(
            heads.map { $0.prefix { $0 != "\r\n" } } == [
                "GET http://icons.invalid/a.png HTTP/1.1", "CONNECT icons.invalid:443 HTTP/1.1",
            ])
        #expect(heads.allSatisfy { $0.lowercased().contains("proxy-authorization: basic dxnlcjpwyxnz") })
    }

    @Test("a proxy that does not connect is a failure that names it")
    func closed() async throws {
        let heads = try await withProxy(tunnel: "HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n") { fetcher in
            let outcome = await fetcher.fetch(try request("https://icons.invalid/a.png")).outcome
            let found = try #require(failure(outcome))
            #expect(found.code == .fetch(.connect))
            #expect(found.message.contains("the proxy") && found.message.contains("403"))
        }
        #expect(heads.first?.hasPrefix("CONNECT icons.invalid:443 HTTP/1.1\r\n") == true, "\(heads)")
    }

    @Test("a proxy gets no request for a denied host or a local address, unless the host is allowed")
    func hosts() async throws {
        var settings = Settings()
        settings.network.denyHosts = [try #require(HostPattern("*.invalid"))]
        settings.network.allowHosts = [try #require(HostPattern("10.1.2.3"))]
        let heads = try await withProxy(
            tunnel: "", answer: "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n", settings: settings
        ) { fetcher in
            for (host, code) in [
                ("icons.invalid", .url(.hostRefused)), ("10.1.2.4", .fetch(.addressRefused)),
                ("10.1.2.3", .http(404)),
            ] as [(String, FetchFailure.Code)] {
                let outcome = await fetcher.fetch(try request("http://\(host)/a.png")).outcome
                #expect(failure(outcome)?.code == code, "\(host): \(outcome)")
            }
        }
        #expect(heads.count == 1 && heads.first?.hasPrefix("GET http://10.1.2.3/a.png ") == true, "\(heads)")
    }

    @Test(
        "a proxy gets no request for an address that the policy refuses",
        arguments: ["127.0.0.1", "[::1]", "localhost"])
    func refused(host: String) async throws {
        let heads = try await withProxy(tunnel: "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n") { fetcher in
            let outcome = await fetcher.fetch(try request("http://\(host)/a.png")).outcome
            #expect([.fetch(.addressRefused), .url(.hostRefused)].contains(failure(outcome)?.code), "\(outcome)")
        }
        #expect(heads.isEmpty)
    }
}
