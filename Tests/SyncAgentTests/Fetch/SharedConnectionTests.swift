// SPDX-License-Identifier: Apache-2.0
import AgentSettings
import AppLists
import HTTPRules
import TestSupport
import Testing
import Transfers

@testable import SyncAgent

@Suite("Connections that requests share")
struct SharedConnectionTests {
    /// Why two requests to the same host and port have different policies: one may use 127.0.0.1, the other may not.
    enum Difference: CaseIterable, Sendable {
        /// The first one goes to an upstream.
        case upstream
        /// The settings were reloaded in between.
        case settings

        /// The routes of both requests; the name has both addresses.
        func routes(to url: String) async throws -> (wide: Route, narrow: Route) {
            let isUpstream = self == .upstream
            var network = Settings().network
            network.allow = [try #require(AddressRange(isUpstream ? "127.0.0.2" : "127.0.0.0/8"))]
            let target = try FetchTarget(url)
            let wide = try await Self.resolver(network).route(to: target, through: nil, isConfigured: isUpstream)
            if !isUpstream { network.denyHosts = [try #require(HostPattern("127.0.0.1"))] }
            return (wide, try await Self.resolver(network).route(to: target, through: nil))
        }

        private static func resolver(_ network: Settings.Network) -> Resolver {
            Resolver(policy: network) { _, _ in
                .addresses(["127.0.0.1", "127.0.0.2"].compactMap { IPAddress($0) })
            }
        }
    }

    private static let icon = MisbehavingStream.icon

    /// Answers each request with the image.
    @Sendable private static func good(_ request: RawOrigin.Request) -> [RawOrigin.Step] {
        if request.target == "*" { return [.send(Frame.settings())] }
        if request.stream > 0 { return [.send(MisbehavingStream.good(request.stream))] }
        return [.send("HTTP/1.1 200 OK\r\nContent-Length: \(icon.count)\r\n\r\n"), .send(icon)]
    }

    /// Runs an origin at 127.0.0.1, one on the same port of 127.0.0.2, and a transport.
    private func withOrigins(
        isSecure: Bool, _ script: @escaping @Sendable (RawOrigin.Request) -> [RawOrigin.Step],
        _ body: (_ first: RawOrigin, _ second: RawOrigin, Wire) async throws -> Void
    ) async throws {
        var settings = Settings()
        (settings.fetch.connectTimeout, settings.fetch.idleTimeout) = (.seconds(120), .seconds(120))
        guard isSecure else {
            return try await RawOrigin.run(script) { [settings] first in
                try await RawOrigin.run(host: "127.0.0.2", port: first.port, script) { second in
                    try await Wire.run(settings) { try await body(first, second, $0) }
                }
            }
        }
        try await RawOrigin.runSecure(script) { [settings] first, trust in
            var settings = settings
            trust(&settings)
            try await RawOrigin.runSecure(host: "127.0.0.2", port: first.port, script) { [settings] second, _ in
                try await Wire.run(settings) { try await body(first, second, $0) }
            }
        }
    }

    private static func url(_ origin: RawOrigin, isSecure: Bool) -> String {
        "\(isSecure ? "https" : "http")://\(TLSIdentity.name):\(origin.port)"
    }

    /// Requests `/1` and the following at once.
    private static func ask(_ count: Int, of url: String, by route: Route, over wire: Wire) async throws {
        try await withThrowingTaskGroup { group in
            for number in 1...count {
                group.addTask { try await wire.answer(from: "\(url)/\(number)", by: route).body }
            }
            for try await body in group { #expect(body == icon) }
        }
    }

    @Test(
        "a request goes to a permitted address although there is a kept connection to one that is refused to it",
        arguments: Difference.allCases, TLSIdentity.isAvailable ? [false, true] : [false])
    func kept(difference: Difference, isSecure: Bool) async throws {
        try await withOrigins(isSecure: isSecure, Self.good) { first, second, wire in
            let url = Self.url(first, isSecure: isSecure)
            let (wide, narrow) = try await difference.routes(to: url)
            #expect(try await wire.answer(from: url + "/first", by: wide).body == Self.icon)
            #expect(first.requests.count(of: "/first") == 1 && second.connections.total == 0)
            try await Self.ask(20, of: url, by: narrow, over: wire)
            let paths = (1...20).map { "/\($0)" }
            #expect(paths.allSatisfy { first.requests.count(of: $0) == 0 && second.requests.count(of: $0) == 1 })
            #expect(first.connections.total == 1)
            // The refused connection costs no further ones: those over HTTP/2 share one again.
            #expect(!isSecure || second.connections.total <= 4)
            #expect(try await wire.answer(from: url + "/last", by: wide).body == Self.icon)
        }
    }

    @Test("requests that must not use an HTTP/2 connection do not disturb those that do", .hasIdentity)
    func inUse() async throws {
        let gate = Gate()
        try await withOrigins(isSecure: true) { request in
            guard request.target == "/held" else { return Self.good(request) }
            let stream = request.stream
            return [.send(MisbehavingStream.head(stream)), .wait(gate), .send(Frame.data(stream, Self.icon))]
        } _: { first, second, wire in
            let url = Self.url(first, isSecure: true)
            let (wide, narrow) = try await Difference.upstream.routes(to: url)
            async let held = wire.answer(from: url + "/held", by: wide)
            try await first.requests.reach(1, of: "/held")
            try await Self.ask(6, of: url, by: narrow, over: wire)
            gate.open()
            #expect(try await held.body == Self.icon)
            #expect(first.connections.total == 1)
            #expect((1...6).allSatisfy { first.requests.count(of: "/\($0)") == 0 })
            #expect((1...6).allSatisfy { second.requests.count(of: "/\($0)") == 1 })
        }
    }

    @Test("a request whose permitted address is not reachable fails, although a connection to another one is kept")
    func unreachable() async throws {
        try await RawOrigin.run(Self.good) { origin in
            let url = Self.url(origin, isSecure: false)
            let (wide, narrow) = try await Difference.upstream.routes(to: url)
            try await Wire.run(Settings()) { wire in
                let answer = try await wire.answer(from: url + "/1", by: wide)
                #expect(answer.body == Self.icon)
                let failure = await #expect(throws: FetchFailure.self) {
                    try await wire.answer(from: url + "/2", by: narrow)
                }
                #expect(failure?.code == .fetch(.connect))
            }
            #expect(origin.requests.total == 1)
        }
    }
}
