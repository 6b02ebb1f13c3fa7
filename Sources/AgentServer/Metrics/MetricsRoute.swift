// SPDX-License-Identifier: Apache-2.0
import Hummingbird
import NIOCore
import SyncAgent

/// `GET /v1/metrics` of the control API.
enum MetricsRoute {
    /// Answers with all metrics, in the text format of Prometheus.
    ///
    /// - Throws: ``APIError/stopping`` if the agent is about to end.
    static func answer(_ agent: RunningAgent) async throws -> Response {
        guard let text = await agent.metricsText() else { throw APIError.stopping }
        return Response(
            status: .ok, headers: [.contentType: MetricsText.mediaType],
            body: ResponseBody(byteBuffer: ByteBuffer(string: text)))
    }
}
