// SPDX-License-Identifier: Apache-2.0
import Hummingbird
import SyncAgent
import SyncPlan

// Icons, one by one.
extension API {
    var iconRoutes: [APIRoute] {
        [
            .read("why") { request, _ in try await why(request) },
            .read("why", by: .post) { request, _ in try await why(request) },
        ]
    }

    @concurrent private func why(_ request: Request) async throws -> Response {
        guard let report = await agent.report(on: try await request.iconURL()) else { throw APIError.stopping }
        guard let report else {
            throw APIError.notFound("no-such-icon", "No app list names this URL, and no image of it is on disk.")
        }
        return try Self.answer(report.json)
    }
}
