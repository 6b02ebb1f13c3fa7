// SPDX-License-Identifier: Apache-2.0
import Hummingbird
import NIOCore
import SyncAgent

/// Serves `GET` and `HEAD` of `/metrics` for Prometheus.
struct MetricsSite: Sendable {
    private let text: SharedAnswer<String?>

    init(agent: RunningAgent) {
        text = SharedAnswer { await agent.metricsText() }
    }

    func respond(to request: Request, on channel: any Channel) async -> Response {
        var response: Response
        do throws(APIError) {
            response = try await answer(request, on: channel)
        } catch {
            response = error.response
        }
        response.headers[.cacheControl] = "no-store"
        response.headers[.xContentTypeOptions] = "nosniff"
        return response
    }

    private func answer(_ request: Request, on channel: any Channel) async throws(APIError) -> Response {
        guard OwnHost.names(request.head.authority, port: channel.localAddress?.port) else { throw .wrongHost }
        guard request.uri.path == "/metrics" else { throw .notFound(.noSuchPath, "The metrics are at /metrics.") }
        guard request.method == .get || request.method == .head else {
            throw .wrongMethod(request.method.rawValue, allowed: ["GET", "HEAD"])
        }
        return try await answer()
    }

    /// All metrics in Prometheus text format.
    func answer() async throws(APIError) -> Response {
        guard let text = await text.get() else { throw .stopping }
        return Response(
            status: .ok, headers: [.contentType: MetricsText.mediaType],
            body: ResponseBody(byteBuffer: ByteBuffer(string: text)))
    }
}
