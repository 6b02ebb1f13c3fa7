// SPDX-License-Identifier: Apache-2.0
import DemoOrigin
import FoundationEssentials
import Reports
import Subprocess
import SyncPlan
import SystemPackage
import TestSupport
import Testing

@testable import SyncAgentCLI

@Suite(
    "Floods of requests", .serialized, .enabled(if: Tool.areInstalled("python3"), "this takes python3"),
    .timeLimit(.minutes(5)))
struct FloodTests {
    /// Which listener is flooded.
    enum Listener: String, CaseIterable {
        case socket, dashboard, images, metrics

        func address(_ world: World, _ report: StatusReport) -> String? {
            guard self != .socket else { return world.folder.appending("control.sock").string }
            return report.listeners?.first { $0.name == rawValue }?.address
        }

        func path(_ icon: String) -> String {
            switch self {
            case .socket, .dashboard: "/v1/status"
            case .images: "/icons?url=\(icon)"
            case .metrics: "/metrics"
            }
        }
    }

    /// What the kernel knows of the agent.
    private struct Use {
        /// Memory, in KiB.
        var resident: Int
        var peak: Int
        var descriptors: Int

        init(of process: ProcessIdentifier) throws {
            let status = try ProcessStatus(of: process.value)
            resident = try #require(status["VmRSS"].flatMap { Int($0.prefix { $0 != " " }) })
            peak = try #require(status.peakMemory)
            descriptors = try FileManager.default.contentsOfDirectory(atPath: "/proc/\(process.value)/fd").count
        }
    }

    /// Opens connections from several processes.
    ///
    /// - Returns: How often each outcome was seen.
    private static func flood(
        _ kind: String, at address: String, _ path: String, count: Int, processes: Int = 4, seconds: Int = 0
    ) async throws -> [String: Int] {
        let tool = FilePath(#filePath).removingLastComponent().removingLastComponent().appending("Tools/flood")
        return try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<processes {
                group.addTask {
                    try await Program.run(
                        "python3", tool.string, kind, address, path, "\(count / processes)", "\(seconds)"
                    ).output
                }
            }
            var all: [String: Int] = [:]
            for try await output in group {
                let some = try JSONDecoder().decode([String: Int].self, from: Data(output.utf8))
                all.merge(some, uniquingKeysWith: +)
            }
            return all
        }
    }

    /// Runs the body with a running agent that has all listeners, and some icons to download.
    private static func withAgent(
        icons: Int, _ body: @escaping @Sendable (World, ProcessIdentifier) async throws -> Void
    ) async throws {
        try await World.with { plain in
            var world = plain
            for name in ["DASHBOARD", "SERVE", "METRICS"] {
                world = world.setting("SYNCAGENT_\(name)_LISTEN", "127.0.0.1:0")
            }
            try world.drop((0..<icons).map { "App\($0)" })
            try await world.agent.whileRunning { [world] process in
                try await world.agent.status { $0.listeners?.count == 3 }
                try await body(world, process)
            }
        }
    }

    @Test(
        "each of many connections at once is answered, or refused at once; the agent goes on with its work",
        arguments: [
            (.socket, 10_000), (.dashboard, 1000), (.images, 1000), (.metrics, 1000),
        ] as [(Listener, Int)])
    func connections(listener: Listener, count: Int) async throws {
        try await Self.withAgent(icons: 2) { world, process in
            let report = try await world.agent.status { $0.inSync && $0.icons.ready == 2 }
            try world.drop((2..<1000).map { "App\($0)" }, as: "others.plist")
            let address = try #require(listener.address(world, report))
            let path = listener.path(world.origin.iconURL("App1"))
            let before = try Use(of: process)
            let watching = Task {
                var most = 0
                try? await waitUntil(atMost: .seconds(240)) {
                    most = max(most, try Use(of: process).descriptors)
                    return Task.isCancelled
                }
                return most
            }
            async let finished = world.agent.status { $0.icons.ready == 1000 }
            let outcomes = try await Self.flood("ask", at: address, path, count: count)
            _ = try await finished
            watching.cancel()
            let most = await watching.value
            let after = try Use(of: process)
            #expect(outcomes.values.reduce(0, +) == count)
            // A Unix socket refuses those for whom there is no room in the queue; TCP has them try again.
            #expect(outcomes["200", default: 0] >= min(count, 1000))
            #expect(Set(outcomes.keys).isSubset(of: ["200", "EAGAIN"]), "\(outcomes)")
            #expect(most < 1000 && after.peak - before.resident < 128 << 10)
            try await waitUntil { try Use(of: process).descriptors < 100 }
        }
    }

    @Test(
        "clients that read nothing take no memory worth mentioning, and none stays when they are gone",
        arguments: ["/v1/status/stream", "/v1/events?since=0", "/v1/icons?limit=1000"])
    func slowReaders(path: String) async throws {
        try await Self.withAgent(icons: 1000) { world, process in
            try await world.agent.status { $0.icons.ready == 1000 && $0.inSync }
            let socket = world.folder.appending("control.sock").string
            let before = try Use(of: process)
            async let ignoring = Self.flood("ignore", at: socket, path, count: 240, processes: 1, seconds: 5)
            try await waitUntil { try Use(of: process).descriptors >= before.descriptors + 240 }
            // There is room for others.
            try await world.agent.status { $0.icons.ready == 1000 }
            let outcomes = try await ignoring
            #expect(outcomes == ["ignored": 240])
            try await waitUntil { try Use(of: process).descriptors <= before.descriptors + 2 }
            let after = try Use(of: process)
            #expect(after.peak - before.resident < 128 << 10)
        }
    }

    @Test(
        "streams that are given up leave nothing behind",
        arguments: ["/v1/status/stream", "/v1/events", "/v1/sync/stream"])
    func abandoned(path: String) async throws {
        try await Self.withAgent(icons: 10) { world, process in
            try await world.agent.status { $0.icons.ready == 10 && $0.inSync }
            let socket = world.folder.appending("control.sock").string
            var resident: [Int] = []
            for _ in 0..<4 {
                let outcomes = try await Self.flood("abandon", at: socket, path, count: 500, processes: 1)
                // Some find no room, where clients leave faster than the agent notices.
                #expect(Set(outcomes.keys).isSubset(of: ["200", "503"]) && outcomes.values.reduce(0, +) == 500)
                #expect(outcomes["200", default: 0] >= 250, "\(outcomes)")
                try await waitUntil { try Use(of: process).descriptors < 100 }
                resident.append(try Use(of: process).resident)
            }
            // The first ones have the heap grow to what it takes. What was left of each took 16 KiB once.
            #expect(resident[3] - resident[0] < 8 << 10)
        }
    }
}
