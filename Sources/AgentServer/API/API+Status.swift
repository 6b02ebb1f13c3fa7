// SPDX-License-Identifier: Apache-2.0
import AgentSettings
import CacheFormat
import Hummingbird
import Reports
import SyncAgent
import SyncPlan

// Routes for the status, metrics, settings and the API itself.
extension API {
    var statusRoutes: [APIRoute] {
        [
            .read("health") { request, _ in
                _ = try request.query([])
                // The status alone would be the last one that a hanging loop left.
                guard await agent.isResponding(within: healthLimit) else { throw APIError.notResponding }
                return try Self.answer(await agent.status()?.health)
            },
            .read("status") { request, _ in
                _ = try request.query([])
                return try Self.answer(await board.text())
            },
            .read("status/stream") { request, _ in
                _ = try request.query([])
                return Self.stream(to: request) { try await streamStatus(to: &$0) }
            },
            .read("metrics") { request, _ in
                _ = try request.query([])
                return try await metrics.answer()
            },
            .read("settings") { request, _ in
                _ = try request.query([])
                return try Self.answer(agent.settings.json)
            },
            .read("openapi.json") { request, _ in
                _ = try request.query([])
                return try Self.answer(OpenAPI.text)
            },
        ]
    }
}

extension StatusReport {
    /// A short document for monitors.
    var health: JSON {
        [
            "format": 1, "state": .string(state.rawValue), "version": .string(version),
            "pid": pid.map(JSON.number) ?? .null, "generation": generation.map(JSON.number) ?? .null,
            "inSync": .bool(inSync), "needsAttention": .bool(needsAttention),
        ]
    }
}
