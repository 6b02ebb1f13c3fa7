// SPDX-License-Identifier: Apache-2.0
import Glibc
import LocalHTTP
import NIOCore
import NIOHTTP1
import TestSupport
import Testing

@Suite("The raw origin")
struct RawOriginTests {
    private static let ok = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

    @Test("the raw origin sends what the script says, request after request on one connection, and counts both")
    func keepAlive() async throws {
        try await RawOrigin.run { request in
            let body = "\(request.number) of \(request.target) on \(request.connection)"
            return [.send("HTTP/1.1 200 OK\r\nContent-Length: \(body.utf8.count)\r\n\r\n"), .send(body)]
        } _: { origin in
            try await LocalConnection.open(to: .port(origin.port)) { connection in
                for (target, body) in [("/a?b", "1 of /a?b on 1"), ("/a?b", "2 of /a?b on 1"), ("/c", "1 of /c on 1")] {
                    let head = try await connection.ask(.GET, target)
                    let answer = try await connection.rest(upTo: 1000)
                    #expect(head.status == .ok && answer == Array(body.utf8))
                }
            }
            #expect(origin.connections.total == 1)
            #expect(origin.requests.total == 3)
            #expect(origin.requests.count(of: "/a?b") == 2)
        }
    }

    @Test("the raw origin shows the head as it was sent")
    func head() async throws {
        let heads = Tally()
        try await RawOrigin.run { request in
            heads.add(request.head)
            return [.send(Self.ok), .close]
        } _: { origin in
            _ = try await Exchange.with(origin.baseURL + "/x", headers: [("If-None-Match", "\"1\"")])
            let host = "127.0.0.1:\(origin.port)"
            #expect(heads.count(of: "GET /x HTTP/1.1\r\nhost: \(host)\r\nIf-None-Match: \"1\"\r\n\r\n") == 1)
        }
    }

    @Test("the raw origin waits at a gate in the middle of an answer")
    func gate() async throws {
        let gate = Gate()
        try await RawOrigin.run { _ in
            [.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\no"), .wait(gate), .send("k")]
        } _: { origin in
            try await LocalConnection.open(to: .port(origin.port)) { connection in
                _ = try await connection.ask(.GET, "/")
                let first = try await connection.next()
                gate.open()
                let rest = try await connection.rest(upTo: 10)
                #expect(first == ByteBuffer(string: "o") && rest == Array("k".utf8))
            }
        }
    }

    @Test("the raw origin cuts an answer off, in order or by a reset", arguments: [RawOrigin.Step.close, .reset])
    func cut(end: RawOrigin.Step) async throws {
        try await RawOrigin.run { _ in
            [.send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nonly this"), end]
        } _: { origin in
            let failure = await #expect(throws: (any Error).self) { try await Exchange.with(origin.baseURL) }
            if case .reset = end {
                #expect((failure as? IOError)?.errnoCode == ECONNRESET)
            } else {
                #expect(failure as? HTTPParserError == .invalidEOFState)
            }
            try await origin.closedConnections.reach(1)
        }
    }

    @Test(
        "the raw origin closes every connection at the end of its scope",
        arguments: [
            [], [.wait(Gate())], [.send([UInt8](repeating: 0, count: 32 << 20))],
        ] as [[RawOrigin.Step]])
    func scope(steps: [RawOrigin.Step]) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            try await RawOrigin.run { _ in
                steps
            } _: { origin in
                let url = origin.baseURL
                group.addTask {
                    await #expect(throws: (any Error).self) { try await Exchange.with(url) }
                }
                try await origin.requests.reach(1)
            }
            try await group.waitForAll()
        }
    }
}
