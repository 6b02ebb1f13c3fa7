// SPDX-License-Identifier: Apache-2.0
import AgentSettings
import CacheFormat
import HTTPRules
import Reports
import Testing

@testable import SyncPlan

@Suite("Groups of failed icons")
struct FailureGroupTests {
    private static let urls = (1...5).map { IconURL("https://h.example/\($0).png") }

    @Test("the icon that stands for a group is its first by URL, in whatever order icons fail and recover")
    func example() throws {
        for order in [Self.urls, Self.urls.reversed(), [2, 0, 4, 1, 3].map { Self.urls[$0] }] {
            var agent = AgentScenario { $0.fetch.perHost = 5 }
            try agent.scan(["1.plist": Self.urls])
            for url in order { try agent.finish(url, .failed(.status(404))) }
            #expect(agent.plan.status.failures.map(\.example) == [Self.urls[0]])
            for (next, url) in Self.urls.enumerated().dropLast() {
                try agent.fetchAgain(url)
                try agent.finish(url, with: "an image")
                #expect(agent.plan.status.failures.map(\.example) == [Self.urls[next + 1]])
            }
            // One that fails later does not take the place of the first again, unless it is before it.
            try agent.scan(["1.plist": Self.urls + ["https://h.example/9.png"]])
            try agent.finish("https://h.example/9.png", .failed(.status(404)))
            #expect(agent.plan.status.failures.map(\.example) == [Self.urls[4]])
        }
    }
}
