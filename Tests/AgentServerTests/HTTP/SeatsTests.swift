// SPDX-License-Identifier: Apache-2.0
import AgentSettings
import Hummingbird
import LocalHTTP
import NIOCore
import NIOHTTP1
import SyncPlan
import TestSupport
import Testing

@testable import AgentServer

@Suite("Seats of a listener", .timeLimit(.minutes(5)))
struct SeatsTests {
    @Test(
        "a user has at most a quarter of the seats, all users half; some others are refused, the rest get nothing",
        arguments: [(256, 64, 128, 64), (16, 4, 8, 4), (5, 1, 2, 1), (2, 1, 1, 1)])
    func shares(total: Int, own: Int, all: Int, told: Int) {
        let seats = Seats(total)
        /// How many seats the user takes until it gets another one.
        func count(_ seat: Seats.Seat, of user: UInt32) -> Int {
            var count = 0
            while seats.take(.other(user: user)) == seat { count += 1 }
            return count
        }
        #expect(count(.other(user: 1), of: 1) == own)
        // One refusal was taken to find that out.
        #expect(count(.refusal, of: 1) == told - 1)
        var others = own
        for user in 2..<10 as Range<UInt32> { others += count(.other(user: user), of: user) }
        #expect(others == all)
        #expect(seats.take(.any) == .any)
    }

    @Test("a seat that is given back can be taken again")
    func giving() {
        let seats = Seats(4)
        let user = Seats.Seat.other(user: 1)
        for _ in 0..<3 {
            #expect([seats.take(user), seats.take(user), seats.take(user)] == [user, .refusal, nil])
            seats.leave(.refusal)
            seats.leave(user)
        }
        #expect(!seats.isCrowded)
        for _ in 0..<4 { _ = seats.take(.any) }
        #expect(seats.isCrowded)
        seats.leave(.any)
        #expect(!seats.isCrowded)
    }

    /// Runs the body with the port of a server with eight seats, whose path `/stream` answers without an end.
    private static func with(
        identify: @escaping HTTPServer.Identify = { $0.eventLoop.makeSucceededFuture(.any) },
        _ body: @escaping @Sendable (Int) async throws -> Void
    ) async throws {
        let server = HTTPServer(
            address: .tcp(.anyLoopbackPort), clients: 8, identify: identify, logger: .silent
        ) { request, _ in
            guard request.uri.path == "/stream" else { return Response(status: .ok, body: ResponseBody()) }
            return API.stream(to: request) { writer in
                try await writer.write(ByteBuffer(string: "\n"))
                let (never, end) = AsyncStream.makeStream(of: Never.self)
                for await _ in never {}
                withExtendedLifetime(end) {}
            }
        }
        try await server.whileRunning(body)
    }

    /// Keeps connections open that have asked for a path, while the body runs with what each was answered.
    private static func keeping(
        _ count: Int, _ path: String, at port: Int, _ answers: [(status: UInt, isLast: Bool)] = [],
        _ body: @escaping @Sendable ([(status: UInt, isLast: Bool)]) async throws -> Void
    ) async throws {
        guard count > 0 else { return try await body(answers) }
        try await LocalConnection.open(to: .port(port)) { connection in
            let head = try await connection.ask(.GET, path)
            let answer = (status: head.status.code, isLast: head.headers["connection"] == ["close"])
            try await keeping(count - 1, path, at: port, answers + [answer], body)
        }
    }

    @Test("a user who keeps too many connections open gets 503, and others are answered")
    func others() async throws {
        let connections = Counter()
        try await Self.with { channel in
            channel.eventLoop.makeSucceededFuture(connections.next() <= 3 ? .other(user: 1) : .any)
        } _: { port in
            try await Self.keeping(2, "/", at: port) { kept in
                #expect(kept.map(\.status) == [200, 200])
                let refused = try await RawClient("GET / HTTP/1.1\r\n\r\n", to: port).answer()
                expectContains(refused, "HTTP/1.1 503 ", "\"busy\"")
                #expect(try await WebWorld.ask(port, "/").status == 200)
            }
        }
    }

    @Test("streams take half of the seats: more are refused, and other requests are answered")
    func streaming() async throws {
        try await Self.with { port in
            try await Self.keeping(5, "/stream", at: port) { streams in
                #expect(streams.map(\.status) == [200, 200, 200, 200, 503])
                let answer = try await WebWorld.ask(port, "/")
                #expect(answer.status == 200)
            }
            try await waitUntil { try await Self.isStreamed(at: port) }
        }
    }

    private static func isStreamed(at port: Int) async throws -> Bool {
        try await LocalConnection.open(to: .port(port)) { try await $0.ask(.GET, "/stream").status == .ok }
    }

    @Test("requests that come together are all answered before their connection ends")
    func pipelined() async throws {
        try await Self.with { port in
            try await Self.keeping(7, "/", at: port) { _ in
                let request = "GET / HTTP/1.1\r\nHost: a\r\n\r\n"
                let answers = try await RawClient(request + request, to: port).answer()
                #expect(answers.ranges(of: "HTTP/1.1 200 ").count == 2, "\(answers)")
                #expect(answers.ranges(of: "close").count == 1)
            }
        }
    }

    @Test("when hardly any seat is left, connections end with their answers, and make room")
    func crowded() async throws {
        try await Self.with { port in
            try await Self.keeping(30, "/", at: port) { answers in
                #expect(answers.map(\.status) == Array(repeating: 200, count: 30))
                #expect(answers.prefix(6).allSatisfy { !$0.isLast } && answers.filter(\.isLast).count >= 20)
            }
        }
    }
}
