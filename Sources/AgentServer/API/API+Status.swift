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
            .read("health") { _, _ in
                // The status alone would be the last one before the loop hung.
                guard await agent.isResponding(within: healthLimit) else { throw APIError.notResponding }
                return try Self.answer(await agent.status()?.health)
            },
            .read("status") { _, _ in try Self.answer(await board.text.get()) },
            .read("status/stream") { request, _ in
                Self.stream(to: request) { try await streamStatus(to: &$0) }
            },
            .read("metrics") { _, _ in try await metrics.answer() },
            .read("settings") { _, _ in try Self.answer(agent.settings.json) },
            .read("openapi.json") { _, _ in try Self.answer(OpenAPI.text) },
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
