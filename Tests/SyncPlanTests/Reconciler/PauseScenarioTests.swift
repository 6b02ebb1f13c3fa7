// SPDX-License-Identifier: Apache-2.0
import AgentSettings
import CacheFormat
import HTTPRules
import Reports
import Testing

@testable import SyncPlan

@Suite("Downloads are paused, and go on")
struct PauseScenarioTests {
    private static let urls = (1...6).map { IconURL("https://h.example/\($0)") }

    @Test("a pause lets running downloads end and be published, begins none, and is settled")
    func pause() throws {
        var agent = AgentScenario { $0.fetch.perHost = 2 }
        try agent.scan(["1.plist": Self.urls])
        try agent.handle(.pause(Pause()))
        #expect(agent.cancelled.isEmpty && agent.downloads.count == 2 && !agent.plan.isSettled)
        for url in agent.downloads.keys.sorted() { try agent.finish(url, with: url) }
        #expect(agent.downloads.isEmpty)
        try agent.finishJobs()
        let status = agent.plan.status
        #expect(agent.plan.isSettled && status.state == .paused && !status.inSync)
        #expect(status.icons.ready == 2 && agent.plan.status.downloads.counts == [0, 0, 0, 4])
        #expect(status.needsAttention)
    }

    @Test("time that passes in a pause begins nothing, and only due icons cause wake-ups")
    func quiet() throws {
        var agent = AgentScenario()
        try agent.scan(["1.plist": Self.urls])
        while !agent.downloads.isEmpty { try agent.finishAll(.failed(.timeout("60 s"))) }
        try agent.handle(.pause(Pause()))
        var wakes = 0
        while let wake = agent.plan.nextWake, wake < agent.now + .seconds(365 * 86_400) {
            try agent.passToNextWake()
            try agent.finishJobs()
            wakes += 1
            try #require(wakes < 20)
        }
        #expect(agent.downloads.isEmpty && agent.plan.isSettled)
        try agent.handle(.resume(nil))
        #expect(agent.downloads.count == 1 && agent.plan.status.state == .running)
    }

    @Test("a pause is remembered at once, outlives the agent, and so does its end")
    func restart() throws {
        var agent = AgentScenario()
        try agent.handle(.pause(Pause()))
        #expect(agent.memory.values.isPaused)
        try agent.restart()
        try agent.scan(["1.plist": Self.urls])
        #expect(agent.downloads.isEmpty && agent.plan.status.state == .paused)
        try agent.handle(.resume(nil))
        #expect(!agent.memory.values.isPaused && agent.downloads.count == 4)
        try agent.restart()
        #expect(agent.plan.status.state == .running)
    }

    @Test("pauses for several reasons end one by one, by themselves or for their reason, and outlive the agent")
    func reasons() throws {
        var agent = AgentScenario()
        func reasons() -> [String] {
            agent.plan.status.downloads.pauses.map { ($0.reason ?? "-") + ($0.until == nil ? "" : " ends") }
        }
        try agent.handle(.pause(Pause(reason: "metered", until: agent.now + .seconds(8 * 3600))))
        try agent.handle(.pause(Pause(reason: "backup")))
        try agent.handle(.pause(Pause()))
        #expect(reasons() == ["-", "backup", "metered ends"])
        try agent.handle(.pause(Pause(reason: "backup", until: agent.now + .seconds(60))))
        try agent.handle(.resume("other"))
        try agent.restart()
        #expect(reasons() == ["-", "backup ends", "metered ends"] && agent.plan.status.state == .paused)
        try agent.pass(.seconds(60))
        #expect(reasons() == ["-", "metered ends"])
        try agent.handle(.resume(""))
        #expect(reasons() == ["metered ends"] && agent.plan.status.state == .paused && agent.downloads.isEmpty)
        #expect(!agent.events.contains { $0.kind == .resumed })
        let end = agent.now + .seconds(8 * 3600)
        while agent.plan.status.state == .paused, agent.now < end {
            try agent.passToNextWake()
            try agent.finishJobs()
        }
        #expect(agent.now < end && reasons().isEmpty)
        try agent.scan(["1.plist": Self.urls])
        #expect(!agent.downloads.isEmpty)
        try agent.handle(.pause(Pause(reason: "a")))
        try agent.handle(.pause(Pause(reason: "b")))
        try agent.handle(.resume(nil))
        #expect(reasons().isEmpty && !agent.memory.values.isPaused)
    }

    @Test("a second pause changes nothing")
    func twice() throws {
        var agent = AgentScenario()
        try agent.handle(.pause(Pause()))
        var plan = agent.plan
        #expect(plan.handle(.pause(Pause()), now: agent.now).isEmpty && plan.drainMemoChanges().isEmpty)
    }

    @Test("icons that no list names any more leave a paused queue")
    func dereferenced() throws {
        var agent = AgentScenario { $0.fetch.perHost = 1 }
        try agent.handle(.pause(Pause()))
        try agent.scan(["1.plist": Self.urls])
        try agent.scan(["1.plist": nil])
        #expect(agent.plan.status.downloads.queued == 0)
        try agent.handle(.resume(nil))
        #expect(agent.requests.isEmpty)
    }
}
