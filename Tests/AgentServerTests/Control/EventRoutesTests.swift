// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import FoundationEssentials
import Glibc
import LocalHTTP
import NIOCore
import NIOHTTP1
import Reports
import SyncAgent
import SyncPlan
import SystemPackage
import TestSupport
import Testing

@testable import AgentServer

@Suite("Events over the socket", .timeLimit(.minutes(5)))
struct EventRoutesTests {
    private struct Done: Error {}

    private static func kinds(_ lines: [String]) throws -> [String] {
        try lines.map { try JSONDecoder().decode(EventRecord.self, from: Data($0.utf8)).kind }
    }

    /// Runs the body when the last event is that the agent was paused.
    private static func withEvents(
        _ body: @escaping @Sendable (ControlWorld, EventClient) async throws -> Void
    ) async throws {
        try await ControlWorld.with { world in
            let client = EventClient(socket: world.socket)
            // Until then, events of the first publication come.
            try await waitUntil { try await world.client.status()?.inSync == true }
            world.loop.post(.pause(Pause()))
            try await waitUntil {
                try kinds(try await client.page(from: .after(0), limit: 100).lines).contains("paused")
            }
            try await body(world, client)
        }
    }

    @Test("a page has the events so far, and a stream the next ones, each line as in the journal")
    func events() async throws {
        try await Self.withEvents { world, client in
            let (lines, next) = try await client.page(from: .after(0), limit: 100)
            #expect(try Self.kinds(lines).contains("paused") && Self.kinds(lines).first == "agent-started")
            #expect(next == lines.count)
            #expect(try await client.page(from: .after(0), limit: 1).lines == [lines[0]])
            #expect(try await client.page(from: .last(1), limit: 1).lines == [lines[next - 1]])
            world.loop.post(.resume(nil))
            let (followed, noteFollowed) = AsyncStream.makeStream(of: [String].self)
            await #expect(throws: Done.self) {
                try await client.follow(from: .after(next)) {
                } _: { lines in
                    noteFollowed.yield(lines)
                    if try Self.kinds(lines).contains("resumed") { throw Done() }
                }
            }
            noteFollowed.finish()
            var all = lines
            for await more in followed { all += more }
            let page = try await client.page(from: .after(0), limit: 100).lines
            #expect(Array(page.prefix(all.count)) == all)
        }
    }

    @Test("a position that is no number, and unknown or repeated parameters, are refused")
    func refused() async throws {
        let rows: [(query: String, lastEventID: String?)] = [
            ("since=x", nil), ("limit=-1", nil), ("limit=0", nil), ("limit=1001", nil), ("last=", nil),
            ("since=1", "x"),
            ("since=9223372036854775807", nil), ("sinse=1", nil), ("since=1&since=2", nil),
        ]
        try await ControlWorld.with { world in
            for row in rows {
                let fields = row.lastEventID.map { [("accept", "text/event-stream"), ("last-event-id", $0)] } ?? []
                try await LocalConnection.open(to: .socket(world.socket.string)) { connection in
                    let head = try await connection.ask(.GET, "/v1/events?\(row.query)", fields: fields)
                    #expect(head.status == .badRequest, "\(row)")
                }
            }
        }
    }

    @Test("a follower waits while nobody answers, and ends when it is refused")
    func refusedLater() async throws {
        try await withTemporaryFolder { folder in
            func answer(_ status: String, _ body: String) -> String {
                "HTTP/1.1 \(status)\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
            }
            let path = folder.appending("control.sock")
            let (losses, lost) = AsyncStream.makeStream(of: Void.self)
            var following: Task<Void, any Error>?
            let page = "{ \"format\": 1, \"events\": [], \"next\": 0, \"gap\": false }"
            try await ScriptedSocket.with(answer("200 OK", page), at: path) { _ in
                following = Task {
                    try await EventClient(socket: path).follow(from: .now) {
                        lost.yield()
                    } _: { _ in
                    }
                }
                for await _ in losses { break }
            }
            let follower = try #require(following)
            try #require(unlink(path.string) == 0)
            let refusal = "{ \"error\": { \"code\": \"forbidden\", \"message\": \"You may not.\" } }"
            try await ScriptedSocket.with(answer("403 Forbidden", refusal), at: path) { _ in
                let error = await #expect(throws: ControlClient.Unexpected.self) { try await follower.value }
                #expect(error?.code == "forbidden")
            }
        }
    }

    @Test("a client that connects again goes on after the last event that it has")
    func resumed() async throws {
        try await Self.withEvents { world, _ in
            try await LocalConnection.open(to: .socket(world.socket.string)) { connection in
                let fields = [("accept", "text/event-stream"), ("last-event-id", "1")]
                let head = try await connection.ask(.GET, "/v1/events?since=0", fields: fields)
                #expect(head.status == .ok && head.headers["content-type"] == ["text/event-stream"])
                var parser = EventStreamParser()
                while let buffer = try await connection.next() {
                    guard let first = parser.take(buffer.readableBytesView).first else { continue }
                    #expect(first.id == 2)
                    return
                }
            }
        }
    }

    @Test("the parser finds events in a stream however it is cut, and ignores comments")
    func parser() {
        let text = "retry: 1000\n\nid: 1\ndata: {a}\n\n:\n\nid: 2\ndata: {b}\n\nid: 3\ndata: {"
        var parser = EventStreamParser()
        var events: [(id: Int, data: String)] = []
        for byte in text.utf8 { events += parser.take([byte]) }
        #expect(events.map(\.id) == [1, 2] && events.map(\.data) == ["{a}", "{b}"])
        var whole = EventStreamParser()
        let all = whole.take(text.utf8)
        #expect(all.map(\.id) == [1, 2] && all.map(\.data) == ["{a}", "{b}"])
    }
}
