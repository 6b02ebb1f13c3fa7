// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import Reports
import SyncPlan
import TestSupport
import Testing

@testable import SyncAgentCLI

@Suite("The agent is asked while it has much to tell", .serialized)
struct QuestionTests {
    private static let retired = 3000
    private static let generations = 30
    /// How many lists each generation names.
    private static let lists = 150

    /// Icons that need no request, all with the same image of one pixel.
    private static func icons(_ numbers: Range<Int>) -> [(name: String, icon: String)] {
        let image =
            "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNgAAAAAgABSK+kcQAAAABJRU5ErkJggg=="
        return numbers.map { ("App \($0)", "data:image/png;n=\($0);base64,\(image)") }
    }

    @Test("status is answered at once beside a report on thousands of retired icons and many generations")
    func eviction() async throws {
        try await World.with { world in
            let agent = world.agent
            try agent.drop(propertyList(Self.icons(0..<Self.retired)), as: "large.plist")
            for number in 0..<Self.lists { try agent.drop(propertyList([]), as: "\(number).plist") }
            try await agent.whileRunning { _ in
                try await agent.status { $0.inSync && $0.icons.ready == Self.retired }
                try world.remove("large.plist")
                try await agent.status { $0.inSync && $0.icons.retired == Self.retired }
                for number in 0..<Self.generations {
                    let before = try await agent.status { $0.inSync }.generation ?? 0
                    try agent.drop(propertyList([("App", "data:,\(number)")]), as: "0.plist")
                    try await agent.status { $0.inSync && ($0.generation ?? 0) > before }
                }
                let alone = try await Self.slowest(of: 5, agent)
                async let reports: Void = Self.report(agent)
                let beside = try await Self.slowest(of: 20, agent)
                try await reports
                print("status: \(alone) alone, \(beside) beside the reports")
                #expect(beside < alone * 4 + .seconds(1))
            }
        }
    }

    /// The longest time that a status took.
    private static func slowest(of count: Int, _ agent: AgentProcess) async throws -> Duration {
        var slowest = Duration.zero
        for _ in 0..<count {
            let begun = ContinuousClock.now
            let status = try await agent.call("status", "--json")
            let time = ContinuousClock.now - begun
            #expect(status.output.contains("\"retired\": \(retired)"))
            slowest = max(slowest, time)
        }
        return slowest
    }

    /// Asks several times what would be evicted.
    private static func report(_ agent: AgentProcess) async throws {
        for _ in 0..<3 {
            let report = try await agent.call("evict", "--dry-run", "--json")
            #expect(report.output.count { $0 == "\n" } > retired, "\(report.messages)")
        }
    }
}
