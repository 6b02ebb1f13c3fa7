// SPDX-License-Identifier: Apache-2.0
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
            return report.listeners.first { $0.name == rawValue }?.address
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

    /// Runs the body with a running agent that has all listeners, and some icons.
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
                try await world.agent.status(within: .seconds(120)) {
                    $0.listeners.count == 3 && $0.inSync && $0.icons.ready == icons
                }
                try await body(world, process)
            }
        }
    }

    @Test("each listener answers a flood of connections or refuses them at once; the agent goes on with its work")
    func connections() async throws {
        try await Self.withAgent(icons: 2) { world, process in
            let before = try Use(of: process)
            for (listener, count) in [(.socket, 2000), (.dashboard, 400), (.images, 400), (.metrics, 400)]
                as [(Listener, Int)]
            {
                try await Self.expectAnswers(count, of: listener, world, process)
                let after = try Use(of: process)
                #expect(after.peak - before.resident < 128 << 10, "\(listener)")
            }
        }
    }

    private static func expectAnswers(
        _ count: Int, of listener: Listener, _ world: World, _ process: ProcessIdentifier
    ) async throws {
        let report = try await world.agent.status { $0.inSync }
        let ready = report.icons.ready
        try world.drop((0..<100).map { "\(listener) \($0)" }, as: "\(listener).plist")
        let address = try #require(listener.address(world, report))
        let watching = Task {
            var most = 0
            try? await waitUntil(atMost: .seconds(240)) {
                most = max(most, try Use(of: process).descriptors)
                return Task.isCancelled
            }
            return most
        }
        async let finished = world.agent.status(within: .seconds(120)) { $0.icons.ready == ready + 100 }
        let outcomes = try await Flood.count(
            "ask", at: address, listener.path(world.origin.iconURL("App1")), count: count, processes: 4)
        _ = try await finished
        watching.cancel()
        let most = await watching.value
        #expect(outcomes.values.reduce(0, +) == count, "\(listener)")
        // A Unix socket refuses those for whom there is no room in the queue; TCP has them try again.
        let least = listener == .socket ? count / 10 : count
        #expect(outcomes["200", default: 0] >= least, "\(listener): \(outcomes)")
        let allowed: Set = listener == .socket ? ["200", "EAGAIN"] : ["200"]
        #expect(Set(outcomes.keys).isSubset(of: allowed), "\(listener): \(outcomes)")
        #expect(most < 1000, "\(listener)")
        try await waitUntil { try Use(of: process).descriptors < 100 }
    }

    @Test("streams that clients do not read, or give up, take little memory, and leave nothing behind")
    func streams() async throws {
        try await Self.withAgent(icons: 1000) { world, process in
            let socket = world.folder.appending("control.sock").string
            let before = try Use(of: process)
            for path in ["/v1/status/stream", "/v1/events?since=0", "/v1/icons?limit=1000"] {
                try await Flood.holding(240, path, at: socket, world) { file in
                    var most = 0
                    try await waitUntil {
                        most = max(most, try Use(of: process).descriptors)
                        return try !String(contentsOfFile: file.string, encoding: .utf8).isEmpty
                    }
                    // A few files are open for a moment only, perhaps in that of `before`.
                    #expect(most >= before.descriptors + 230, "\(path)")
                    // There is room for others.
                    try await world.agent.status { $0.icons.ready == 1000 }
                }
                try await waitUntil { try Use(of: process).descriptors <= before.descriptors + 2 }
                let after = try Use(of: process)
                #expect(after.peak - before.resident < 128 << 10, "\(path)")
            }
            for path in ["/v1/status/stream", "/v1/events", "/v1/sync/stream"] {
                try await Self.expectNothingLeft(of: path, at: socket, process)
            }
        }
    }

    private static func expectNothingLeft(
        of path: String, at socket: String, _ process: ProcessIdentifier
    ) async throws {
        var resident: [Int] = []
        for _ in 0..<3 {
            var streams = 0
            while streams < 300 {
                let outcomes = try await Flood.count("abandon", at: socket, path, count: 300, processes: 1)
                // Some find no room, where clients leave faster than the agent notices.
                #expect(Set(outcomes.keys).isSubset(of: ["200", "503"]), "\(path): \(outcomes)")
                #expect(outcomes.values.reduce(0, +) == 300, "\(path): \(outcomes)")
                streams += try #require(outcomes["200"])
            }
            try await waitUntil { try Use(of: process).descriptors < 100 }
            resident.append(try Use(of: process).resident)
        }
        // The first round has the heap grow to what it takes. 16 KiB kept of each stream would be 16 MiB.
        #expect(resident[2] - resident[0] < 8 << 10, "\(path)")
    }
}
