// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import Glibc
import NIOCore
import Reports
import SyncPlan
import SystemPackage
import TestSupport
import Testing

@testable import AgentServer
@testable import SyncAgent

@Suite("The control client", .timeLimit(.minutes(5)))
struct ControlClientTests {
    private static func answer(_ status: String = "200 OK", _ body: String) -> String {
        "HTTP/1.1 \(status)\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
    }

    private static let status = StatusReport(state: .running).json.line

    /// Runs the body with the path of a socket.
    private static func withPath(_ body: (FilePath) async throws -> Void) async throws {
        try await withTemporaryFolder { try await body($0.appending("control.sock")) }
    }

    @Test("a client finds no agent where there is no socket, or a dead one, or the path is too long")
    func nobody() async throws {
        try await Self.withPath { path in
            let client = ControlClient(socket: path)
            #expect(client.obstacle == .noSuchFileOrDirectory)
            try #require(mkfifo(path.string, 0o600) == 0)
            #expect(client.obstacle == .connectionRefused)
            try #require(unlink(path.string) == 0)
            #expect(try await client.status() == nil)
            try #require(mknod(path.string, S_IFSOCK | 0o600, 0) == 0)
            #expect(client.obstacle == .connectionRefused)
            #expect(try await client.pause() == nil)
            let long = ControlClient(socket: path.appending(String(repeating: "a", count: 108)))
            #expect(long.obstacle == .fileNameTooLong)
            #expect(try await long.sync() == nil)
        }
    }

    @Test("each question has its method, route and body")
    func requests() async throws {
        try await Self.withPath { path in
            try await ScriptedSocket.with(Self.answer("404 Not Found", ""), at: path) { server in
                let client = ControlClient(socket: path)
                func ask(_ question: () async throws -> Void) async { try? await question() }
                await ask { _ = try await client.status() }
                await ask { _ = try await client.status { _ in true } }
                await ask { _ = try await client.pause() }
                await ask { _ = try await client.resume() }
                await ask { _ = try await client.evictionReport() }
                await ask { _ = try await client.evict(isConfirmed: true) }
                await ask { _ = try await client.sync() }
                let lines = server.requests.map { String($0.prefix { $0 != "\r\n" }) }
                #expect(
                    lines == [
                        "GET /v1/status HTTP/1.1", "GET /v1/status/stream HTTP/1.1", "POST /v1/pause HTTP/1.1",
                        "POST /v1/resume HTTP/1.1", "GET /v1/eviction HTTP/1.1", "POST /v1/evict HTTP/1.1",
                        "POST /v1/sync HTTP/1.1",
                    ])
            }
        }
    }

    @Test("an error for a refusal has the agent's reason, or suggests another version")
    func refusals() async throws {
        try await Self.withPath { path in
            let body = "{ \"error\": { \"code\": \"bad-request\", \"message\": \"The URL is not UTF-8.\" } }"
            try await ScriptedSocket.with(Self.answer("400 Bad Request", body), at: path) { _ in
                let error = await #expect(throws: ControlClient.Unexpected.self) {
                    try await ControlClient(socket: path).status()
                }
                #expect(error?.description == "The agent refused the request: The URL is not UTF-8.")
                #expect(error?.code == "bad-request" && error?.status == 400)
            }
        }
        try await Self.withPath { path in
            try await ScriptedSocket.with(Self.answer("404 Not Found", "<html>"), at: path) { _ in
                let client = ControlClient(socket: path)
                let error = await #expect(throws: ControlClient.Unexpected.self) { try await client.status() }
                #expect(error?.reason == nil && error?.description.contains("another version") == true)
                let report = try await client.report(on: "https://h.example/a.png")
                #expect(report == .some(nil))
            }
        }
    }

    @Test("a client takes an agent that is about to end for gone")
    func ending() async throws {
        try await Self.withPath { path in
            try await ScriptedSocket.with(Self.answer("503 Service Unavailable", ""), at: path) { _ in
                let report = try await ControlClient(socket: path).status()
                #expect(report == nil)
            }
        }
    }

    @Test(
        "a cut or missing answer is an error while the socket is listened to; else there is no agent",
        arguments: [
            "", "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{ \"format\"", "HTTP/1.1 200 OK\r\nContent-",
            "nonsense\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}",
        ], [false, true])
    func damage(answer: String, endsWithAnswer: Bool) async throws {
        try await Self.withPath { path in
            try await ScriptedSocket.with(answer, at: path, endsWithAnswer: endsWithAnswer) { _ in
                let client = ControlClient(socket: path)
                if endsWithAnswer {
                    let report = try await client.status()
                    #expect(report == nil)
                } else {
                    await #expect(throws: (any Error).self) { try await client.status() }
                }
            }
        }
    }

    @Test("an answer of more than 64 MiB is given up")
    func endless() async throws {
        try await Self.withPath { path in
            let head = "HTTP/1.1 200 OK\r\nContent-Length: \(65 << 20)\r\n\r\n"
            try await ScriptedSocket.with(head, String(repeating: " ", count: 65 << 20), at: path) { _ in
                await #expect(throws: NIOTooManyBytesError.self) { try await ControlClient(socket: path).status() }
            }
        }
    }

    @Test("the last whole document of a broken stream counts if the agent is gone", arguments: [false, true])
    func stream(isAgentGone: Bool) async throws {
        try await Self.withPath { path in
            let paused = StatusReport(state: .paused).json.line
            func chunk(_ text: String) -> String { "\(String(text.utf8.count, radix: 16))\r\n\(text)\r\n" }
            try await ScriptedSocket.with(
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + chunk(String(Self.status.prefix(20))),
                chunk(Self.status.dropFirst(20) + "\n" + paused + "\n"), chunk("{ \"format\": 1, "), at: path,
                endsWithAnswer: isAgentGone
            ) { _ in
                let client = ControlClient(socket: path)
                var states: [StatusReport.State] = []
                if isAgentGone {
                    let last = try await client.status {
                        states.append($0.state)
                        return false
                    }
                    #expect(last?.state == .paused)
                } else {
                    await #expect(throws: (any Error).self) {
                        try await client.status {
                            states.append($0.state)
                            return false
                        }
                    }
                }
                #expect(states == [.running, .paused])
            }
        }
    }
}
