// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import Hummingbird
import SyncAgent
import SyncPlan

// Routes that pause and request downloads.
extension API {
    var downloadRoutes: [APIRoute] {
        [
            .change("pause") { request, _ in
                let document = try await RequestDocument(request, [.for, .reason])
                await agent.pause(for: try document.duration(), reason: try document.pauseReason())
                return try Self.answer(await board.text.get())
            },
            .change("resume") { request, _ in
                await agent.resume(reason: try await RequestDocument(request, [.reason]).pauseReason())
                return try Self.answer(await board.text.get())
            },
            .change("retry") { request, _ in
                try await self.request(request, by: [.urls, .lists, .failed], isRefresh: false)
            },
            .change("refresh") { request, _ in
                try await self.request(request, by: [.urls, .lists, .full], isRefresh: true)
            },
        ]
    }

    @concurrent private func request(
        _ request: Request, by members: Set<RequestDocument.Member>, isRefresh: Bool
    ) async throws -> Response {
        let document = try await RequestDocument(request, members)
        let selection = IconSelection(
            urls: document.urls ?? [], lists: document.lists ?? [], failed: document.failed ?? false)
        let report = await agent.request(selection, isRefresh: isRefresh, isFull: document.full ?? false)
        return try Self.answer(report?.json)
    }
}

extension RequestDocument {
    fileprivate func pauseReason() throws(APIError) -> String? {
        guard let reason, !Pause.isReason(reason) else { return reason }
        throw .badRequest(
            "The request's “reason” is not 1 to \(Pause.maxReasonLength) characters without control characters.")
    }

    func duration() throws(APIError) -> Duration? {
        guard let text = self.for else { return nil }
        guard let duration = DurationText.parse(text), duration > .zero else {
            throw .badRequest("The request's “for” is not a time: use 8h, for example.")
        }
        return duration
    }
}
