// SPDX-License-Identifier: Apache-2.0
import AgentSettings
import DemoOrigin
import HTTPRules
import TestSupport
import Testing

@testable import SyncAgent

@Suite("Hosts that the settings allow or deny")
struct HostPolicyTests {
    private static func hosts(_ entries: String...) throws -> [HostPattern] {
        try entries.map { try #require(HostPattern($0)) }
    }

    /// Runs an origin on loopback that has an icon at every path, save that `/to?URL` redirects to a URL.
    private static func withOrigin(_ body: (RawOrigin) async throws -> Void) async throws {
        let icon = IconDrawing("Mail").png()
        try await RawOrigin.run { request in
            guard let mark = request.target.firstRange(of: "/to?") else {
                return [.send("HTTP/1.1 200 OK\r\nContent-Length: \(icon.count)\r\n\r\n"), .send(icon)]
            }
            let location = request.target[mark.upperBound...]
            return [.send("HTTP/1.1 302 Found\r\nLocation: \(location)\r\nContent-Length: 0\r\n\r\n")]
        } _: { origin in
            try await body(origin)
        }
    }

    @Test("an allowed host is reached at its local address, and its address under another name is not")
    func allowed() async throws {
        try await Self.withOrigin { origin in
            let (named, other) = ("http://localhost:\(origin.port)", "http://127.0.0.1:\(origin.port)")
            let urls = ["\(named)/a.png", "\(other)/a.png", "\(named)/to?\(other)/b.png", "\(named)/to?/c.png"]
            let hosts = try Self.hosts("localhost")
            let fetches = try await HostileFetch.run(urls, allow: []) { $0.network.allowHosts = hosts }
            #expect(fetches.map(\.code) == ["image", "address-refused", "address-refused", "image"])
            guard case .failed(let failure) = fetches[1].outcome else { return }
            #expect(
                failure.message.hasSuffix("add 127.0.0.0/8 to network.allow, or 127.0.0.1 to network.allowHosts"))
        }
    }

    @Test("the connection of an allowed host, which is kept, is not that of another name of its address")
    func rebinding() async throws {
        try await Self.withOrigin { origin in
            var settings = Settings()
            settings.network.allowHosts = try Self.hosts("localhost")
            try await Wire.run(settings) { transport in
                let named = "http://localhost:\(origin.port)/a.png"
                let first = try await transport.answer(from: named)
                #expect(first.status == 200)
                // No look-up goes before this: what refuses it is the address at the other end.
                let failure = await #expect(throws: FetchFailure.self) {
                    try await transport.answer(from: "http://127.0.0.1:\(origin.port)/a.png")
                }
                #expect(failure?.code == .fetch(.addressRefused))
                let second = try await transport.answer(from: named)
                #expect(second.status == 200)
            }
            #expect(origin.requests.total == 2)
        }
    }

    @Test("a denied host is not looked up, not connected to and not redirected to, whatever is allowed")
    func denied() async throws {
        try await Self.withOrigin { origin in
            let base = "http://127.0.0.1:\(origin.port)"
            let urls = [
                "http://icons.denied.invalid/a.png", "http://Denied.Invalid./a.png", "http://localhost:\(origin.port)/",
                "\(base)/to?//localhost:\(origin.port)/", "\(base)/to?//localhost.:\(origin.port)/", "\(base)/a.png",
            ]
            let (denied, allowed) = (try Self.hosts(".denied.invalid", "localhost"), try Self.hosts("localhost"))
            let fetches = try await HostileFetch.run(urls) {
                $0.network.denyHosts = denied
                $0.network.allowHosts = allowed
            }
            #expect(fetches.map(\.code) == Array(repeating: "host-refused", count: 5) + ["image"])
            #expect(origin.requests.total == 3)
        }
    }

    @Test("a denied address is refused in each of its forms, and to every name that stands for it")
    func deniedAddress() async throws {
        try await Self.withOrigin { origin in
            let hosts = ["127.0.0.1", "[::ffff:127.0.0.1]", "localhost"]
            let denied = try Self.hosts("127.0.0.1", "::1")
            let urls = hosts.map { "http://\($0):\(origin.port)/a.png" }
            let fetches = try await HostileFetch.run(urls, allow: ["127.0.0.0/8", "::1"]) {
                $0.network.denyHosts = denied
            }
            #expect(fetches.map(\.code) == ["host-refused"] + Array(repeating: "address-refused", count: 2))
            #expect(origin.connections.total == 0)
        }
    }
}
