// SPDX-License-Identifier: Apache-2.0
import AppLists
import CacheFormat
import SyncPlan
import Testing

@Suite("Events of lists that are not accepted")
struct ListEventTests {
    private static let mail: IconURL = "https://a.example/mail"

    /// An agent that has told of a list that is kept and of one that is rejected, and has stored that.
    private static func told() throws -> AgentScenario {
        var agent = AgentScenario()
        try agent.publish(["a.plist": [mail: "mail"]])
        try agent.drop([:], rejected: ["a.plist": .emptyFile, "b.plist": .emptyFile])
        try agent.finishJobs()
        try agent.pass(.seconds(2))
        return agent
    }

    @Test(
        "a restart tells only what is new of a list that is not accepted",
        arguments: [
            ([:], ["a.plist": .emptyFile, "b.plist": .emptyFile], []),
            (
                [:], ["a.plist": .noKnownShape, "b.plist": .noKnownShape],
                [.listKept("a.plist", .noKnownShape), .listRejected("b.plist", .noKnownShape)]
            ),
            (
                ["a.plist": [mail], "b.plist": []], [:],
                [.listAccepted("a.plist", apps: 1, problems: 0), .listAccepted("b.plist", apps: 0, problems: 0)]
            ),
            (["b.plist": nil], ["a.plist": .emptyFile], [.listRemoved("b.plist")]),
        ] as [([ListName: [IconURL]?], [ListName: ListRejection], [AgentEvent])])
    func restart(lists: [ListName: [IconURL]?], rejected: [ListName: ListRejection], told: [AgentEvent]) throws {
        var agent = try Self.told()
        try agent.restart()
        agent.events = []
        try agent.drop(lists, rejected: rejected)
        // What is missing is gone at the second look.
        try agent.pass(.seconds(5))
        try agent.look()
        let events = agent.events.filter { $0.list != nil }
        #expect(events.sorted { ($0.list ?? "") < ($1.list ?? "") } == told)
    }

    @Test("a list that was kept is told as rejected once its last good version is lost")
    func lost() throws {
        var agent = try Self.told()
        try agent.restart(on: SimulatedDisk())
        agent.events = []
        try agent.drop([:], rejected: ["a.plist": .emptyFile, "b.plist": .emptyFile])
        #expect(agent.events.filter { $0.list != nil } == [.listRejected("a.plist", .emptyFile)])
    }

    @Test("what was told is stored again when the state was lost")
    func stored() throws {
        var agent = try Self.told()
        agent.memory = SimulatedMemory()
        try agent.handle(.memoryLost)
        try agent.pass(.seconds(2))
        try agent.restart()
        agent.events = []
        try agent.drop([:], rejected: ["a.plist": .emptyFile, "b.plist": .emptyFile])
        #expect(agent.events.allSatisfy { $0.list == nil })
    }
}
