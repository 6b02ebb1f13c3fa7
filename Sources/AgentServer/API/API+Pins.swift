// SPDX-License-Identifier: Apache-2.0
import Hummingbird
import Reports
import SyncAgent
import SyncPlan

// Routes for what users decide about single icons and lists: pins and mutes.
extension API {
    var pinRoutes: [APIRoute] {
        [
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
}

extension RequestDocument {
    fileprivate func muteTarget() throws(APIError) -> MuteTarget {
        switch (url, list) {
        case (let url?, nil): return .icon(url)
        case (nil, let list?): return .list(list)
        default: throw .badRequest("The request must name either a URL or a list: send {\"url\": \"https://…\"}.")
        }
    }
}
