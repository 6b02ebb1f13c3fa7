// SPDX-License-Identifier: Apache-2.0
import AgentSettings
import AppLists
import CacheFormat
import HTTPRules
import Reports
import Testing

@testable import SyncPlan

@Suite("Lists that vanish, for a moment or for good")
struct AbsenceScenarioTests {
    private static let a: IconURL = "https://h.example/a.png"
    private static let b: IconURL = "https://h.example/b.png"

    private static func agent() throws -> AgentScenario {
        var agent = AgentScenario { $0.lists.settle = .seconds(1) }
        try agent.publish(["1.plist": [a: "x"], "2.plist": [b: "y"]])
        return agent
    }

    @Test("a list that is back within its quiet time was never gone, whatever the number of scans")
    func moment() throws {
        var agent = try Self.agent()
        try agent.scan(["1.plist": nil], waits: false)
        for _ in 0..<4 {
            try agent.pass(.milliseconds(200))
            try agent.scan()
        }
        #expect(agent.publication == nil && agent.plan.status.lists.count == 2 && !agent.plan.status.inSync)
        try agent.scan(["1.plist": [Self.a]])
        #expect(agent.publication == nil && agent.plan.status.inSync)
        try agent.pass(.seconds(10))
        #expect(agent.publication == nil && !agent.isScanWanted && agent.disk.current?.generation == 1)
    }

    @Test("a list that stays away is looked for after its quiet time, and is gone then")
    func gone() throws {
        var agent = try Self.agent()
        try agent.scan(["1.plist": nil], waits: false)
        #expect(agent.plan.nextWake == agent.now + .seconds(1) && !agent.plan.isSettled)
        try agent.passToNextWake()
        #expect(agent.isScanWanted && agent.publication == nil)
        try agent.scan()
        try agent.finishPublication()
        #expect(agent.disk.current?.lists.keys.sorted() == ["2.plist"] && agent.plan.status.inSync)
        #expect(agent.plan.isSettled)
    }

    @Test("a listing that was made before the quiet time was over says nothing, however late it is told")
    func late() throws {
        var agent = try Self.agent()
        try agent.scan(["1.plist": nil], waits: false)
        let listed = agent.now + .milliseconds(900)
        agent.folder.listed = listed
        try agent.pass(.seconds(5))
        try agent.scan()
        #expect(agent.publication == nil && agent.plan.status.lists.count == 2)
        #expect(agent.isScanWanted)
        agent.folder.listed = agent.now
        try agent.scan()
        #expect(agent.publication?.kept.keys.sorted() == ["2.plist"])
    }

    @Test("a renamed list keeps its downloads, and every manifest names it by one of its names")
    func renamed() throws {
        var agent = try Self.agent()
        try agent.scan(["3.plist": ["https://h.example/c.png"]])
        try agent.pass(.milliseconds(300))
        while agent.publication != nil { try agent.finishPublication() }
        // The file with the new name is still being looked at.
        try agent.scan(["3.plist": nil], waits: false)
        #expect(agent.cancelled.isEmpty)
        try agent.scan(["4.plist": ["https://h.example/c.png"]], waits: false)
        try agent.pass(.milliseconds(100))
        while agent.publication != nil { try agent.finishPublication() }
        #expect(agent.disk.current?.lists.keys.sorted() == ["1.plist", "2.plist", "3.plist", "4.plist"])
        try agent.passToNextWake()
        try agent.pass(.seconds(1))
        try agent.scan()
        try agent.pass(.milliseconds(100))
        while agent.publication != nil { try agent.finishPublication() }
        #expect(agent.disk.current?.lists.keys.sorted() == ["1.plist", "2.plist", "4.plist"])
        #expect(agent.cancelled.isEmpty && agent.requests.count == 3)
    }

    @Test("sync --wait waits until its missing lists are found or gone")
    func sync() throws {
        var agent = try Self.agent()
        try agent.scan(["1.plist": nil], waits: false)
        #expect(!agent.plan.syncReport(of: []).isDone && !agent.plan.syncReport(of: ["1.plist"]).isDone)
        #expect(agent.plan.syncReport(of: ["2.plist"]).isDone)
        try agent.passToNextWake()
        try agent.scan()
        #expect(!agent.plan.syncReport(of: []).isDone)
        try agent.finishPublication()
        #expect(agent.plan.syncReport(of: []).isDone && agent.plan.syncReport(of: ["1.plist"]).missing == ["1.plist"])
    }

    @Test("a folder in doubt restarts the quiet time of missing lists")
    func doubt() throws {
        var agent = try Self.agent()
        try agent.scan(["1.plist": nil], waits: false)
        try agent.pass(.milliseconds(900))
        try agent.handle(.scanned(.unavailable(reason: "not mounted")))
        #expect(!agent.isScanWanted)
        try agent.pass(.seconds(5))
        try agent.scan()
        #expect(agent.publication == nil && agent.plan.status.lists.count == 2)
    }

    @Test("an agent that is to end does not wait for a quiet time")
    func stopping() throws {
        var agent = try Self.agent()
        try agent.scan(["1.plist": nil], waits: false)
        try agent.handle(.stopping)
        #expect(agent.plan.isSettled)
    }

    @Test("a list is published and its origin asked again with a clock before 1970, too")
    func early() throws {
        var agent = AgentScenario()
        try agent.restart(at: Timestamp(sinceEpoch: .seconds(-86_400 * 365)))
        try agent.publish(["1.plist": [Self.a: "x"]])
        #expect(agent.disk.current?.lists.keys.sorted() == ["1.plist"])
        try agent.scan(["2.plist": [Self.b]])
        try agent.finish(Self.b, .failed(.timeout("the test's patience")))
        try agent.pass(.seconds(3600))
        #expect(agent.downloads[Self.b] != nil)
    }

    @Test("lists with other names stay until the new ones are all read")
    func renamedInRounds() throws {
        var agent = AgentScenario()
        let a: IconURL = "https://h.example/a.png"
        try agent.publish(["old.plist": [a: "x"]])
        var folder = agent.folder
        folder.hasUnread = true
        for _ in 0..<3 {
            try agent.handle(.scanned(.listed(folder, present: ["new.plist"], changed: [:])))
            try agent.pass(.seconds(1))
            #expect(!agent.isScanWanted && agent.plan.nextWake.map { $0 > agent.now } ?? true)
        }
        #expect(agent.publication == nil && agent.plan.status.lists.map(\.name) == ["old.plist"])
        folder.hasUnread = false
        let reading = Sample.reading([a])
        try agent.handle(.scanned(.listed(folder, present: ["new.plist"], changed: ["new.plist": reading])))
        try agent.pass(.seconds(1))
        try agent.handle(.scanned(.listed(folder, present: ["new.plist"], changed: [:])))
        try agent.finishPublication()
        #expect(try agent.published("new.plist") == [.ready(Sample.image("x"))])
        #expect(agent.requests.count == 1)
    }
}
