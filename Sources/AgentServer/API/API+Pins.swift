// SPDX-License-Identifier: Apache-2.0
import Hummingbird
import Reports
import SyncAgent
import SyncPlan

extension API {
    var pinRoutes: [APIRoute] {
        [
            .read("pins") { request, _ in
                _ = try request.query([])
                return try Self.answer(await agent.pinReport()?.json)
            },
            .change("pin") { request, _ in
                let url = try await request.iconURL()
                if let flaw = await agent.flaw(inPin: url) {
                    throw APIError(.badRequest, .badURL, "The URL cannot be pinned: \(flaw).")
                }
                return try Self.answer(await agent.pin(url, true)?.json)
            },
            .change("unpin") { request, _ in
                try Self.answer(await agent.pin(try await request.iconURL(), false)?.json)
            },
        ]
    }
}
