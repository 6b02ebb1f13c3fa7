// SPDX-License-Identifier: Apache-2.0
import Hummingbird
import SyncAgent
import SyncPlan

// When downloads begin.
extension API {
    var downloadRoutes: [APIRoute] {
        [
            .change("pause") { request, _ in try await setPaused(true, request) },
            .change("resume") { request, _ in try await setPaused(false, request) },
        ]
    }

    @concurrent private func setPaused(_ isPaused: Bool, _ request: Request) async throws -> Response {
        _ = try await RequestDocument(request, [])
        agent.setPaused(isPaused)
        return try Self.answer(await board.text())
    }
}
