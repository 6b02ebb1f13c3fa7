// SPDX-License-Identifier: Apache-2.0
import AgentSettings
import CacheFormat
import Hummingbird
import NIOCore
import Reports
import SyncAgent
import SyncPlan

// Routes for the status, metrics, settings and the API itself, for rescans of the lists folder and reloads of the
// configuration, and for streams: one JSON document a line, whenever it changes.
extension API {
    /// The minimum time between two documents of a stream.
    private static let pace: Duration = .milliseconds(50)

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
            .change("sync") { request, _ in
                let lists = try await RequestDocument(request, [.lists]).lists ?? []
                if lists.isEmpty { agent.requestScan() } else { await agent.rescan(for: Set(lists).sorted()) }
                return try Self.answer(await board.text.get())
            },
            .change("sync/stream") { request, _ in
                let lists = Set(try await RequestDocument(request, [.lists]).lists ?? []).sorted()
                return Self.stream(to: request) { try await streamSync(of: lists, to: &$0) }
            },
            .change("reload") { request, _ in
                _ = try await RequestDocument(request, [])
                return try Self.answer(await agent.reload()?.json)
            },
        ]
    }

    @concurrent private func streamStatus(to writer: inout any ResponseBodyWriter) async throws {
        var last = ""
        for await _ in agent.changes {
            guard let line = await board.line.get() else { return }
            try await write(line, after: &last, to: &writer)
        }
    }

    /// Rescans the lists folder, and streams the progress of some lists until `isDone`.
    @concurrent private func streamSync(of names: [ListName], to writer: inout any ResponseBodyWriter) async throws {
        var last = ""
        // Write at once: a client that gets no answer for a while takes the agent for a hanging one.
        try await write(SyncReport().json.line, after: &last, to: &writer)
        await agent.rescan(for: names)
        for await _ in agent.changes {
            guard let report = await agent.ask({ $0.syncReport(of: names) }) else { return }
            try await write(report.json.line, after: &last, to: &writer)
            if report.isDone { return }
        }
    }

    @concurrent private func write(
        _ line: String, after last: inout String, to writer: inout any ResponseBodyWriter
    ) async throws {
        if line != last {
            last = line
            try await writer.write(ByteBuffer(string: line + "\n"))
        }
        // The pause also follows an unchanged document, because comparing takes time of the agent's loop.
        try await Task.sleep(for: Self.pace)
    }
}

extension StatusReport {
    /// A short document for monitors.
    fileprivate var health: JSON {
        [
            "format": 1, "state": .string(state.rawValue), "version": .string(version),
            "pid": pid.map(JSON.number) ?? .null, "generation": generation.map(JSON.number) ?? .null,
            "inSync": .bool(inSync), "needsAttention": .bool(needsAttention),
        ]
    }
}
