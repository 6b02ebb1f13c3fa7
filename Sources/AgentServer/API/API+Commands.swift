// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import Hummingbird
import Reports
import SyncAgent
import SyncPlan

// Routes for pauses and requests of downloads, and for what users decide about single icons and lists: pins and mutes.
extension API {
    var commandRoutes: [APIRoute] {
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
            .read("pins") { _, _ in try Self.answer(await agent.ask(\.pinReport)?.json) },
            .change("pin") { request, _ in
                let url = try await request.iconURL()
                if case let flaw?? = await agent.ask({ $0.flaw(inPin: url) }) {
                    throw APIError(.badRequest, .badURL, "The URL cannot be pinned: \(flaw).")
                }
                return try Self.answer(await agent.pin(url, true)?.json)
            },
            .change("unpin") { request, _ in
                try Self.answer(await agent.pin(try await request.iconURL(), false)?.json)
            },
            .read("mutes") { _, _ in try Self.answer(await agent.muteReport()?.json) },
            .change("mute") { request, _ in
                let document = try await RequestDocument(request, [.url, .list, .for])
                let (target, duration) = (try document.muteTarget(), try document.duration())
                let report = await agent.mute(target, true, for: duration)
                if let report, !report.names(target) {
                    let flaw = await agent.ask { $0.flaw(inMute: target) } ?? nil
                    throw APIError.badRequest("This cannot be muted: \(flaw ?? "too many were").")
                }
                return try Self.answer(report?.json)
            },
            .change("unmute") { request, _ in
                let target = try await RequestDocument(request, [.url, .list]).muteTarget()
                return try Self.answer(await agent.mute(target, false)?.json)
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

    fileprivate func duration() throws(APIError) -> Duration? {
        guard let text = self.for else { return nil }
        guard let duration = DurationText.parse(text), duration > .zero else {
            let longest = DurationText.format(DurationText.longest)
            throw .badRequest("The request's “for” is not a time: use 8h, for example, and at most \(longest).")
        }
        return duration
    }

    fileprivate func muteTarget() throws(APIError) -> MuteTarget {
        switch (url, list) {
        case (let url?, nil): return .icon(url)
        case (nil, let list?): return .list(list)
        default: throw .badRequest("The request must name either a URL or a list: send {\"url\": \"https://…\"}.")
        }
    }
}
