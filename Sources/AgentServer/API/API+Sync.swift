// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import Hummingbird
import NIOCore
import Reports
import SyncAgent
import SyncPlan

// Looking at the lists folder, and answers that go on: one JSON document a line, whenever it has changed.
extension API {
    /// How long a document is the newest one: nobody reads faster.
    private static let pace: Duration = .milliseconds(50)

    var syncRoutes: [APIRoute] {
        [
            .change("sync") { request, _ in
                let lists = try await RequestDocument(request, [.lists]).lists ?? []
                if lists.isEmpty { agent.lookAgain() } else { await agent.look(for: Set(lists).sorted()) }
                return try Self.answer(await board.text())
            },
            .change("sync/stream") { request, _ in
                let lists = Set(try await RequestDocument(request, [.lists]).lists ?? []).sorted()
                return Self.stream(to: request) { try await streamSync(of: lists, to: &$0) }
            },
        ]
    }

    /// Writes the status, until the agent ends.
    @concurrent func streamStatus(to writer: inout any ResponseBodyWriter) async throws {
        var last = ""
        for await _ in agent.changes {
            guard let line = await board.line() else { return }
            try await write(line, after: &last, to: &writer)
        }
    }

    /// Has the folder looked at, and writes how far the icons of the lists are, until nothing more comes for now.
    @concurrent private func streamSync(of names: [ListName], to writer: inout any ResponseBodyWriter) async throws {
        var last = ""
        // A client takes an answer that does not begin for one that never will.
        try await write(SyncReport().json.line, after: &last, to: &writer)
        await agent.look(for: names)
        for await _ in agent.changes {
            guard let report = await agent.syncReport(of: names) else { return }
            try await write(report.json.line, after: &last, to: &writer)
            if report.isDone { return }
        }
    }

    @concurrent private func write(_ line: String, after last: inout String, to writer: inout any ResponseBodyWriter)
        async throws
    {
        if line != last {
            last = line
            try await writer.write(ByteBuffer(string: line + "\n"))
        }
        // Also where it says the same as before: what it takes to find that out is taken from the loop.
        try await Task.sleep(for: Self.pace)
    }
}
