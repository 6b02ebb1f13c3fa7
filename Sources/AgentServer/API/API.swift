// SPDX-License-Identifier: Apache-2.0
import CacheFormat
package import Hummingbird
package import Logging
import NIOCore
import Reports
package import SyncAgent
import SyncPlan

/// What can be asked of the agent over HTTP, whoever listens: version 1 of the API, under `/v1`.
///
/// A listener makes an ``APIContext`` for each request, which says what its sender may do.
package struct API: Sendable {
    let agent: RunningAgent
    let board: StatusBoard
    /// What would be evicted.
    let eviction: SharedAnswer<EvictionReport?>
    /// Pages of icons.
    let directory: IconDirectory
    let metrics: MetricsSite
    /// How long the loop may take to answer before the agent counts as hanging.
    var healthLimit: Duration = .seconds(5)
    private let memory = AnswerMemory()
    private let logger: Logger

    /// - Parameters:
    ///   - agent: What is asked, and told.
    ///   - logger: Where errors of the server itself go.
    package init(agent: RunningAgent, logger: Logger) {
        self.agent = agent
        self.logger = logger
        board = StatusBoard(agent)
        directory = IconDirectory(agent)
        metrics = MetricsSite(agent: agent)
        eviction = SharedAnswer { await agent.evictionReport() }
    }

    /// What can be asked at one listener besides what all of them have.
    private var ownRoutes: [APIRoute] = []

    /// Everything that can be asked.
    package var routes: [APIRoute] {
        statusRoutes + listRoutes + iconRoutes + syncRoutes + downloadRoutes + pinRoutes + storeRoutes
            + [EventRoutes(agent: agent).route] + ownRoutes
    }

    /// The same with further routes, for one listener.
    package func adding(_ routes: [APIRoute]) -> API {
        var api = self
        api.ownRoutes += routes
        return api
    }

    /// Makes the router of these routes, for one listener; it may add others.
    package func router() -> Router<APIContext> {
        let router = Router(context: APIContext.self)
        router.add(middleware: ErrorDocuments(routes: routes, memory: memory, logger: logger))
        for route in routes { route.add(to: router) }
        return router
    }

    // MARK: Answers

    /// - Throws: ``APIError/stopping`` if there is no document.
    static func answer(_ json: JSON?) throws -> Response { try answer(json.map { $0.text + "\n" }) }

    static func answer(_ text: String?) throws -> Response {
        guard let text else { throw APIError.stopping }
        return Response(
            status: .ok, headers: [.contentType: "application/json"],
            body: ResponseBody(byteBuffer: ByteBuffer(string: text)))
    }

    /// An answer that goes on until it ends, or its client is gone: one JSON document a line.
    static func stream(
        to request: Request, _ headers: HTTPFields = [.contentType: "application/x-ndjson"],
        _ write: @escaping @concurrent @Sendable (inout any ResponseBodyWriter) async throws -> Void
    ) -> Response {
        var request = request
        // Hummingbird traps (2.28, “Deinited NIOAsyncSequenceProducer.Source without calling source.finish()”) where an
        // answer ends before the end of its request was looked at, as it does for a client that leaves at once. A body
        // of our own comes to its end first; what is left of the client's is passed over.
        request.body = RequestBody(buffer: ByteBuffer())
        return Response(
            status: .ok, headers: headers,
            body: ResponseBody { [body = request.body] writer in
                // Nothing is written while nothing changes: so a client that has gone is not noticed by writing.
                try await body.consumeWithCancellationOnInboundClose { _ in try await write(&writer) }
                try await writer.finish(nil)
            })
    }
}
