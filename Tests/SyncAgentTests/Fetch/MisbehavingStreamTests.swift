// SPDX-License-Identifier: Apache-2.0
import AgentSettings
import CacheFormat
import HTTPRules
import SyncPlan
import TestSupport
import Testing

@testable import SyncAgent

@Suite("Downloads over HTTP/2 from a misbehaving origin", .hasIdentity)
struct MisbehavingStreamTests {
    @Test(
        "a misbehaving HTTP/2 answer ends its download with the right code, and does not affect the next one",
        arguments: MisbehavingStream.statuses + MisbehavingStream.heads + MisbehavingStream.bodies
            + MisbehavingStream.ends + MisbehavingStream.connections)
    func stream(_ reply: MisbehavingStream) async throws {
        if reply.code == "timeout" {
            // On a busy machine, the request may not even be sent within a short limit.
            try await withGrowingTime(from: .milliseconds(250)) { try await download(reply, idleTimeouts: [0: $0]) }
        } else {
            let isRequested = try await download(reply)
            #expect(isRequested)
        }
    }

    /// Downloads the reply, and another image.
    ///
    /// - Returns: Whether the request for the reply came to the origin.
    private func download(_ reply: MisbehavingStream, idleTimeouts: [Int: Duration] = [:]) async throws -> Bool {
        var isRequested = false
        let icon = MisbehavingStream.icon
        let text = "HTTP/1.1 200 OK\r\nContent-Length: \(icon.count)\r\n\r\n"
        try await RawOrigin.runSecure(protocols: ["h2", "http/1.1"]) { request in
            switch (request.target, request.stream) {
            case ("*", _): [.send(Frame.settings())]
            case ("/", _): reply.steps(request)
            // An origin with which HTTP/2 has come to nothing is asked by HTTP/1.
            case (_, 0): [.send(Array(text.utf8) + icon)]
            default: [.send(MisbehavingStream.good(request.stream))]
            }
        } _: { origin, trust in
            let fetches = try await HostileFetch.run(
                [origin.baseURL + "/", origin.baseURL + "/next"], idleTimeouts: idleTimeouts, change: trust)
            isRequested = origin.requests.count(of: "/") > 0
            #expect(Self.codes(reply.code).contains(fetches.first?.code), "\(fetches.map(\.outcome))")
            #expect(fetches.last?.code == "image")
            #expect(fetches.allSatisfy { $0.isTidy })
            #expect(origin.requests.count(of: "/") <= reply.requests)
            // Each request and the next one have a connection at most.
            #expect(origin.connections.total <= reply.requests + 1)
        }
        return isRequested
    }

    /// libcurl tells a stream that the server ends from one that nghttp2 ends for it by text alone.
    private static func codes(_ code: String) -> Set<String?> {
        code == "protocol" ? ["protocol", "connection-closed"] : [code]
    }

    @Test(
        "a reset without error is no end of an image that can be cut off",
        arguments: [MisbehavingReply.endless, MisbehavingStream.icon.dropLast(8)] as [[UInt8]])
    func cleanReset(body: [UInt8]) async throws {
        try await RawOrigin.runSecure { request in
            if request.target == "*" { return [.send(Frame.settings())] }
            let (id, start) = (request.stream, MisbehavingStream.head(request.stream))
            // libcurl drops what came together with the reset.
            return [
                .send(start + Frame.data(id, body, end: false)),
                .sendSlowly(Frame.reset(id, 0), pause: .milliseconds(10)),
            ]
        } _: { origin, trust in
            let fetch = try #require(try await HostileFetch.run([origin.baseURL], change: trust).first)
            guard case .failed(let failure) = fetch.outcome else {
                Issue.record("\(fetch.outcome)")
                return
            }
            #expect(["image-truncated", "connection-closed"].contains(failure.code.rawValue))
            #expect(failure.persistence == .passing && fetch.isTidy)
        }
    }

    // MARK: Too much

    @Test(
        "an HTTP/2 answer is given up when it is twice as long as it may be",
        arguments: [
            (
                "a body", "too-large", MisbehavingStream.head(1),
                Frame.data(1, Array(repeating: 1, count: 4096), end: false)
            ),
            ("padding", "protocol", MisbehavingStream.head(1), padding), ("pings", "protocol", [], Frame.ping()),
            ("settings", "protocol", [], Frame.settings()), ("nothing", "protocol", MisbehavingStream.head(1), nothing),
            ("unknown frames", "protocol", [], Frame.bytes(type: 99, Array(repeating: 0, count: 100))),
            ("windows", "protocol", [], Frame.bytes(type: 8, stream: 1, [0, 0, 0, 1])),
            ("interim answers", "protocol", [], Frame.headers(1, [":status": "103"])),
            (
                "fields", "protocol", Frame.bytes(type: 1, stream: 1, [0x88]),
                Frame.bytes(type: 9, stream: 1, [0, 1, 65, 0])
            ),
            ("resets", "protocol", [], Frame.reset(1, 2)),
        ] as [(String, String, [UInt8], [UInt8])])
    func tooMuch(name: String, code: String, start: [UInt8], bytes: [UInt8]) async throws {
        try await RawOrigin.runSecure { request in
            request.target == "*" ? [.send(Frame.settings())] : RawOrigin.Step.tooMany(bytes, after: start)
        } _: { origin, trust in
            let fetches = try await HostileFetch.run([origin.baseURL]) {
                trust(&$0)
                $0.fetch.maxBytes = ByteCount(100_000)
            }
            let fetch = try #require(fetches.first)
            #expect(Self.codes(code).contains(fetch.code), "\(fetch.outcome)")
            #expect(fetch.isTidy)
            try await origin.closedConnections.reach(1)
        }
    }

    private static let padding = Frame.bytes(type: 0, flags: 8, stream: 1, [254, 1] + Array(repeating: 0, count: 254))
    private static let nothing = Frame.data(1, [], end: false)
}
