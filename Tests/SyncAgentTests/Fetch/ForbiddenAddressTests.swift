// SPDX-License-Identifier: Apache-2.0
import Glibc
import NIOCore
import SyncPlan
import TestSupport
import Testing

@testable import SyncAgent

@Suite("Addresses that must not be asked")
struct ForbiddenAddressTests {
    /// Addresses of this machine, with PORT for the port that something listens on.
    ///
    /// No spelling is here that programs read in two ways: the agent looks at addresses, after the resolver has read
    /// the spelling, and at the characters of a host before (`AppListsTests/Addresses/FetchTargetTests`).
    private static let places = [
        // Plainly.
        "http://127.0.0.1:PORT/", "http://127.255.255.254:PORT/", "http://0.0.0.0:PORT/", "http://localhost:PORT/",
        "http://LOCALHOST:PORT/", "http://LocalHost.:PORT/", "http://a.localhost:PORT/", "HTTP://127.0.0.1:PORT/",
        "https://127.0.0.1:PORT/", "https://[::1]:PORT/", "//127.0.0.1:PORT/", "127.0.0.1:PORT/",
        // As IPv6, also with an IPv4 address in it.
        "http://[::1]:PORT/", "http://[0:0:0:0:0:0:0:1]:PORT/", "http://[::]:PORT/", "http://[::ffff:127.0.0.1]:PORT/",
        "http://[::ffff:7f00:1]:PORT/", "http://[::FFFF:7F00:0001]:PORT/", "http://[::127.0.0.1]:PORT/",
        "http://[::7f00:1]:PORT/", "http://[::ffff:0.0.0.0]:PORT/", "http://[::ffff:0:127.0.0.1]:PORT/",
        "http://[64:ff9b::7f00:1]:PORT/", "http://[64:ff9b::127.0.0.1]:PORT/", "http://[64:ff9b:1::7f00:1]:PORT/",
        "http://[2002:7f00:1::]:PORT/", "http://[2001:0:0:0:0:0:80ff:fffe]:PORT/",
        // With a user, or another scheme.
        "http://me@127.0.0.1:PORT/", "http://me:secret@127.0.0.1:PORT/", "ws://127.0.0.1:PORT/",
        "http+unix://127.0.0.1:PORT/", "ftp://127.0.0.1:PORT/",
        // With characters that no host has.
        "http://127.0.0.1 :PORT/", "http://127.0.0.1,192.0.2.1:PORT/", "http://\u{FC}.localhost:PORT/",
    ]

    /// The codes of a refusal.
    private static let refusals: Set<String> = [
        "address-refused", "bad-url", "bad-redirect", "scheme-refused", "userinfo-refused", "host-refused",
    ]

    @Test("an address of this machine in a list is refused, in each of its forms, and nothing connects to it")
    func lists() async throws {
        try await withListeners { port, connections in
            let urls = Self.places.map { $0.replacing("PORT", with: "\(port)") }
            for (url, fetch) in zip(urls, try await HostileFetch.run(urls, allow: [])) {
                #expect(Self.refusals.contains(fetch.code), "\(url.debugDescription): \(fetch.outcome)")
                #expect(fetch.isTidy)
            }
            #expect(connections() == 0)
        }
    }

    @Test("nothing connects to an address of this machine because a server redirects there, in each of its forms")
    func redirects() async throws {
        try await withListeners { port, connections in
            let locations = Self.places.map { $0.replacing("PORT", with: "\(port)") }
            try await RawOrigin.run(host: "127.0.0.2") { request in
                guard let index = Int(request.target.dropFirst()) else {
                    return [.send("HTTP/1.1 404 x\r\nContent-Length: 0\r\n\r\n")]
                }
                return [.send("HTTP/1.1 302 x\r\nLocation: \(locations[index])\r\nContent-Length: 0\r\n\r\n")]
            } _: { origin in
                let urls = locations.indices.map { "\(origin.baseURL)/\($0)" }
                let fetches = try await HostileFetch.run(urls, allow: ["127.0.0.2"])
                // Some are paths of the server that redirects, and some no header field.
                let codes = Self.refusals.union(["http-404", "protocol"])
                for (location, fetch) in zip(locations, fetches) {
                    #expect(codes.contains(fetch.code), "\(location.debugDescription): \(fetch.outcome)")
                    #expect(fetch.isTidy)
                }
                #expect(fetches.count { $0.code == "address-refused" } >= 20)
                #expect(origin.requests.count(of: "/0") == 1)
            }
            #expect(connections() == 0)
        }
    }

    @Test("the listeners do count, and an address is reached once it is allowed")
    func allowed() async throws {
        try await withListeners { port, connections in
            let fetches = try await HostileFetch.run(["http://127.0.0.1:\(port)/", "http://127.0.0.1:\(port)/2"])
            #expect(fetches.map(\.code) == ["connection-closed", "connection-closed"])
            #expect(connections() == 2)
        }
    }

    /// Runs listeners on the same port of 127.0.0.1 and, where it is to be had, of ::1.
    private func withListeners(_ body: (_ port: Int, _ connections: () -> Int) async throws -> Void) async throws {
        let script: @Sendable (RawOrigin.Request) -> [RawOrigin.Step] = { _ in [.close] }
        try await RawOrigin.run(script) { four in
            do {
                try await RawOrigin.run(host: "::1", port: four.port, script) { six in
                    try await body(four.port) { four.connections.total + six.connections.total }
                }
            } catch let error as IOError where [EADDRNOTAVAIL, EAFNOSUPPORT, EADDRINUSE].contains(error.errnoCode) {
                try await body(four.port) { four.connections.total }
            }
        }
    }
}
