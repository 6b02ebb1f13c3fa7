// SPDX-License-Identifier: Apache-2.0
import AgentSettings
import CacheFormat
import HTTPRules
import Testing

@testable import SyncPlan

@Suite("Pinned icons stay without a list")
struct PinScenarioTests {
    private static let a: IconURL = "https://h.example/a.png"
    private static let b: IconURL = "https://h.example/b.png"

    @Test("a pinned icon is downloaded, published, and kept over a restart")
    func pinned() throws {
        var agent = AgentScenario()
        try agent.scan([:])
        try agent.finishPublication()
        try agent.handle(.pin(url: Self.a, isPinned: true))
        #expect(!agent.plan.arePinsPublished)
        try agent.finish(Self.a, with: "x")
        while agent.publication != nil { try agent.finishPublication() }
        #expect(agent.plan.arePinsPublished && agent.plan.pins == [Self.a])
        #expect(try agent.published("pins") == [.ready(Sample.image("x"))])
        agent.memory = SimulatedMemory()
        try agent.restart()
        try agent.scan([:])
        try agent.pass(.seconds(3600))
        #expect(agent.plan.pins == [Self.a] && agent.isOnDisk("x") && agent.requests.count == 1)
    }

    @Test("an icon that is unpinned, and that no list names, is retired")
    func unpinned() throws {
        var agent = AgentScenario { $0.cache.grace = .seconds(600) }
        try agent.publish(["1.plist": [Self.a: "x", Self.b: "y"]])
        try agent.handle(.pin(url: Self.a, isPinned: true))
        try agent.finishJobs()
        try agent.scan(["1.plist": nil])
        try agent.finishJobs()
        try agent.pass(.seconds(601))
        try agent.finishJobs()
        #expect(agent.isOnDisk("x") && !agent.isOnDisk("y"))
        try agent.handle(.pin(url: Self.a, isPinned: false))
        #expect(!agent.plan.arePinsPublished)
        try agent.finishJobs()
        #expect(agent.plan.arePinsPublished && agent.disk.current?.lists.isEmpty == true)
        try agent.pass(.seconds(601))
        try agent.finishJobs()
        #expect(!agent.isOnDisk("x"))
    }

    @Test(
        "a text that is not an icon's URL cannot be pinned",
        arguments: [
            ("https://h.example/a.png", nil), ("data:image/png;base64,AAAA", nil), ("http://10.0.0.1/a.png", nil),
            ("", "empty"), ("a b", "has a space or a control character in it"),
            ("https://h.example/\na", "has a space or a control character in it"),
            ("a.png", "relative URL, and lists.iconBaseURL is not set"),
            ("'https://h.example/a.png'", "remove the quotes around the URL"),
            ("ftp://h.example/a", "only http and https are supported, not “ftp”"),
            ("http://h.example:0/a", "its port is not between 1 and 65535"),
        ] as [(IconURL, String?)])
    func flaws(url: IconURL, flaw: String?) {
        #expect(Reconciler.flaw(inPin: url) == flaw)
        #expect(AgentScenario().plan.flaw(inPin: url) == flaw)
    }

    @Test("pins are limited to the number of entries of a list")
    func limit() throws {
        var agent = AgentScenario { $0.lists.maxEntries = 1 }
        try agent.scan([:])
        try agent.finishPublication()
        try agent.handle(.pin(url: Self.a, isPinned: true))
        #expect(agent.plan.flaw(inPin: Self.a) == nil)
        #expect(agent.plan.flaw(inPin: Self.b) == "1 icons are pinned, and lists.maxEntries allows no more")
    }

    @Test("a pinned icon is on its way until it is published, or has failed")
    func coming() throws {
        var agent = AgentScenario()
        try agent.scan([:])
        try agent.finishPublication()
        try agent.handle(.pin(url: Self.a, isPinned: true))
        #expect(agent.plan.isComing(Self.a) && !agent.plan.isComing(Self.b))
        try agent.finish(Self.a, with: "x")
        while agent.publication != nil {
            #expect(agent.plan.isComing(Self.a))
            try agent.finishPublication()
        }
        #expect(!agent.plan.isComing(Self.a))
        try agent.handle(.pin(url: Self.b, isPinned: true))
        try agent.finish(Self.b, .failed(.status(404)))
        #expect(!agent.plan.isComing(Self.b))
    }

    @Test("pinning a pinned icon, or unpinning another one, changes nothing")
    func again() throws {
        var agent = AgentScenario()
        try agent.publish(["1.plist": [Self.a: "x"]])
        try agent.handle(.pin(url: Self.b, isPinned: false))
        #expect(agent.publication == nil && agent.plan.arePinsPublished)
        try agent.handle(.pin(url: Self.a, isPinned: true))
        try agent.finishJobs()
        try agent.handle(.pin(url: Self.a, isPinned: true))
        #expect(agent.publication == nil && agent.requests.count == 1)
    }
}
