// SPDX-License-Identifier: Apache-2.0
import Hummingbird
import NIOCore
import Testing

@testable import AgentServer

@Suite("The guard of the dashboard's listener")
struct WebGuardTests {
    private static func sender(
        host: String? = "127.0.0.1:8080", origin: String? = nil, site: String? = nil, authorization: String? = nil,
        token: String? = nil, isVisit: Bool = false
    ) -> Request {
        var head = HTTPRequest(method: .get, scheme: "http", authority: host, path: "/")
        head.headerFields[.origin] = origin
        head.headerFields[.fetchSite] = site
        head.headerFields[.authorization] = authorization
        head.headerFields[.token] = token
        head.headerFields[.fetchMode] = isVisit ? "navigate" : nil
        head.headerFields[.fetchDestination] = isVisit ? "document" : nil
        return Request(head: head, body: RequestBody(buffer: ByteBuffer()))
    }

    @Test(
        "the guard of the dashboard answers to loopback hosts with its own port, and to no other name",
        arguments: [
            ("127.0.0.1:8080", true), ("localhost:8080", true), ("LocalHost:8080", true), ("[::1]:8080", true),
            ("127.0.0.2:8080", true), ("127.0.0.1", false), ("127.0.0.1:8081", false), ("127.0.0.1:", false),
            ("localhost", false), ("evil.example:8080", false), ("localhost.evil.example:8080", false),
            ("127.0.0.1.evil.example:8080", false), ("evil.example", false), ("192.0.2.1:8080", false),
            ("0.0.0.0:8080", false), ("[::]:8080", false), ("::1:8080", false), ("localhost:8080:8080", false),
            ("user@localhost:8080", false), ("localhost:08080x", false), ("", false), (nil, false),
        ] as [(String?, Bool)])
    func hosts(host: String?, isAnswered: Bool) {
        let door = WebGuard(port: 8080, tokens: DashboardTokens())
        let access = try? door.access(of: Self.sender(host: host))
        #expect((access == .read) == isAnswered)
        if !isAnswered {
            #expect(throws: WebGuard.Refusal.misdirected) { try door.access(of: Self.sender(host: host)) }
        }
    }

    @Test("a host without a port means port 80", arguments: ["127.0.0.1", "localhost", "[::1]"])
    func defaultPort(host: String) throws {
        let door = WebGuard(port: 80, tokens: DashboardTokens())
        #expect(try door.access(of: Self.sender(host: host)) == .read)
    }

    @Test(
        "requests of another site get no access, even with a token",
        arguments: [
            ("http://127.0.0.1:8080", nil, true), ("http://127.0.0.1:8080", "same-origin", true), (nil, "none", true),
            (nil, nil, true), ("http://localhost:8080", nil, false), ("https://127.0.0.1:8080", nil, false),
            ("http://127.0.0.1:9090", "same-site", false), ("http://evil.example", "cross-site", false),
            ("null", nil, false), (nil, "cross-site", false), (nil, "same-site", false), (nil, "else", false),
            ("http://127.0.0.1:8080", "cross-site", false),
        ] as [(String?, String?, Bool)])
    func origins(origin: String?, site: String?, isAnswered: Bool) {
        let tokens = DashboardTokens()
        let token = tokens.add(.change)
        let door = WebGuard(port: 8080, tokens: tokens)
        let access = try? door.access(of: Self.sender(origin: origin, site: site, token: token))
        #expect(access == (isAnswered ? .change : nil))
    }

    @Test("a link of another site leads to the page, unless it has an Origin field")
    func visits() throws {
        let door = WebGuard(port: 8080, tokens: DashboardTokens())
        #expect(try door.access(of: Self.sender(site: "cross-site", isVisit: true)) == .read)
        let sender = Self.sender(origin: "http://evil.example", site: "cross-site", isVisit: true)
        #expect(throws: WebGuard.Refusal.foreign) { try door.access(of: sender) }
    }

    @Test("a request without a token may read, with the right one change, with a wrong one nothing")
    func tokens() throws {
        let tokens = DashboardTokens()
        let token = tokens.add(.change)
        let reading = tokens.add(.read)
        let door = WebGuard(port: 8080, tokens: tokens)
        func access(_ authorization: String? = nil, token: String? = nil) throws -> Access {
            try door.access(of: Self.sender(authorization: authorization, token: token))
        }
        #expect(try access() == .read)
        #expect(try access(token: token) == .change)
        #expect(try access("Bearer \(token)") == .change)
        #expect(try access("bearer \(token)") == .change)
        #expect(try access(token: reading) == .read)
        #expect(try access("Basic dXNlcg==") == .read)
        for wrong in ["", "0", String(token.dropLast()), token + "0", token.uppercased() + "x", "Bearer \(token)"] {
            #expect(throws: WebGuard.Refusal.unknownToken) { try access(token: wrong) }
            #expect(throws: WebGuard.Refusal.unknownToken) { try access("Bearer \(wrong)") }
        }
        #expect(throws: WebGuard.Refusal.unknownToken) { try access("Bearer") }
        tokens.remove(token)
        #expect(throws: WebGuard.Refusal.unknownToken) { try access(token: token) }
        #expect(try access(token: reading) == .read)
    }

    @Test("a request without a token may do nothing where only a group may read")
    func group() throws {
        let tokens = DashboardTokens()
        let reading = tokens.add(.read)
        let door = WebGuard(port: 8080, anonymous: .none, tokens: tokens)
        #expect(try door.access(of: Self.sender()) == .none)
        #expect(try door.access(of: Self.sender(token: reading)) == .read)
    }

    @Test("a token of the dashboard has 256 bits, and differs each time")
    func randomness() {
        let tokens = DashboardTokens()
        let made = (0..<200).map { _ in tokens.add(.read) }
        #expect(Set(made).count == 200)
        #expect(made.allSatisfy { $0.utf8.count == 64 && $0.allSatisfy(\.isHexDigit) })
    }
}
