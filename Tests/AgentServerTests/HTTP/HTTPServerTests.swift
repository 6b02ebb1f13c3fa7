// SPDX-License-Identifier: Apache-2.0
import AgentSettings
import CacheFormat
import Hummingbird
import LocalHTTP
import NIOCore
import NIOEmbedded
import NIOHTTP1
import SyncPlan
import TestSupport
import Testing

@testable import AgentServer

@Suite("Slow, malformed and many requests", .timeLimit(.minutes(5)))
struct HTTPServerTests {
    /// Runs the body with the port of a server that answers with the path, and takes the body of a POST.
    ///
    /// It waits `time` for a request: by default so long that it waits for each. It closes a connection `rest` after its
    /// last answer.
    private static func with(
        clients: Int = 16, waiting time: TimeAmount = .seconds(240), rest: TimeAmount = .milliseconds(500),
        _ body: @escaping @Sendable (Int) async throws -> Void
    ) async throws {
        let patience = HTTPServer.Patience(request: time, answer: .seconds(240), rest: rest)
        let server = HTTPServer(
            address: .tcp(.anyLoopbackPort), clients: clients, patience: patience, logger: .silent
        ) { request, _ in
            do {
                if request.method == .post { _ = try await RequestDocument(request, [.url]) }
            } catch let error as APIError {
                return error.response
            } catch let error as HTTPParserError {
                return APIError(error).response
            }
            return Response(status: .ok, body: ResponseBody(byteBuffer: ByteBuffer(string: request.uri.path)))
        }
        try await server.whileRunning(body)
    }

    private static func status(of answer: String) -> String {
        String(answer.split(separator: " ").dropFirst().first ?? "")
    }

    /// Expects each of the clients, all at once, to get an answer with a status, a code, and the end of its connection.
    private static func expect(_ status: String, _ code: String, for clients: [RawClient]) async throws {
        try await withThrowingTaskGroup(of: (RawClient, String).self) { group in
            for client in clients { group.addTask { (client, try await client.answer()) } }
            for try await (client, answer) in group {
                let request = String(decoding: client.bytes.prefix(80), as: UTF8.self).debugDescription
                #expect(Self.status(of: answer) == status, "\(request)")
                expectContains(answer, "\"\(code)\"")
            }
        }
    }

    @Test("a head that does not come to its end is not answered, however slowly it comes")
    func slowHead() async throws {
        let heads = [("", ""), ("GET / HTTP/1.1\r\n", ""), ("GET / HTTP/1.1\r\nx: ", "y"), ("", "\r\n")]
        try await Self.with(waiting: .milliseconds(300)) { port in
            try await withThrowingTaskGroup(of: String.self) { group in
                for (start, rest) in heads {
                    group.addTask { try await RawClient(start, rest: rest, to: port).answer() }
                }
                for try await answer in group { #expect(answer == "") }
            }
        }
    }

    @Test("a body that does not come to its end is answered with 408, and its connection is closed")
    func slowBody() async throws {
        let bodies = [
            ("content-length: 1000", ""), ("content-length: 1000", "x"), ("transfer-encoding: chunked", "1\r\nx\r\n"),
            ("content-length: 1000\r\nexpect: 100-continue", ""),
        ]
        try await Self.with(waiting: .milliseconds(300)) { port in
            let clients = bodies.map { field, rest in
                RawClient("POST / HTTP/1.1\r\n\(field)\r\n\r\n", rest: rest, to: port)
            }
            try await Self.expect("408", "too-slow", for: clients)
        }
    }

    @Test(
        "an unwanted body keeps no connection open, slow or fast",
        arguments: [
            ("GET", "1\r\nx\r\n", "200"), ("POST", "8000\r\n\(String(repeating: "x", count: 32768))\r\n", "413"),
        ])
    func endlessBody(method: String, rest: String, status: String) async throws {
        try await Self.with { port in
            var client = RawClient("\(method) / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n", rest: rest, to: port)
            client.pause = .milliseconds(1)
            let answer = try await client.answer()
            #expect(Self.status(of: answer) == status, "\(answer)")
        }
    }

    @Test("a head that is too long is answered with 431")
    func longHead() async throws {
        let long = String(repeating: "a", count: 90_000)
        let fields = String(repeating: "\(String(repeating: "x", count: 1000)): y\r\n", count: 90)
        let requests = [
            "GET /\(long) HTTP/1.1\r\n\r\n", "GET / HTTP/1.1\r\nx: \(long)\r\n\r\n",
            "GET / HTTP/1.1\r\n\(String(repeating: "x: y\r\n", count: 101))\r\n",
            "GET / HTTP/1.1\r\n\(fields)\r\n",
        ]
        try await Self.with { port in
            try await Self.expect("431", "head-too-large", for: requests.map { RawClient($0, to: port) })
        }
    }

    @Test("a malformed request is answered with 400, and its connection is closed; others are answered")
    func malformed() async throws {
        let requests = [
            "nonsense\r\n\r\n", "FOO / HTTP/1.1\r\n\r\n", "GET / HTTP/9.9\r\n\r\n", "GET /\r\nHTTP/1.1\r\n\r\n",
            "G\u{0}T / HTTP/1.1\r\n\r\n",
            "GET / HTTP/1.1\r\nx\r\n\r\n", "GET / HTTP/1.1\r\nx: \u{0}\r\n\r\n", "\u{16}\u{3}\u{1}\u{2}",
            "POST / HTTP/1.1\r\ncontent-length: -1\r\n\r\n", "POST / HTTP/1.1\r\ncontent-length: x\r\n\r\n",
            "POST / HTTP/1.1\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nxx",
            "POST / HTTP/1.1\r\ncontent-length: 99999999999999999999\r\n\r\nxx",
            "POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\nnonsense\r\n",
            "POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\ncontent-length: 3\r\n\r\nxyz",
        ]
        // They leave seats for others, and do not make them end with their answers.
        try await Self.with(clients: 64) { port in
            try await Self.expect("400", "bad-request", for: requests.map { RawClient($0, to: port) })
            #expect(try await WebWorld.ask(port, "/").status == 200)
        }
    }

    @Test("a client may go on sending for a moment after a refusal: closing at once would destroy the refusal")
    func moreAfterRefusal() async throws {
        try await Self.with(rest: .seconds(240)) { port in
            var client = RawClient("nonsense\r\n\r\n", rest: "x", to: port)
            client.isSentAfterwards = 20
            let answer = try await client.answer()
            #expect(Self.status(of: answer) == "400")
        }
    }

    @Test("requests sent at once are answered in their order, up to the malformed one")
    func pipelined() async throws {
        try await Self.with { port in
            let requests = (1...100).map { "GET /\($0)/ HTTP/1.1\r\n\r\n" }.joined()
            let answer = try await RawClient(requests + "nonsense\r\n\r\n", to: port).answer()
            #expect(answer.matches(of: /\/([0-9]+)\//).map { Int($0.1) } == Array(1...100))
            #expect(answer.matches(of: /HTTP.1.1 400/).count == 1)
        }
    }

    @Test(
        "the connection ends after a request of HTTP/1.0, and after one that says so; the answer says it, and has a date",
        arguments: ["GET /x HTTP/1.0\r\n\r\n", "GET /x HTTP/1.1\r\nhost: x\r\nConnection: Close\r\n\r\n"])
    func ends(request: String) async throws {
        try await Self.with { port in
            let answer = try await RawClient(request, to: port).answer().asciiLowercased
            #expect(answer.contains("connection: close\r\n") && answer.hasSuffix("\r\n\r\n/x"), "\(answer)")
            #expect(answer.contains(/\r\ndate: [a-z]{3}, [0-9]{2} [a-z]{3} [0-9]{4} [0-9:]{8} gmt\r\n/), "\(answer)")
        }
    }

    @Test("a client beyond the limit waits until another one is gone")
    func crowd() async throws {
        try await Self.with(clients: 1) { port in
            let counter = Counter()
            let waiting = try await LocalConnection.open(to: .port(port)) { connection in
                let waiting = Task {
                    let status = try await WebWorld.ask(port, "/").status
                    return (status, counter.last)
                }
                // It is served before the other one.
                _ = counter.next()
                let head = try await connection.ask(.GET, "/")
                #expect(head.status == .ok)
                return waiting
            }
            let (status, before) = try await waiting.value
            #expect(status == 200 && before == 1)
        }
    }

    @Test("a client that reads nothing is dropped, one that reads slowly is not")
    func slowReader() throws {
        let channel = EmbeddedChannel(
            handler: ClientHandler(Seats(1), HTTPServer.Patience()) { $0.eventLoop.makeSucceededFuture(.any) })
        try channel.connect(to: SocketAddress(unixDomainSocketPath: "/s")).wait()
        channel.isWritable = false
        channel.pipeline.fireChannelWritabilityChanged()
        channel.embeddedEventLoop.advanceTime(by: .seconds(29))
        #expect(channel.isActive)
        channel.isWritable = true
        channel.pipeline.fireChannelWritabilityChanged()
        channel.embeddedEventLoop.advanceTime(by: .seconds(60))
        #expect(channel.isActive)
        channel.isWritable = false
        channel.pipeline.fireChannelWritabilityChanged()
        channel.embeddedEventLoop.advanceTime(by: .seconds(30))
        #expect(!channel.isActive)
    }
}

extension HTTPServer {
    /// Runs the body with the port of the server while it answers.
    func whileRunning(_ body: @escaping @Sendable (Int) async throws -> Void) async throws {
        let (ports, port) = AsyncStream.makeStream(of: Int.self)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await run { port.yield($0) } }
            for await port in ports {
                try await body(port)
                break
            }
            group.cancelAll()
            while let result = await group.nextResult() {
                if case .failure(let error) = result, !(error is CancellationError) { throw error }
            }
        }
    }
}
