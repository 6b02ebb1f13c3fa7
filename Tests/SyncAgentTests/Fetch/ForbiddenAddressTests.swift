// SPDX-License-Identifier: Apache-2.0
import DemoOrigin
import Glibc
import NIOCore
import SyncPlan
import TestSupport
import Testing

@testable import SyncAgent

@Suite("Addresses that must not be asked")
struct ForbiddenAddressTests {
    /// Ways to write an address of this machine, with PORT for the port that something listens on.
    private static let spellings = [
        // Plainly.
        "http://127.0.0.1:PORT/", "http://127.255.255.254:PORT/", "http://0.0.0.0:PORT/", "http://0:PORT/",
        "http://localhost:PORT/", "http://LOCALHOST:PORT/", "http://LocalHost.:PORT/", "http://a.localhost:PORT/",
        "http://127.0.0.1.:PORT/", "http://0x7f000001.:PORT/", "http://127.1.:PORT/",
        // In other numbers.
        "http://127.1:PORT/", "http://127.0.1:PORT/", "http://2130706433:PORT/", "http://0x7f000001:PORT/",
        "http://0X7F000001:PORT/", "http://0x7f.1:PORT/", "http://0x7F.0.0.0x1:PORT/", "http://0177.0.0.1:PORT/",
        "http://017700000001:PORT/", "http://0177.0x0.1:PORT/", "http://127.0.0.01:PORT/",
        "http://127.000.000.001:PORT/",
        "http://00000177.1:PORT/", "http://6425673729:PORT/",
        // In other characters.
        "http://①②⑦.⓪.⓪.①:PORT/", "http://１２７.０.０.１:PORT/", "http://127。0。0。1:PORT/", "http://127．0．0．1:PORT/",
        "http://127｡0｡0｡1:PORT/", "http://ⓛⓞⓒⓐⓛⓗⓞⓢⓣ:PORT/", "http://ｌｏｃａｌｈｏｓｔ:PORT/", "http://loc\u{AD}alhost:PORT/",
        "http://%31%32%37.0.0.1:PORT/", "http://127%2e0%2e0%2e1:PORT/", "http://%6c%6f%63%61%6c%68%6f%73%74:PORT/",
        "http://%E2%91%A0%E2%91%A1%E2%91%A6.1:PORT/", "http://xn--127-.0.0.1:PORT/",
        // As IPv6.
        "http://[::1]:PORT/", "http://[0:0:0:0:0:0:0:1]:PORT/", "http://[0000::0001]:PORT/", "http://[::]:PORT/",
        "http://[::ffff:127.0.0.1]:PORT/", "http://[::ffff:7f00:1]:PORT/", "http://[::FFFF:7F00:0001]:PORT/",
        "http://[0:0:0:0:0:ffff:127.0.0.1]:PORT/", "http://[::127.0.0.1]:PORT/", "http://[::7f00:1]:PORT/",
        "http://[::ffff:0.0.0.0]:PORT/", "http://[::ffff:0:127.0.0.1]:PORT/", "http://[64:ff9b::7f00:1]:PORT/",
        "http://[64:ff9b::127.0.0.1]:PORT/", "http://[64:ff9b:1::7f00:1]:PORT/", "http://[2002:7f00:1::]:PORT/",
        "http://[2001:0:0:0:0:0:80ff:fffe]:PORT/", "http://[::1%lo]:PORT/", "http://[::1%25lo]:PORT/",
        "http://[fe80::1%25lo]:PORT/", "http://[::1%251]:PORT/", "http://[%3a%3a1]:PORT/", "http://[::①]:PORT/",
        "http://::1:PORT/", "http://[127.0.0.1]:PORT/", "http://[v1.127.0.0.1]:PORT/", "http://[::1].:PORT/",
        // Behind a name.
        "http://icons.example@127.0.0.1:PORT/", "http://icons.example:80@127.0.0.1:PORT/", "http://@127.0.0.1:PORT/",
        "http://:@127.0.0.1:PORT/", "http://icons.example%00@127.0.0.1:PORT/", "http://192.0.2.1%20@127.0.0.1:PORT/",
        "http://192.0.2.1@192.0.2.2@127.0.0.1:PORT/", "http://192.0.2.1\\@127.0.0.1:PORT/",
        "http://127.0.0.1:PORT\\@192.0.2.1/",
        "http://127.0.0.1:PORT#@192.0.2.1/", "http://127.0.0.1:PORT?@192.0.2.1/", "http://127.0.0.1:PORT;@192.0.2.1/",
        // With something that some leave out.
        "http:127.0.0.1:PORT/", "http:/127.0.0.1:PORT/", "http:///127.0.0.1:PORT/", "http:////127.0.0.1:PORT/",
        "http:\\\\127.0.0.1:PORT\\", "http:/\\127.0.0.1:PORT/", "\\\\127.0.0.1:PORT\\", "//127.0.0.1:PORT/",
        "127.0.0.1:PORT/", " http://127.0.0.1:PORT/", "\thttp://127.0.0.1:PORT/", "http://\t127.0.0.1:PORT/",
        "http://127.0\t.0.1:PORT/", "http://127.0.0.1 :PORT/", "ht\ttp://127.0.0.1:PORT/", "http://127.0.0.1\0:PORT/",
        "http://127.0.0.1\u{200B}:PORT/", "HTTP://127.0.0.1:PORT/", "https://127.0.0.1:PORT/", "https://[::1]:PORT/",
        "ws://127.0.0.1:PORT/", "http+unix://127.0.0.1:PORT/", "ftp://127.0.0.1:PORT/", "gopher://127.0.0.1:PORT/_x",
        "http://127.0.0.1:0PORT/", "http://127.0.0.1:+PORT/", "http://127.0.0.1:PORT:80/",
        "http://127.0.0.1,192.0.2.1:PORT/",
    ]

    /// The codes of a refusal; `dns` is that of a number which is no address, and which no name server is asked for.
    private static let refusals: Set<String> = [
        "address-refused", "bad-url", "bad-redirect", "scheme-refused", "userinfo-refused", "host-refused",
        "port-refused", "dns",
    ]

    @Test("an address of this machine in a list is refused, however it is spelled, and nothing connects to it")
    func lists() async throws {
        try await withListeners { port, connections in
            let urls = Self.spellings.map { $0.replacing("PORT", with: "\(port)") }
            for (url, fetch) in zip(urls, try await HostileFetch.run(urls, allow: [])) {
                #expect(Self.refusals.contains(fetch.code), "\(url.debugDescription): \(fetch.outcome)")
                #expect(fetch.isTidy)
            }
            #expect(connections() == 0)
        }
    }

    @Test("nothing connects to an address of this machine because a server redirects there, however it is spelled")
    func redirects() async throws {
        try await withListeners { port, connections in
            let locations = Self.spellings.map { $0.replacing("PORT", with: "\(port)") }
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
                #expect(fetches.count { $0.code == "address-refused" } >= 25)
                #expect(origin.requests.count(of: "/0") == 1)
            }
            #expect(connections() == 0)
        }
    }

    @Test("the listeners do count, and spellings of an address are reached once it is allowed")
    func allowed() async throws {
        try await withListeners { port, connections in
            let hosts = ["127.0.0.1", "127.1", "2130706433", "0x7f.1", "0177.0.0.1"]
            let fetches = try await HostileFetch.run(hosts.map { "http://\($0):\(port)/" })
            #expect(fetches.map(\.code) == hosts.map { _ in "connection-closed" })
            #expect(connections() == hosts.count)
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
