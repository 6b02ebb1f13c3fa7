// SPDX-License-Identifier: Apache-2.0
import AgentSettings
import CacheFormat
import HTTPRules
import Testing

@testable import SyncPlan

@Suite("Icons behind redirects")
struct RedirectScenarioTests {
    private static let url: IconURL = "https://h.example/a"

    /// Lets the icon be requested and get the image, behind a redirect to another URL each time; returns after how many
    /// hours.
    private static func refresh(_ agent: inout AgentScenario, with word: String) throws -> Int {
        let start = agent.now
        while agent.downloads[url] == nil {
            if agent.publication != nil { try agent.finishPublication() } else { try agent.passToNextWake() }
        }
        let response = StoredResponse(
            url: "https://h.example/signed?\(agent.now)",
            fields: HTTPFields([("Cache-Control", "max-age=31536000"), ("ETag", "\"\(word)\"")]),
            requestTime: agent.now, responseTime: agent.now, redirectLifetime: .zero)
        try agent.finish(url, with: word, answer: response)
        return Int((agent.now - start) / .seconds(3600))
    }

    @Test("an image that comes whole again and again is asked for less and less often, at least once a day")
    func whole() throws {
        var agent = AgentScenario { $0.publish = Settings.withoutHeartbeat.publish }
        try agent.scan(["1.plist": [Self.url]])
        var hours: [Int] = []
        for word in ["x", "x", "x", "x", "x", "x", "x", "x", "y", "y", "y"] {
            hours.append(try Self.refresh(&agent, with: word))
        }
        #expect(hours.prefix(3) == [0, 1, 2] && hours.suffix(5) == [24, 24, 24, 1, 2], "\(hours)")
    }

    @Test("an image that a user requests again at once is not asked for less often", arguments: [true, false])
    func requested(isFull: Bool) throws {
        var agent = AgentScenario { $0.publish = Settings.withoutHeartbeat.publish }
        try agent.scan(["1.plist": [Self.url]])
        _ = try Self.refresh(&agent, with: "x")
        while agent.publication != nil { try agent.finishPublication() }
        try agent.handle(.request([Self.url], isRefresh: true, isFull: isFull))
        #expect(try Self.refresh(&agent, with: "x") == 0)
        #expect(try Self.refresh(&agent, with: "x") == 1)
    }
}
