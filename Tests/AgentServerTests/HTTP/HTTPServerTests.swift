// SPDX-License-Identifier: Apache-2.0
import AgentSettings
import Hummingbird
import LocalHTTP
import NIOCore
import NIOEmbedded
import NIOHTTP1
import SyncPlan
import TestSupport
import Testing

@testable import AgentServer

@Suite("What a server takes from its clients", .timeLimit(.minutes(1)))
struct HTTPServerTests {
    private static let patience = SlowClientHandler.Patience(
        request: .milliseconds(300), answer: .milliseconds(300), rest: .milliseconds(200))

    /// Runs the body with the port of a server that answers with the path, and takes the body of a POST.
    private static func with(clients: Int = 16, _ body: @escaping @Sendable (Int) async throws -> Void) async throws {
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

    @Test(
        "a head that does not come to its end gets nothing, however slowly it comes",
        arguments: [("", ""), ("GET / HTTP/1.1\r\n", ""), ("GET / HTTP/1.1\r\nx: ", "y"), ("", "\r\n")])
    func slowHead(start: String, rest: String) async throws {
        try await Self.with { port in
            let answer = try await RawClient(start, rest: rest, to: port).answer()
            #expect(answer == "")
        }
    }

    @Test(
        "a body that does not come to its end is answered with 408, and its connection is closed",
        arguments: [
            ("content-length: 1000", ""), ("content-length: 1000", "x"), ("transfer-encoding: chunked", "1\r\nx\r\n"),
            ("content-length: 1000\r\nexpect: 100-continue", ""),
        ])
    func slowBody(field: String, rest: String) async throws {
        try await Self.with { port in
            let answer = try await RawClient("POST / HTTP/1.1\r\n\(field)\r\n\r\n", rest: rest, to: port).answer()
            #expect(Self.status(of: answer) == "408" && answer.contains("\"too-slow\""), "\(answer)")
        }
    }

    @Test(
        "a body that nobody asked for keeps no connection open, slow or fast",
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

    @Test(
        "a head that is too long is answered with 431",
        arguments: [
            "GET /\(String(repeating: "a", count: 90_000)) HTTP/1.1\r\n\r\n",
            "GET / HTTP/1.1\r\nx: \(String(repeating: "a", count: 90_000))\r\n\r\n",
            "GET / HTTP/1.1\r\n\(String(repeating: "x: y\r\n", count: 101))\r\n",
            "GET / HTTP/1.1\r\n\(String(repeating: "\(String(repeating: "x", count: 1000)): y\r\n", count: 90))\r\n",
        ])
    func longHead(request: String) async throws {
        try await Self.with { port in
            let answer = try await RawClient(request, to: port).answer()
            #expect(Self.status(of: answer) == "431" && answer.contains("\"head-too-large\""), "\(answer)")
        }
    }

    @Test(
        "what is not HTTP is answered with 400, and its connection is closed",
        arguments: [
            "nonsense\r\n\r\n", "FOO / HTTP/1.1\r\n\r\n", "GET / HTTP/9.9\r\n\r\n", "GET /\r\nHTTP/1.1\r\n\r\n",
            "G\u{0}T / HTTP/1.1\r\n\r\n",
            "GET / HTTP/1.1\r\nx\r\n\r\n", "GET / HTTP/1.1\r\nx: \u{0}\r\n\r\n", "\u{16}\u{3}\u{1}\u{2}",
            "POST / HTTP/1.1\r\ncontent-length: -1\r\n\r\n", "POST / HTTP/1.1\r\ncontent-length: x\r\n\r\n",
            "POST / HTTP/1.1\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nxx",
            "POST / HTTP/1.1\r\ncontent-length: 99999999999999999999\r\n\r\nxx",
            "POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\nnonsense\r\n",
            "POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\ncontent-length: 3\r\n\r\nxyz",
        ])
    func malformed(request: String) async throws {
        try await Self.with { port in
            let answer = try await RawClient(request, to: port).answer()
            #expect(Self.status(of: answer) == "400" && answer.contains("\"bad-request\""), "\(answer)")
            #expect(try await WebWorld.ask(port, "/").status == 200)
        }
    }

    @Test("requests that are sent at once are answered in their order, up to the one that is malformed")
    func pipelined() async throws {
        try await Self.with { port in
            let requests = (1...500).map { "GET /\($0)/ HTTP/1.1\r\n\r\n" }.joined()
            let answer = try await RawClient(requests + "nonsense\r\n\r\n", to: port).answer()
            #expect(answer.matches(of: /\/([0-9]+)\//).map { Int($0.1) } == Array(1...500))
            #expect(answer.matches(of: /HTTP.1.1 400/).count == 1)
        }
    }

    @Test("more clients than there may be wait until one is gone")
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
        let channel = EmbeddedChannel(handler: SlowClientHandler())
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
