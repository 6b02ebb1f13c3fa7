// SPDX-License-Identifier: Apache-2.0
import LocalHTTP
import NIOCore
import NIOHTTP1
import SyncPlan
import SystemPackage
import TestSupport
import Testing

@testable import AgentServer
@testable import SyncAgent

@Suite("The listener for metrics", .timeLimit(.minutes(1)))
struct MetricsListenerTests {
    private struct Answer {
        var status: UInt
        var headers: HTTPHeaders
        var text: String
    }

    /// Runs the body with the port of a listener of an agent.
    private static func with(
        time: TimeAmount = .seconds(10), _ body: @escaping @Sendable (Int) async throws -> Void
    ) async throws {
        try await ControlWorld.with { world in
            let address = try #require(ListenAddress("127.0.0.1:0"))
            let agent = world.agent
            let channel = try await MetricsListener(agent, time: time).listen(at: address)
            try await body(try #require(channel.localAddress?.port))
            try await channel.close()
        }
    }

    private static func ask(
        _ method: HTTPMethod, _ target: String, _ fields: [(String, String)] = [], at port: Int
    ) async throws -> Answer {
        try await LocalConnection.open(to: .port(port)) { connection in
            let head = try await connection.ask(method, target, fields: fields)
            let bytes = try await connection.rest(upTo: 1 << 20)
            return Answer(
                status: head.status.code, headers: head.headers, text: String(decoding: bytes, as: UTF8.self))
        }
    }

    @Test("answers with the metrics, and with their head alone")
    func metrics() async throws {
        try await Self.with { port in
            let answer = try await Self.ask(.GET, "/metrics", at: port)
            #expect(answer.status == 200)
            #expect(answer.headers.first(name: "content-type") == "text/plain; version=0.0.4; charset=utf-8")
            #expect(answer.text.contains("\nsyncagent_up 1\n") && answer.text.hasSuffix("\n"))
            let head = try await Self.ask(.HEAD, "/metrics?a=b", at: port)
            #expect(head.status == 200 && head.text.isEmpty)
            #expect(Int(head.headers.first(name: "content-length") ?? "") ?? 0 > 1000)
        }
    }

    @Test(
        "refuses everything else",
        arguments: [
            (.GET, "/", 404), (.GET, "/v1/status", 404), (.GET, "/metrics/", 404), (.POST, "/metrics", 405),
            (.DELETE, "/metrics", 405),
        ] as [(HTTPMethod, String, UInt)])
    func refusals(method: HTTPMethod, target: String, status: UInt) async throws {
        try await Self.with { port in
            let answer = try await Self.ask(method, target, at: port)
            #expect(answer.status == status && !answer.text.contains("syncagent_"))
            #expect((answer.headers.first(name: "allow") == "GET, HEAD") == (status == 405))
        }
    }

    @Test(
        "a name that is not of this machine is refused: a page may have it stand for 127.0.0.1",
        arguments: [
            ("127.0.0.1", true), ("127.0.0.1:9469", true), ("[::1]:9469", true), ("localhost:9469", true),
            ("LOCALHOST", true), ("evil.example", false), ("evil.example:9469", false),
            ("127.0.0.1.evil.example", false),
            ("", false), ("localhost.evil.example", false),
        ])
    func hosts(host: String, isAnswered: Bool) {
        let head = HTTPRequestHead(version: .http1_1, method: .GET, uri: "/metrics", headers: ["host": host])
        #expect((MetricsRequest.refusal(of: head) == nil) == isAnswered)
    }

    @Test("more clients than there may be are closed at once, and the others are answered")
    func clients() async throws {
        try await Self.with { port in
            /// Opens connections, asks over each once all are open, and counts the answers.
            func answers(over rest: Int) async throws -> Int {
                guard rest > 0 else { return 0 }
                return try await LocalConnection.open(to: .port(port)) { connection in
                    let others = try await answers(over: rest - 1)
                    let status = try? await connection.ask(.GET, "/metrics").status
                    return others + (status == .ok ? 1 : 0)
                }
            }
            // Which one is closed depends on the thread that accepts it.
            #expect(try await answers(over: MetricsListener.clients + 1) == MetricsListener.clients)
            try await waitUntil { (try? await Self.ask(.GET, "/metrics", at: port))?.status == 200 }
        }
    }

    @Test("a client that sends nothing is closed in time")
    func silence() async throws {
        try await Self.with(time: .milliseconds(100)) { port in
            try await LocalConnection.open(to: .port(port)) { connection in
                let error = await #expect(throws: LocalConnection.Failure.self) { try await connection.next() }
                #expect(error == .closed)
            }
        }
    }

    @Test("an address that is taken is told, and is no error of the agent")
    func taken() async throws {
        try await Self.with { port in
            try await ControlWorld.with { world in
                let agent = world.agent
                let log = RecordedLog()
                await MetricsListener.run(at: ListenAddress("127.0.0.1:\(port)"), agent: agent, logger: log.logger)
                #expect(log.messages == ["cannot listen for metrics: no metrics over HTTP until the next start"])
            }
        }
    }

    @Test("the control socket has the same metrics")
    func route() async throws {
        try await ControlWorld.with { world in
            let text = try await LocalConnection.open(to: .socket(world.socket.string)) { connection in
                let head = try await connection.ask(.GET, "/v1/metrics")
                #expect(head.headers.first(name: "content-type") == MetricsText.mediaType)
                return String(decoding: try await connection.rest(upTo: 1 << 20), as: UTF8.self)
            }
            #expect(text.contains("\nsyncagent_up 1\n"))
            let again = try await world.client.status()
            #expect(again != nil)
            let counted = try await LocalConnection.open(to: .socket(world.socket.string)) { connection in
                _ = try await connection.ask(.GET, "/v1/metrics")
                return String(decoding: try await connection.rest(upTo: 1 << 20), as: UTF8.self)
            }
            let prefix = "syncagent_control_requests_total{method=\"get\",status=\"2xx\"} "
            let count = counted.split(separator: "\n").first { $0.hasPrefix(prefix) }?.dropFirst(prefix.count)
            #expect((count.flatMap { Int($0) } ?? 0) >= 2)
        }
    }
}
