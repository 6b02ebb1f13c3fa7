// SPDX-License-Identifier: Apache-2.0
import AgentSettings
import CacheFormat
import Hummingbird
import NIOHTTP1
import TestSupport
import Testing

@testable import AgentServer
@testable import SyncAgent

@Suite("The dashboard over HTTP", .timeLimit(.minutes(5)))
struct DashboardSiteTests {
    private static let files =
        [
            ("/", "text/html; charset=utf-8"), ("/dashboard.css", "text/css; charset=utf-8"),
            ("/favicon.svg", "image/svg+xml"),
        ]
        + ["agent", "dashboard", "details", "events", "images", "lists", "problems", "text", "wall"].map { name in
            ("/\(name).js", "text/javascript; charset=utf-8")
        }

    @Test("the page has its files, which load nothing from anywhere else")
    func page() async throws {
        try await WebWorld.with { world in
            try await world.serving(world.site()) { port in
                for (path, type) in Self.files {
                    let answer = try await WebWorld.ask(port, path)
                    #expect(answer.status == 200 && !answer.body.isEmpty, "\(path)")
                    #expect(answer.fields["content-type"] == type, "\(path)")
                    let policy = try #require(answer.fields["content-security-policy"])
                    #expect(policy.hasPrefix("default-src 'none'; script-src 'self';"))
                    #expect(policy.contains("; img-src 'self'; ") && policy.contains("frame-ancestors 'none'"))
                    #expect(!policy.contains("unsafe"))
                    #expect(answer.fields["cross-origin-resource-policy"] == "same-origin")
                    #expect(answer.fields["referrer-policy"] == "no-referrer")
                    #expect(answer.fields.keys.allSatisfy { !$0.hasPrefix("access-control") })
                    // The namespace of SVG and the URL in the list to copy are names: nothing is loaded from there.
                    let addresses = answer.text.replacing("http://www.w3.org/2000/svg", with: "")
                        .replacing("https://www.swift.org/favicon.ico", with: "")
                    #expect(!addresses.contains("http://") && !addresses.contains("https://"), "\(path)")
                    #expect(!answer.text.contains(" style=") && !answer.text.contains("innerHTML"), "\(path)")
                    let tag = try #require(answer.fields["etag"])
                    #expect(try await WebWorld.ask(port, path, [("if-none-match", tag)]).status == 304)
                }
            }
        }
    }

    @Test("a request to the API has the access of its token, and the answer says which")
    func access() async throws {
        try await WebWorld.with { world in
            let tokens = DashboardTokens()
            let token = tokens.add(.change)
            try await world.serving(world.site(tokens: tokens)) { port in
                let reading = try await WebWorld.ask(port, "/v1/status")
                #expect(reading.text == "/v1/status read" && reading.fields["x-syncagent-access"] == "read")
                #expect(reading.fields["cache-control"] == "no-store")
                let changing = try await WebWorld.ask(port, .POST, "/v1/pause", [("x-syncagent-token", token)])
                #expect(changing.text == "/v1/pause change" && changing.fields["x-syncagent-access"] == "change")
                let wrong = try await WebWorld.ask(port, .POST, "/v1/pause", [("authorization", "Bearer 0")])
                #expect(wrong.status == 403 && wrong.text.contains("unknown-token"))
            }
        }
    }

    @Test("HEAD is answered with the head of the answer to GET, also if that is an error")
    func heads() async throws {
        try await WebWorld.with { world in
            try await world.serving(world.site()) { port in
                let own = "127.0.0.1:\(port)"
                for (path, host, status) in [
                    ("/", own, 200), ("/none", own, 404), ("/v1/status", own, 200), ("/icons?url=x", own, 404),
                    ("/", "other.example", 421),
                ] {
                    let rest = " \(path) HTTP/1.1\r\nhost: \(host)\r\nconnection: close\r\n\r\n"
                    let head = try await RawClient("HEAD" + rest, to: port).answer()
                    let whole = try await RawClient("GET" + rest, to: port).answer()
                    #expect(head.hasPrefix("HTTP/1.1 \(status) ") && head.hasSuffix("\r\n\r\n"), "\(path): \(head)")
                    #expect(whole.hasPrefix(head) && whole != head, "\(path): \(head) \(whole)")
                }
            }
        }
    }

    @Test("another site gets nothing from any path of the dashboard")
    func foreign() async throws {
        let signs = [("origin", "http://evil.example"), ("sec-fetch-site", "cross-site"), ("origin", "null")]
        try await WebWorld.with { world in
            try await world.serving(world.site()) { port in
                for path in ["/", "/v1/status", "/icons?url=x", "/dashboard.js"] {
                    for field in signs {
                        let answer = try await WebWorld.ask(port, path, [field])
                        #expect(answer.status == 403, "\(path): \(field)")
                        expectContains(answer.text, "foreign-origin")
                        #expect(answer.fields.keys.allSatisfy { !$0.hasPrefix("access-control") }, "\(path): \(field)")
                    }
                    // What a browser asks before it sends the token of another site.
                    let before = try await WebWorld.ask(port, .OPTIONS, path, [signs[0]])
                    #expect(before.status == 403, "\(path)")
                }
            }
        }
    }

    @Test("a link of another site leads to the page of the dashboard and to nothing else")
    func links() async throws {
        try await WebWorld.with { world in
            try await world.serving(world.site()) { port in
                for (path, mode, destination, status) in [
                    ("/", "navigate", "document", 200), ("/", "navigate", "iframe", 403),
                    ("/", "no-cors", "document", 403), ("/v1/status", "navigate", "document", 403),
                    ("/icons?url=x", "navigate", "document", 403),
                ] as [(String, String, String, UInt)] {
                    let answer = try await WebWorld.ask(
                        port, path,
                        [("sec-fetch-site", "cross-site"), ("sec-fetch-mode", mode), ("sec-fetch-dest", destination)])
                    let link = "\(path) \(mode) \(destination)"
                    #expect(answer.status == status, "\(link)")
                    #expect(answer.fields["cross-origin-opener-policy"] == "same-origin", "\(link)")
                }
            }
        }
    }

    @Test("images of the dashboard are for pages of the same listener only")
    func images() async throws {
        try await WebWorld.with { world in
            try world.publish(Array("GIF89a".utf8), suffix: "gif", as: "https://h.example/a.gif")
            try await world.serving(world.site()) { port in
                let answer = try await WebWorld.ask(port, "/icons?url=https://h.example/a.gif")
                #expect(answer.status == 200 && answer.fields["cross-origin-resource-policy"] == "same-origin")
            }
        }
    }

    @Test(
        "images cannot be read without a token where nothing can, by any of their names",
        arguments: [nil, Access.none, Access.read, Access.change] as [Access?])
    func readers(access: Access?) async throws {
        try await WebWorld.with { world in
            let path = try world.publish(Array("GIF89a".utf8), suffix: "gif", as: "https://h.example/a.gif")
            let tokens = DashboardTokens()
            let fields = access.map { [("x-syncagent-token", tokens.add($0))] } ?? []
            try await world.serving(world.site(tokens: tokens, anonymous: .none)) { port in
                let name = Digest.of("https://h.example/a.gif").hex
                for target in [
                    "/\(path)", "/by-url/\(name)", "/by-url/\(name.prefix(2))/\(name)",
                    "/icons?url=https://h.example/a.gif", "/icons?url=https://h.example/b.gif",
                ] {
                    for method in [HTTPMethod.GET, .HEAD] {
                        let answer = try await WebWorld.ask(port, method, target, fields)
                        guard access ?? .none >= .read else {
                            #expect(answer.status == 403 && answer.fields["etag"] == nil, "\(target): \(answer)")
                            continue
                        }
                        #expect(answer.status == (target.hasSuffix("b.gif") ? 404 : 200), "\(target): \(answer)")
                        #expect(answer.fields["cache-control"]?.hasPrefix("public") != true)
                    }
                }
                let page = try await WebWorld.ask(port, "/")
                #expect(page.fields["content-security-policy"]?.contains("; img-src 'self' blob:; ") == true)
                let answer = try await WebWorld.ask(port, "/v1/status", fields)
                #expect(answer.fields["x-syncagent-anonymous"] == "none")
            }
        }
    }

    @Test("the dashboard of a command has a token of its own, and ends with the command", arguments: [false, true])
    func opened(isLasting: Bool) async throws {
        try await WebWorld.with { world in
            let dashboards = Dashboards(clients: 8, logger: .silent) { world.site(tokens: $0) }
            let opened = Lines()
            @Sendable func open() async throws {
                var writer: any ResponseBodyWriter = opened
                try await dashboards.open(.change, to: &writer)
            }
            @Sendable func check(_ lasting: Int?) async throws {
                let opening = Task { try await open() }
                try await waitUntil { !opened.text.isEmpty }
                let match = try #require(
                    opened.text.firstMatch(of: /http:\/\/127\.0\.0\.1:([0-9]+)\/#token=([0-9a-f]{64})/))
                let port = try #require(Int(match.1)), token = String(match.2)
                #expect(lasting == nil || lasting == port)
                let answer = try await WebWorld.ask(port, .POST, "/v1/sync", [("x-syncagent-token", token)])
                #expect(answer.text == "/v1/sync change")
                opening.cancel()
                try? await opening.value
                let later = try? await WebWorld.ask(port, .POST, "/v1/sync", [("x-syncagent-token", token)])
                #expect(later?.status == (lasting == nil ? nil : 403))
            }
            guard isLasting else { return try await check(nil) }
            let server = dashboards.server(at: .anyLoopbackPort, dashboards.tokens)
            try await world.serving(server.respond) { port in
                dashboards.setLasting(ListenAddress.anyLoopbackPort.with(port: port))
                try await check(port)
            }
        }
    }

    @Test("at most two commands have a dashboard at once")
    func limit() async throws {
        try await WebWorld.with { world in
            let dashboards = Dashboards(clients: 8, logger: .silent) { world.site(tokens: $0) }
            let opening = (0..<2).map { _ in
                let lines = Lines()
                let task = Task {
                    var writer: any ResponseBodyWriter = lines
                    try await dashboards.open(.change, to: &writer)
                }
                return (lines, task)
            }
            for (lines, _) in opening { try await waitUntil { !lines.text.isEmpty } }
            await #expect(throws: Dashboards.TooMany.self) {
                var writer: any ResponseBodyWriter = Lines()
                try await dashboards.open(.change, to: &writer)
            }
            for (_, task) in opening { task.cancel() }
            for (_, task) in opening { try? await task.value }
        }
    }
}
