// SPDX-License-Identifier: Apache-2.0
import Hummingbird
import SyncAgent
import SyncPlan

// Routes that pause and request downloads.
extension API {
    var downloadRoutes: [APIRoute] {
        [
            .change("pause") { request, _ in try await setPaused(true, request) },
            .change("resume") { request, _ in try await setPaused(false, request) },
            .change("retry") { request, _ in
                try await self.request(request, by: [.urls, .lists, .failed], isRefresh: false)
            },
            .change("refresh") { request, _ in try await self.request(request, by: [.urls, .lists], isRefresh: true) },
        ]
    }

    @concurrent private func request(
        _ request: Request, by members: Set<RequestDocument.Member>, isRefresh: Bool
    ) async throws -> Response {
        let document = try await RequestDocument(request, members)
        let selection = IconSelection(
            urls: document.urls ?? [], lists: document.lists ?? [], failed: document.failed ?? false)
        return try Self.answer(await agent.request(selection, isRefresh: isRefresh)?.json)
    }

    @concurrent private func setPaused(_ isPaused: Bool, _ request: Request) async throws -> Response {
        _ = try await RequestDocument(request, [])
        await agent.setPaused(isPaused)
        return try Self.answer(await board.text())
    }
}
