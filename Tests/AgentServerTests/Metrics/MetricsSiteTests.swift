// SPDX-License-Identifier: Apache-2.0
import LocalHTTP
import NIOHTTP1
import Reports
import SyncPlan
import SystemPackage
import TestSupport
import Testing

@testable import AgentServer
@testable import SyncAgent

@Suite("The listener for metrics", .timeLimit(.minutes(5)))
struct MetricsSiteTests {
    /// Runs the body with the port of a listener of an agent.
    private static func with(_ body: @escaping @Sendable (Int) async throws -> Void) async throws {
        try await WebWorld.with { world in
            let site = MetricsSite(agent: world.agent)
            try await world.serving({ await site.respond(to: $0, on: $1) }, body)
        }
    }

    @Test("the listener for metrics answers GET with the metrics, and HEAD with their head alone")
    func metrics() async throws {
        try await Self.with { port in
            let answer = try await WebWorld.ask(port, "/metrics")
            #expect(answer.status == 200)
            #expect(answer.fields["content-type"] == "text/plain; version=0.0.4; charset=utf-8")
            #expect(answer.text.contains("\nsyncagent_up 1\n") && answer.text.hasSuffix("\n"))
            let head = try await WebWorld.ask(port, .HEAD, "/metrics?a=b")
            #expect(head.status == 200 && head.text.isEmpty)
            #expect(Int(head.fields["content-length"] ?? "") ?? 0 > 1000)
        }
    }

    @Test("the listener for metrics refuses other paths and methods")
    func refusals() async throws {
        try await Self.with { port in
            for (method, target, status) in [
                (.GET, "/", 404), (.GET, "/v1/status", 404), (.GET, "/metrics/", 404), (.POST, "/metrics", 405),
                (.DELETE, "/metrics", 405),
            ] as [(HTTPMethod, String, UInt)] {
                let answer = try await WebWorld.ask(port, method, target)
                #expect(answer.status == status && !answer.text.contains("syncagent_"), "\(method) \(target)")
                #expect((answer.fields["allow"] == "GET, HEAD") == (status == 405), "\(method) \(target)")
            }
        }
    }

    @Test("metrics are refused to requests for a name that is not of this machine")
    func host() async throws {
        try await Self.with { port in
            let request = "GET /metrics HTTP/1.1\r\nhost: evil.example:\(port)\r\nconnection: close\r\n\r\n"
            let answer = try await RawClient(request, to: port).answer()
            #expect(answer.hasPrefix("HTTP/1.1 421 ") && !answer.contains("syncagent_"))
        }
    }

    @Test("a textfile of metrics that cannot be written is a problem in the status until it can")
    func textfile() async throws {
        try await ControlWorld.with { world in
            let folder = world.folder.appending("none")
            let file = MetricsTextfile(
                at: folder.appending("a.prom"), logger: .silent, pace: .milliseconds(10), beat: .milliseconds(20))
            let agent = {
                var agent = world.agent
                agent.textfile = file
                return agent
            }()
            let tasks = Tasks()
            tasks.add(Task { await file.run(for: agent) })
            try await waitUntil {
                await agent.status()?.problems.contains { $0.code == "metrics-not-written" && $0.detail != nil } == true
            }
            #expect(await agent.status()?.needsAttention == true)
            try makeFolder(folder)
            try await waitUntil { await agent.status()?.listeners == [] }
            await tasks.end()
        }
    }

    @Test("the control socket serves the same metrics as the listener")
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
