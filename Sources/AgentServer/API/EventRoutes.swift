// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import HTTPTypes
import Hummingbird
import NIOCore
import SyncAgent

/// `GET /v1/events`: a page of events as JSON, or a stream (server-sent events, WHATWG HTML, section 9.2).
struct EventRoutes: Sendable {
    /// The idle time after which a comment is sent, to detect clients that are gone.
    static let heartbeat: Duration = .seconds(15)

    let agent: RunningAgent
    var pause = heartbeat

    var route: APIRoute { .read("events", takesQuery: true) { request, _ in try await answer(request) } }

    private func answer(_ request: Request) async throws -> Response {
        let query = try request.query(["since", "last", "limit"])
        let limit = try query.number("limit", in: 1...EventPage.longest) ?? 100
        var start = try query.number("last").map(EventStart.last)
        if let since = try query.number("since") { start = .after(since) }
        guard Self.wantsStream(request) else {
            guard let page = await agent.events(from: start ?? .after(0), limit: limit) else {
                throw APIError.stopping
            }
            return try API.answer(page.text)
        }
        // A client that reconnects repeats its first query; this field overrides it.
        if let field = HTTPField.Name("Last-Event-ID"), let text = request.headers[field] {
            guard let id = Int(text), id >= 0 else {
                throw APIError.badRequest("Last-Event-ID is not a number.")
            }
            start = .after(id)
        }
        guard let follower = agent.eventFollower(from: start ?? .now) else { throw APIError.stopping }
        return API.stream(to: request, [.contentType: "text/event-stream", .cacheControl: "no-store"]) {
            try await stream(follower, to: &$0)
        }
    }

    /// Streams events until the agent ends; a slow client delays only itself.
    @concurrent private func stream(_ follower: EventFollower, to writer: inout any ResponseBodyWriter) async throws {
        var follower = follower
        // Confirms the connection, and sets the reconnection time to 1 s.
        try await writer.write(ByteBuffer(string: "retry: 1000\n\n"))
        while let lines = await follower.lines(atMost: pause) {
            var text = lines.isEmpty ? ":\n\n" : ""
            for line in lines { text += "id: \(line.id)\ndata: \(line.text)\n\n" }
            try await writer.write(ByteBuffer(string: text))
        }
    }

    private static func wantsStream(_ request: Request) -> Bool {
        request.headers[values: .accept].contains { $0.asciiLowercased.contains(bytes: "text/event-stream") }
    }
}
