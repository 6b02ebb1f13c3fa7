// SPDX-License-Identifier: Apache-2.0
import AgentSettings
import CacheFormat
import Testing

@testable import SyncPlan

/// Publications are put together in the agent's loop: what that costs is time in which it decides nothing else.
@Suite("Costs of publications", .serialized)
struct PublicationCostTests {
    /// The time that it takes to put together a publication of new images for 1,000 icons, after one that failed.
    private func cost(lists count: Int) throws -> Duration {
        var agent = AgentScenario {
            $0.fetch.concurrency = 1000
            $0.fetch.perHost = 1000
        }
        var lists: [ListName: [IconURL]] = [:]
        for number in 0..<1000 {
            lists["\(number % count).plist", default: []].append("https://a.example/\(number).png")
        }
        try agent.scan(lists)
        func finishAll(with word: String) throws {
            while let url = agent.downloads.keys.first { try agent.finish(url, with: word) }
        }
        try finishAll(with: "x")
        try agent.finishJobs()
        try agent.pass(.seconds(2 * 86_400))
        try finishAll(with: "y")
        try agent.finishPublication(fails: true)
        while agent.requests.count < 3000 {
            if agent.publication != nil { try agent.finishPublication(fails: true) }
            try agent.passToNextWake()
            try finishAll(with: "z")
        }
        if agent.publication != nil { try agent.finishPublication(fails: true) }
        let cost = try processorTime { while agent.publication == nil { try agent.passToNextWake() } }
        #expect(agent.publication?.documents.count == count)
        return cost
    }

    @Test("a publication costs the same for many lists as for few with as many icons")
    func lists() throws {
        let costs = (try cost(lists: 10), try cost(lists: 250))
        #expect(costs.1 < costs.0 * 5, "\(costs.0) with 10 lists, \(costs.1) with 250")
        print("1,000 new images, put together for 10 and 250 lists: \(costs)")
    }
}
