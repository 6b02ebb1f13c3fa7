// SPDX-License-Identifier: Apache-2.0
import AgentSettings
import AppLists
import CacheFormat
import DemoOrigin
import HTTPRules
import ImageChecks
import SyncPlan
import TestSupport
import Testing

@testable import SyncAgent

@Suite("Downloads from a misbehaving origin")
struct MisbehavingOriginTests {
    private static let icon = MisbehavingReply.icon
    private static let good = MisbehavingReply("", "image", "Content-Length: \(icon.count)").steps.dropLast()

    @Test(
        "a misbehaving answer ends its download with the right code, and leaves nothing behind",
        arguments: MisbehavingReply.all)
    func reply(_ reply: MisbehavingReply) async throws {
        try await RawOrigin.run { request in
            switch request.target {
            case "/": return reply.steps
            case "/icon": return Array(Self.good)
            case "/circle": return [.send("HTTP/1.1 307 x\r\nLocation: /\r\nContent-Length: 0\r\n\r\n")]
            default:
                let next = (Int(request.target.dropFirst()) ?? 0) + 1
                return [.send("HTTP/1.1 308 x\r\nLocation: /\(next)\r\nContent-Length: 0\r\n\r\n")]
            }
        } _: { origin in
            let fetches = try await HostileFetch.run([origin.baseURL + "/"])
            let fetch = try #require(fetches.first)
            #expect(fetch.code == reply.code, "\(fetch.outcome)")
            #expect(fetch.isTidy)
            #expect(origin.requests.count(of: "/") == 1)
            #expect(origin.requests.total <= 11)
        }
    }

    @Test("a broken connection is a transient failure, a malformed answer a permanent one")
    func persistence() async throws {
        for (name, persistence) in [("close", FetchFailure.Persistence.passing), ("nonsense", .lasting)] {
            let cut: [RawOrigin.Step] = [.send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nx"), .close]
            try await RawOrigin.run { _ in
                name == "close" ? cut : [.send("nonsense\r\n\r\n"), .close]
            } _: { origin in
                let fetches = try await HostileFetch.run([origin.baseURL])
                guard case .failed(let failure)? = fetches.first?.outcome else {
                    Issue.record("there was an image")
                    return
                }
                #expect(failure.persistence == persistence)
            }
        }
    }

    @Test(
        "a truncated image is a transient failure only if the connection could have cut it off",
        arguments: [
            (["HTTP/1.1 200 OK", "Content-Length: \(icon.count - 8)"], .lasting), (["HTTP/1.1 200 OK"], .passing),
            (["HTTP/1.0 200 OK"], .passing), (["HTTP/1.0 200 OK", "Content-Length: \(icon.count - 8)"], .lasting),
        ] as [([String], FetchFailure.Persistence)])
    func truncation(lines: [String], persistence: FetchFailure.Persistence) async throws {
        let head = lines.map { $0 + "\r\n" }.joined() + "\r\n"
        let steps: [RawOrigin.Step] = [.send(Array(head.utf8) + Self.icon.dropLast(8)), .close]
        try await RawOrigin.run { _ in
            steps
        } _: { origin in
            let fetches = try await HostileFetch.run([origin.baseURL])
            guard case .failed(let failure)? = fetches.first?.outcome else {
                Issue.record("there was an image")
                return
            }
            #expect(failure.code == .image(.truncated) && failure.persistence == persistence)
        }
    }

    // MARK: Too much

    @Test(
        "an answer is given up when it is twice as long as it may be",
        arguments: [
            (
                "Transfer-Encoding: chunked\r\n\r\n", MisbehavingReply.chunk(Array(repeating: 1, count: 4096)),
                "too-large"
            ),
            ("\r\n", Array(repeating: 1, count: 4096), "too-large"),
            ("Transfer-Encoding: chunked\r\n\r\n", Array("1\r\nx\r\n".utf8), "too-large"),
            ("Transfer-Encoding: chunked\r\n\r\n1;", Array(repeating: 0x61, count: 4096), "protocol"),
            ("Transfer-Encoding: chunked\r\n\r\n0\r\n", Array("X: x\r\n".utf8), "protocol"),
            ("", Array("X: x\r\n".utf8), "protocol"), ("X: ", Array(repeating: 0x61, count: 4096), "protocol"),
            ("", Array(repeating: 0x61, count: 4096), "protocol"),
            ("Content-Length: 0\r\n\r\n", Array(repeating: 1, count: 4096), "not-an-image"),
        ] as [(String, [UInt8], String)])
    func tooMuch(head: String, bytes: [UInt8], code: String) async throws {
        try await giveUp(RawOrigin.Step.tooMany(bytes, after: Array("HTTP/1.1 200 OK\r\n\(head)".utf8)), code)
    }

    @Test(
        "a head is given up when it is twice as long as it may be",
        arguments: [
            ("", "HTTP/1.1 103 x\r\n\r\n"), ("HTTP/1.1 200 ", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"), ("", "\r\n"),
        ])
    func tooMuchHead(start: String, bytes: String) async throws {
        try await giveUp(RawOrigin.Step.tooMany(Array(bytes.utf8), after: Array(start.utf8)), "protocol")
    }

    private func giveUp(_ steps: [RawOrigin.Step], _ code: String) async throws {
        try await RawOrigin.run { _ in
            steps
        } _: { origin in
            let fetches = try await HostileFetch.run([origin.baseURL + "/"]) { $0.fetch.maxBytes = ByteCount(100_000) }
            let fetch = try #require(fetches.first)
            #expect(fetch.code == code, "\(fetch.outcome)")
            #expect(fetch.isTidy)
            try await origin.closedConnections.reach(1)
        }
    }

    // MARK: Slowness

    @Test(
        "a download from a silent server ends at the idle limit",
        arguments: [
            [], [.send("HTTP/1.1 200 OK\r\nContent-")], [.send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n")],
            [.send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n1234")], [.send("HTTP/1.1 100 x\r\n\r\n")],
        ] as [[RawOrigin.Step]])
    func silent(steps: [RawOrigin.Step]) async throws {
        try await RawOrigin.run { _ in
            steps
        } _: { origin in
            let fetches = try await HostileFetch.run([origin.baseURL]) { $0.fetch.idleTimeout = .milliseconds(200) }
            #expect(fetches.first?.code == "timeout")
            #expect(fetches.first?.isTidy == true)
        }
    }

    @Test(
        "a download that gets a byte now and then ends at the limit on its whole time",
        arguments: [
            ("", "HTTP/1.1 200 OK\r\n\r\n"), ("HTTP/1.1 200 OK\r\n\r\n", "0123456789"),
            ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "1\r\nx\r\n1\r\nx\r\n"),
        ])
    func slow(start: String, rest: String) async throws {
        try await RawOrigin.run { _ in
            [.send(start), .sendSlowly(Array(rest.utf8), pause: .milliseconds(100))]
        } _: { origin in
            let fetches = try await HostileFetch.run([origin.baseURL]) { $0.fetch.totalTimeout = .milliseconds(350) }
            #expect(fetches.first?.code == "timeout")
            #expect(fetches.first?.isTidy == true)
        }
    }

    // MARK: Connections that are kept alive

    @Test(
        "a kept-alive connection that ends before the first byte costs one more request, and no failure",
        arguments: [
            RawOrigin.Step.close, .reset,
        ])
    func stale(end: RawOrigin.Step) async throws {
        try await RawOrigin.run { request in
            request.connection == 1 && request.target == "/2" ? [end] : Array(Self.good)
        } _: { origin in
            let fetches = try await HostileFetch.run([origin.baseURL + "/1", origin.baseURL + "/2"])
            #expect(fetches.map(\.code) == ["image", "image"])
            #expect(origin.requests.count(of: "/1") == 1)
            #expect(origin.requests.count(of: "/2") == 2)
            #expect(origin.connections.total == 2)
        }
    }

    @Test("a kept-alive connection that ends within an answer is a failure, and so is a new one that ends before")
    func notStale() async throws {
        try await RawOrigin.run { request in
            switch request.target {
            case "/1": Array(Self.good)
            // libcurl counts lines: after less than one, nothing has come.
            case "/2": [.send("HTTP/1.1 200 OK\r\n"), .close]
            default: [.close]
            }
        } _: { origin in
            let fetches = try await HostileFetch.run(["/1", "/2", "/3"].map { origin.baseURL + $0 })
            #expect(fetches.map(\.code) == ["image", "connection-closed", "connection-closed"])
            #expect(origin.requests.total == 3)
        }
    }

    @Test("HTTP/1.0 keeps a connection alive only if it says so", arguments: [("keep-alive", 1), ("close", 2)])
    func oldKeepAlive(connection: String, count: Int) async throws {
        let head = "HTTP/1.0 200 OK\r\nConnection: \(connection)\r\nContent-Length: \(Self.icon.count)\r\n\r\n"
        try await RawOrigin.run { _ in
            [.send(Array(head.utf8) + Self.icon)]
        } _: { origin in
            let fetches = try await HostileFetch.run([origin.baseURL + "/1", origin.baseURL + "/2"])
            #expect(fetches.map(\.code) == ["image", "image"])
            #expect(origin.connections.total == count)
        }
    }

    @Test("bytes behind an answer are not taken for the next answer")
    func splitting() async throws {
        let other = IconDrawing("Other").png()
        @Sendable func answer(_ body: [UInt8]) -> [UInt8] {
            Array("HTTP/1.1 200 OK\r\nContent-Length: \(body.count)\r\n\r\n".utf8) + body
        }
        let gate = Gate()
        try await RawOrigin.run { request in
            request.target == "/evil"
                ? [.wait(gate), .send(answer(Self.icon) + answer(other))] : [.send(answer(Self.icon))]
        } _: { origin in
            var settings = Settings()
            settings.network.allow = [try #require(AddressRange("127.0.0.1"))]
            settings.fetch.perHost = 1
            try await Wire.run(settings) { transport in
                try await withThrowingTaskGroup(of: [UInt8].self) { group in
                    for path in ["/evil", "/1", "/2", "/3"] {
                        let url = origin.baseURL + path
                        group.addTask { try await transport.answer(from: url).body }
                        if path == "/evil" { try await origin.requests.reach(1, of: path) }
                    }
                    gate.open()
                    for try await body in group { #expect(body == Self.icon) }
                }
            }
        }
    }

    @Test("a 304 with a Location is accepted if the request was conditional")
    func notModified() async throws {
        try await RawOrigin.run { _ in
            [.send("HTTP/1.1 304 x\r\nLocation: /elsewhere\r\nContent-Length: 5\r\n\r\n")]
        } _: { origin in
            let fetches = try await HostileFetch.run([origin.baseURL], validators: Validators(etag: "\"1\""))
            #expect(fetches.first?.code == "not-modified")
            #expect(origin.requests.total == 1)
        }
    }
}

extension RawOrigin.Step {
    /// Sends a mebibyte of the bytes: besides bodies, half of it may arrive.
    ///
    /// Some more come slowly, since the client measures now and then.
    static func tooMany(_ bytes: [UInt8], after start: [UInt8]) -> [RawOrigin.Step] {
        let many = Array(repeatElement(bytes, count: (1 << 20) / bytes.count).joined())
        return [.send(start + many), .sendSlowly(Array(many.prefix(100)), pause: .milliseconds(20))]
    }
}
