// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import Hummingbird
package import Logging
import NIOCore
import Reports
package import SyncAgent

/// The agent's HTTP API, version 1, under `/v1`, independent of the listener.
///
/// A listener makes an ``APIContext`` for each request, which gives the client's access.
package struct API: Sendable {
    let agent: RunningAgent
    let board: StatusBoard
    let eviction: SharedAnswer<EvictionReport?>
    let directory: IconDirectory
    let metrics: MetricsSite
    /// The response time of the loop above which the agent counts as hanging; 5 s by default.
    var healthLimit: Duration = .seconds(5)
    /// The memory for responses, in bytes.
    private let memory = Allowance.memory
    private let logger: Logger

    package init(agent: RunningAgent, logger: Logger) {
        self.agent = agent
        self.logger = logger
        board = StatusBoard(agent)
        directory = IconDirectory(agent)
        metrics = MetricsSite(agent: agent)
        eviction = SharedAnswer { await agent.evictionReport() }
    }

    private var ownRoutes: [APIRoute] = []

    var routes: [APIRoute] {
        statusRoutes + listRoutes + commandRoutes + storeRoutes + [EventRoutes(agent: agent).route] + ownRoutes
    }

    /// A copy of the API with further routes, for one listener.
    package func adding(_ routes: [APIRoute]) -> API {
        var api = self
        api.ownRoutes += routes
        return api
    }

    /// Makes a router for one listener, which may add routes.
    func router() -> Router<APIContext> {
        let router = Router(context: APIContext.self)
        router.add(middleware: ErrorDocuments(routes: routes, memory: memory, logger: logger))
        for route in routes { route.add(to: router) }
        return router
    }

    // MARK: Answers

    /// - Throws: ``APIError/stopping`` if `json` is `nil`.
    static func answer(_ json: JSON?) throws -> Response { try answer(json.map { $0.text + "\n" }) }

    static func answer(_ text: String?) throws -> Response {
        guard let text else { throw APIError.stopping }
        return Response(
            status: .ok, headers: [.contentType: "application/json"],
            body: ResponseBody(byteBuffer: ByteBuffer(string: text)))
    }

    /// A response without a fixed end: one JSON document a line, until `write` returns or the client is gone.
    static func stream(
        to request: Request, _ headers: HTTPFields = [.contentType: "application/x-ndjson"],
        _ write: @escaping @concurrent @Sendable (inout any ResponseBodyWriter) async throws -> Void
    ) -> Response {
        var request = request
        // Hummingbird 2.28 requires a request to be read to its end before the response ends. An empty body is; the
        // rest of the client's body is discarded.
        request.body = RequestBody(buffer: ByteBuffer())
        return Response(
            status: .ok, headers: headers,
            body: ResponseBody { [body = request.body] writer in
                // Without changes nothing is written, so writing does not detect a client that has disconnected.
                try await body.consumeWithCancellationOnInboundClose { _ in try await write(&writer) }
                try await writer.finish(nil)
            })
    }
}
