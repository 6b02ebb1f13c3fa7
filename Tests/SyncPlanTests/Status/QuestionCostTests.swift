// SPDX-License-Identifier: Apache-2.0
import AgentSettings
import CacheFormat
import Reports
import Testing

@testable import SyncPlan

/// Questions are answered in the agent's loop: what they cost is time in which it decides nothing.
///
/// Costs are compared with one another, on the same machine in the same moment.
@Suite("Costs of status, progress and eviction reports", .serialized)
struct QuestionCostTests {
    private static let host = "a.example"

    private static func urls(_ count: Int) -> [IconURL] { (0..<count).map { IconURL("https://\(host)/\($0).png") } }

    /// A plan in which so many icons are ready.
    private static func ready(_ count: Int) throws -> AgentScenario {
        var agent = AgentScenario {
            $0.fetch.concurrency = 1000
            $0.fetch.perHost = 1000
        }
        try agent.scan(["1.plist": urls(count)])
        while let url = agent.downloads.keys.first { try agent.finish(url, with: url) }
        try agent.finishJobs()
        return agent
    }

    private static func cost(_ work: () -> Void) -> Duration {
        (0..<20).map { _ in processorTime(of: work) }.min() ?? .zero
    }

    @Test("status and the progress of a sync cost no more with 20 times the icons")
    func status() throws {
        let (few, many) = (try Self.ready(50), try Self.ready(1000))
        let questions: [(String, (Reconciler) -> Void)] = [
            ("status", { _ = $0.status }), ("sync", { _ = $0.syncReport(of: []) }),
            ("sync of a list", { _ = $0.syncReport(of: ["1.plist"]) }),
        ]
        for (name, ask) in questions {
            let costs = (Self.cost { ask(few.plan) }, Self.cost { ask(many.plan) })
            #expect(costs.1 < costs.0 * 5, "\(name): \(costs.0) for 50 icons, \(costs.1) for 1,000")
        }
    }

    @Test("an eviction report costs no more with 20 times the generations")
    func eviction() throws {
        func cost(generations: Int) throws -> Duration {
            var agent = try Self.ready(300)
            try agent.scan(["1.plist": Array(Self.urls(300).dropFirst(100))])
            try agent.finishJobs()
            for number in 0..<generations {
                try agent.handle(.pin(url: "\(Self.host)/\(number)", isPinned: true))
                try agent.finishJobs()
            }
            #expect(agent.plan.evictionReport(now: agent.now).icons.count == 100)
            let (plan, now) = (agent.plan, agent.now)
            return Self.cost { _ = plan.evictionReport(now: now) }
        }
        let costs = (try cost(generations: 3), try cost(generations: 60))
        #expect(costs.1 < costs.0 * 5, "\(costs.0) with 3 generations, \(costs.1) with 60")
    }
}
