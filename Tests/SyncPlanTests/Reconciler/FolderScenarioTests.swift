// SPDX-License-Identifier: Apache-2.0
import AgentSettings
import AppLists
import CacheFormat
import Fleet
import Reports
import Testing

@testable import SyncPlan

@Suite("Folders that take the place of the lists folder")
struct FolderScenarioTests {
    private static let url: IconURL = "https://a.example/1.png"
    private static let other = ListedFolder(
        path: "/lists.d", identity: FolderIdentity(fileSystem: 2, device: 2, handle: [2]))

    private static func agent() -> AgentScenario {
        AgentScenario { $0.cache.grace = .zero }
    }

    /// An agent that has published a list, and to which the lists folder is another one and empty by now.
    private static func agentInDoubt() throws -> AgentScenario {
        var agent = agent()
        try agent.publish(["1.plist": [url: "x"]])
        agent.folder = other
        try agent.scan(["1.plist": nil])
        return agent
    }

    private static func expectDoubt(_ agent: AgentScenario) throws {
        let eviction = agent.plan.status.eviction
        #expect(
            eviction.state == "suspended" && eviction.reason?.hasPrefix("/lists.d is empty, but another folder") == true
        )
        #expect(agent.publication == nil && agent.release == nil && agent.isOnDisk("x"))
        #expect(agent.plan.status.lists.map(\.name) == ["1.plist"] && !agent.plan.status.inSync)
    }

    @Test("an empty lists folder is in doubt until the old one is back, over a restart too", arguments: [false, true])
    func back(isRestarted: Bool) throws {
        var agent = try Self.agentInDoubt()
        try Self.expectDoubt(agent)
        if isRestarted {
            try agent.restart()
            try agent.scan([:])
            try Self.expectDoubt(agent)
        }
        try agent.pass(.seconds(3600))
        try Self.expectDoubt(agent)
        agent.folder = Sample.folder
        try agent.scan(["1.plist": [Self.url]])
        #expect(agent.plan.status.eviction == .active && agent.plan.status.inSync && agent.downloads.isEmpty)
    }

    @Test("a lists folder with only a folder in the place of a list is in doubt")
    func folders() throws {
        var agent = Self.agent()
        try agent.publish(["1.plist": [Self.url: "x"]])
        var other = Self.other
        other.others = ["1.plist"]
        try agent.handle(.scanned(.listed(other, present: [], changed: [:])))
        try Self.expectDoubt(agent)
    }

    @Test("a restart doubts an empty folder in the place of the lists folder, known or unknown")
    func start() throws {
        for forgets in [false, true] {
            var agent = Self.agent()
            try agent.publish(["1.plist": [Self.url: "x"]])
            try agent.pass(.seconds(5))
            if forgets { agent.memory = SimulatedMemory() }
            agent.folder = Self.other
            try agent.restart()
            try agent.scan(["1.plist": nil])
            try Self.expectDoubt(agent)
        }
    }

    @Test(
        "a restart keeps an own list where an unknown empty folder leaves only the upstream's of that name, unless that was in force",
        arguments: [false, true], [false, true])
    func startBesideUpstream(wasAdopted: Bool, isMounted: Bool) throws {
        var agent = Self.agent()
        if wasAdopted { agent.folder.adopted = ["1.plist"] }
        try agent.publish(["1.plist": [Self.url: "x"]])
        try agent.pass(.seconds(5))
        if !isMounted { agent.folder = Self.other }
        agent.folder.adopted = ["1.plist"]
        try agent.restart()
        try agent.scan(["1.plist": ["https://a.example/2.png"]])
        if wasAdopted || isMounted {
            #expect(
                agent.plan.status.eviction == .active && agent.downloads.keys.map(\.text) == ["https://a.example/2.png"]
            )
        } else {
            try Self.expectDoubt(agent)
            #expect(agent.downloads.isEmpty)
        }
    }

    @Test("after the loss of the state, an upstream's list stays over restarts until the upstream has answered")
    func startWithoutState() throws {
        var agent = Self.agent()
        try agent.publish(["own.plist": [Self.url: "x"], "up.json": ["https://a.example/2.png": "y"]])
        agent.memory = SimulatedMemory()
        agent.settings.upstream.urls = [UpstreamSample.first]
        agent.settings.upstream.lists = [try #require(ListPattern("*.json"))]
        for _ in 0..<3 {
            try agent.restart()
            try agent.scan(["own.plist": [Self.url], "up.json": nil])
            try agent.pass(.seconds(60))
            try agent.finishJobs()
            #expect(try agent.published("up.json") == [UpstreamSample.ready("y")])
        }
        try agent.finishPoll([:])
        try agent.restart()
        try agent.scan(["own.plist": [Self.url], "up.json": nil])
        try agent.pass(.seconds(60))
        try agent.finishJobs()
        #expect(agent.plan.knownLists.keys.map(\.text) == ["own.plist"])
    }

    @Test("an own list that is removed between runs is gone, also if an upstream never answered")
    func removedBetweenRuns() throws {
        var agent = Self.agent()
        agent.settings.upstream.urls = [UpstreamSample.first]
        agent.settings.upstream.lists = [try #require(ListPattern("*.plist"))]
        try agent.restart()
        try agent.publish(["a.plist": [Self.url: "x"], "b.plist": ["https://a.example/2.png": "y"]])
        try agent.restart()
        try agent.scan(["a.plist": [Self.url], "b.plist": nil])
        try agent.pass(.seconds(60))
        try agent.scan(["a.plist": [Self.url], "b.plist": nil])
        #expect(agent.plan.knownLists.keys.map(\.text) == ["a.plist"])
    }

    @Test("a folder with a list is trusted as the lists folder from then on")
    func taken() throws {
        var agent = try Self.agentInDoubt()
        try agent.scan(["2.plist": []])
        #expect(agent.plan.status.eviction == .active && agent.plan.status.lists.map(\.name) == ["2.plist"])
        try agent.finishJobs()
        #expect(!agent.isOnDisk("x"))
        try agent.scan(["2.plist": nil])
        #expect(agent.plan.status.eviction == .active && agent.plan.status.lists.isEmpty)
    }

    @Test("a list from an upstream that came while the folder was in doubt is read once the folder is back")
    func adopted() throws {
        let new: IconURL = "https://a.example/2.png"
        var agent = try Self.agentInDoubt()
        for (changed, word) in [("https://a.example/old.png", "y"), (new, "z")] as [(IconURL, String)] {
            agent.folder.adopted = ["2.plist"]
            let reading = Sample.reading([changed])
            try agent.handle(.scanned(.listed(agent.folder, present: ["2.plist"], changed: ["2.plist": reading])))
            #expect(agent.downloads.isEmpty && agent.isOnDisk("x") && !agent.isOnDisk(word))
        }
        agent.folder = Sample.folder
        agent.folder.adopted = ["2.plist"]
        try agent.handle(.scanned(.listed(agent.folder, present: ["1.plist", "2.plist"], changed: [:])))
        try agent.finish(new, with: "z")
        try agent.finishJobs()
        #expect(try agent.published("2.plist") == [.ready(Sample.image("z"))] && agent.isOnDisk("x"))
        #expect(agent.plan.status.inSync && agent.plan.syncReport(of: []).isDone)
    }

    @Test("the lists folder without its lists is not in doubt, mounted anew or not")
    func emptied() throws {
        for device: UInt64 in [1, 7] {
            var agent = Self.agent()
            try agent.publish(["1.plist": [Self.url: "x"]])
            agent.folder.identity.device = device
            try agent.scan(["1.plist": nil])
            #expect(agent.plan.status.eviction == .active && agent.plan.status.lists.isEmpty)
        }
    }

    @Test("pins alone put no other folder in doubt")
    func pins() throws {
        var agent = Self.agent()
        try agent.scan([:])
        try agent.handle(.pin(url: Self.url, isPinned: true))
        agent.folder = Self.other
        try agent.scan([:])
        #expect(agent.plan.status.eviction == .active)
    }

    @Test(
        "a folder is the same by what its file system calls it, and by the file system",
        arguments: [
            (FolderIdentity(fileSystem: 1, device: 9, handle: [1]), true),
            (FolderIdentity(fileSystem: 1, device: 1, handle: [2]), false),
            (FolderIdentity(fileSystem: 2, device: 1, handle: [1]), false),
            (FolderIdentity(fileSystem: 0, device: 1, handle: [1]), true),
            (FolderIdentity(fileSystem: 0, device: 9, handle: [1]), false),
        ])
    func identity(other: FolderIdentity, isSame: Bool) {
        let folder = FolderIdentity(fileSystem: 1, device: 1, handle: [1])
        #expect(folder.isSame(as: other) == isSame && other.isSame(as: folder) == isSame)
    }
}
