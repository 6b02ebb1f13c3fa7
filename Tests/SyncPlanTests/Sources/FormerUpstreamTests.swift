// SPDX-License-Identifier: Apache-2.0
import AppLists
import CacheFormat
import Fleet
import Reports
import Testing

@testable import AgentSettings
@testable import HTTPRules
@testable import SyncPlan

@Suite("Images from upstreams that left the settings")
struct FormerUpstreamTests {
    private let icon: IconURL = "https://a.example/1.png"

    /// An agent whose image came from the first upstream, which others replace.
    private func agent(
        with urls: [UpstreamURL], isRestarted: Bool, _ change: (inout Settings.Upstream) -> Void = { _ in }
    ) throws -> AgentScenario {
        var agent = AgentScenario.withUpstreams([UpstreamSample.first], change)
        try agent.scan(["1.plist": [icon]])
        try agent.finishPoll([icon: UpstreamSample.ready("x")])
        try agent.finish(icon, with: "x")
        try agent.finishJobs()
        agent.settings.upstream.urls = urls
        if isRestarted {
            try agent.pass(.seconds(60))
            try agent.restart()
            try agent.scan()
        } else {
            try agent.handle(.configured(agent.settings))
        }
        return agent
    }

    @Test("another image is taken from an upstream at another URL as soon as it has it", arguments: [false, true])
    func moved(isRestarted: Bool) throws {
        var agent = try agent(with: [UpstreamSample.second], isRestarted: isRestarted) { $0.fallback = .never }
        try agent.finishPoll([icon: UpstreamSample.ready("x")])
        #expect(agent.requests.count == 1)
        let report = try #require(agent.plan.report(on: icon, now: agent.now))
        #expect(report.source == UpstreamSample.first.file(Sample.image("x").path).url)
        #expect(report.rule?.hasPrefix("the manifest of the upstream \(UpstreamSample.first) ") == true)
        try agent.finishPoll([icon: UpstreamSample.ready("y")], generation: 2)
        #expect(agent.target == UpstreamSample.second.file(Sample.image("y").path).url)
    }
}
