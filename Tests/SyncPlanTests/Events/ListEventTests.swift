// SPDX-License-Identifier: Apache-2.0
import AppLists
import CacheFormat
import Reports
import Testing

@testable import SyncPlan

@Suite("Events of lists that are not accepted, or not read yet")
struct ListEventTests {
    private static let mail: IconURL = "https://a.example/mail"

    /// An agent that has told of a list that is kept and of one that is rejected, and has stored that.
    private static func told() throws -> AgentScenario {
        var agent = AgentScenario()
        try agent.publish(["a.plist": [mail: "mail"]])
        try agent.scan([:], rejected: ["a.plist": .emptyFile, "b.plist": .emptyFile])
        try agent.finishJobs()
        try agent.pass(.seconds(2))
        return agent
    }

    @Test(
        "a restart emits only new events of a list that is not accepted",
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
        try agent.scan(lists, rejected: rejected)
        // What is missing is gone at the second look.
        try agent.pass(.seconds(5))
        try agent.scan()
        let events = agent.events.filter { $0.list != nil }
        #expect(events.sorted { ($0.list ?? "") < ($1.list ?? "") } == told)
    }

    @Test("a list that was kept is told as rejected once its last good version is lost")
    func lost() throws {
        var agent = try Self.told()
        try agent.restart(on: SimulatedDisk())
        agent.events = []
        try agent.scan([:], rejected: ["a.plist": .emptyFile, "b.plist": .emptyFile])
        #expect(agent.events.filter { $0.list != nil } == [.listRejected("a.plist", .emptyFile)])
    }

    @Test("reported rejections are stored again after the state was lost")
    func stored() throws {
        var agent = try Self.told()
        agent.memory = SimulatedMemory()
        try agent.handle(.memoryLost(.removed))
        try agent.pass(.seconds(2))
        try agent.restart()
        agent.events = []
        try agent.scan([:], rejected: ["a.plist": .emptyFile, "b.plist": .emptyFile])
        #expect(agent.events.allSatisfy { $0.list == nil })
    }

    // MARK: Eviction

    /// A look at the folder, and what it has told of evictions.
    struct Look: Sendable {
        var present: Set<ListName> = ["a.plist", "b.plist"]
        var changed: [ListName: ListVerdict] = [:]
        var shortage: String?
        var told: [AgentEvent.Kind] = []
        /// What the status says, and whether evictions rest.
        var state: Word<StatusReport.Eviction.State> = "active"
        var rests = false
    }

    private static let good = ListVerdict.success(AppList(entries: [AppEntry(icon: mail)]))
    private static let unreadable = ListVerdict.failure(.unreadable("permission denied"))

    @Test(
        "evictions rest while lists are read, and only a long rest emits an event",
        arguments: [
            // A new list is read at the next look.
            [Look(rests: true), Look(changed: ["b.plist": good])],
            // It is read and not accepted.
            [Look(rests: true), Look(changed: ["b.plist": .failure(.emptyFile)])],
            // It is being written for too long.
            [
                Look(rests: true),
                Look(
                    changed: ["b.plist": .failure(.stillBeingWritten)], told: [.evictionSuspended], state: "suspended",
                    rests: true),
                Look(changed: ["b.plist": good], told: [.evictionActive]),
            ],
            // One cannot be read, and another one is new when it can.
            [
                Look(changed: ["b.plist": unreadable], told: [.evictionSuspended], state: "suspended", rests: true),
                Look(present: ["a.plist", "b.plist", "c.plist"], state: "suspended", rests: true),
                Look(present: ["a.plist", "b.plist", "c.plist"], changed: ["b.plist": good], rests: true),
                Look(
                    present: ["a.plist", "b.plist", "c.plist"], changed: ["c.plist": good], told: [.evictionActive]),
            ],
            // The agent lacks what it takes to read it.
            [
                Look(shortage: "too many open files", told: [.evictionSuspended], state: "suspended", rests: true),
                Look(rests: true), Look(changed: ["b.plist": good], told: [.evictionActive]),
            ],
        ])
    func evictions(looks: [Look]) throws {
        var agent = AgentScenario()
        try agent.publish(["a.plist": [Self.mail: "mail"]])
        try agent.finishJobs()
        for (number, look) in looks.enumerated() {
            agent.events = []
            var folder = agent.folder
            folder.shortage = look.shortage
            let readings = look.changed.mapValues { ListReading(source: Sample.source([Self.mail]), verdict: $0) }
            try agent.handle(.scanned(.listed(folder, present: look.present, changed: readings)))
            let told = agent.events.map(\.kind).filter { "\($0)".hasPrefix("eviction") }
            #expect(told == look.told, "look \(number)")
            #expect(agent.plan.status.eviction.state == look.state, "look \(number)")
            #expect((agent.plan.evictionStatus.state == "suspended") == look.rests, "look \(number)")
        }
    }
}
