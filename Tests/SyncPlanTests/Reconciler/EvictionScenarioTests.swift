// SPDX-License-Identifier: Apache-2.0
import AgentSettings
import AppLists
import CacheFormat
import HTTPRules
import Reports
import Testing

@testable import SyncPlan

@Suite("Evictions are held, suspended and asked for")
struct EvictionScenarioTests {
    private static let urls = (0..<30).map { IconURL("https://h.example/\($0).png") }

    /// An agent with thirty icons in one list.
    private static func agent() throws -> AgentScenario {
        var agent = AgentScenario {
            $0.cache.grace = .seconds(600)
            $0.fetch.perHost = 32
            $0.refresh.default = .seconds(1000 * 86_400)
        }
        try agent.scan(["1.plist": urls])
        while let url = agent.downloads.keys.first { try agent.finish(url, with: "image of \(url)") }
        while agent.publication != nil { try agent.finishPublication() }
        return agent
    }

    /// The same with the list removed, and the grace of its images over.
    private static func held() throws -> AgentScenario {
        var agent = try agent()
        try agent.scan(["1.plist": nil])
        try agent.finishPublication()
        try agent.pass(.seconds(601))
        return agent
    }

    @Test("an eviction of too many images is held until somebody confirms it")
    func confirmed() throws {
        var agent = try Self.held()
        #expect(agent.release == nil && agent.plan.status.eviction.state == "held")
        #expect(agent.plan.status.eviction.reason?.contains("30 of 30 images") ?? false)
        #expect(agent.plan.status.needsAttention && agent.disk.images.count == 30)
        try agent.handle(.evict(isConfirmed: false))
        #expect(agent.release == nil && agent.plan.status.eviction.state == "held")
        try agent.handle(.evict(isConfirmed: true))
        try agent.finishJobs()
        #expect(agent.disk.images.isEmpty && agent.plan.status.eviction == .active)
    }

    @Test("a list that shrinks step by step is held as if it shrank at once, and what it loses afterwards stays, too")
    func stepByStep() throws {
        var agent = try Self.agent()
        for count in stride(from: 27, through: 3, by: -3) {
            try agent.pass(.seconds(2))
            try agent.scan(["1.plist": Array(Self.urls.prefix(count))])
            try agent.finishJobs()
            #expect(agent.plan.status.eviction.state == (count > 9 ? "active" : "held"))
        }
        #expect(agent.plan.status.eviction.reason?.hasPrefix("21 of 30 images were retired") == true)
        let report = agent.plan.evictionSnapshot(now: agent.now).report()
        #expect(report.icons.count == 27 && report.icons.allSatisfy { !$0.goes && $0.reason.hasPrefix("held until") })
        try agent.handle(.evict(isConfirmed: false))
        try agent.pass(.seconds(601))
        try agent.finishJobs()
        #expect(agent.disk.images.count == 30)
        try agent.scan(["1.plist": Self.urls])
        try agent.finishJobs()
        #expect(agent.plan.status.eviction == .active && agent.requests.count == 30)
    }

    @Test("a list whose apps come and go is not held, however many were there within the grace")
    func turnover() throws {
        var agent = try Self.agent()
        for start in stride(from: 5, through: 60, by: 5) {
            try agent.pass(.seconds(2))
            try agent.scan(["1.plist": (start..<start + 30).map { IconURL("https://h.example/\($0).png") }])
            while let url = agent.downloads.keys.first { try agent.finish(url, with: "image of \(url)") }
            try agent.finishJobs()
            #expect(agent.plan.status.eviction == .active)
        }
        #expect(agent.plan.status.icons.retired > 30)
    }

    @Test("a restart, or an icon that is unpinned, forgets nothing that lists lost before", arguments: [true, false])
    func halves(isRestarted: Bool) throws {
        var agent = try Self.agent()
        try agent.handle(.pin(url: "https://h.example/pin.png", isPinned: true))
        try agent.finish("https://h.example/pin.png", with: "pin")
        try agent.scan(["1.plist": Array(Self.urls.prefix(15))])
        try agent.finishJobs()
        if isRestarted {
            try agent.restart()
            try agent.scan(["1.plist": Array(Self.urls.prefix(15))])
        } else {
            try agent.handle(.pin(url: "https://h.example/pin.png", isPinned: false))
        }
        try agent.finishJobs()
        #expect(agent.plan.status.eviction == .active)
        try agent.scan(["1.plist": []])
        #expect(agent.plan.status.eviction.state == "held")
    }

    @Test("icons that a user unpinned are no loss of the lists")
    func unpinned() throws {
        var agent = try Self.agent()
        for index in 30..<60 {
            let url = IconURL("https://h.example/\(index).png")
            try agent.handle(.pin(url: url, isPinned: true))
            try agent.finish(url, with: "image of \(url)")
        }
        try agent.finishJobs()
        try agent.scan(["1.plist": Array(Self.urls.dropLast())])
        try agent.finishJobs()
        for index in 30..<60 {
            try agent.handle(.pin(url: IconURL("https://h.example/\(index).png"), isPinned: false))
        }
        try agent.scan(["1.plist": Array(Self.urls.dropLast(2))])
        #expect(agent.plan.status.eviction == .active)
    }

    @Test("steps whose images are gone when the next one comes are not held")
    func slowly() throws {
        var agent = try Self.agent()
        for count in [20, 10, 0] {
            try agent.scan(["1.plist": Array(Self.urls.prefix(count))])
            try agent.finishPublication()
            try agent.pass(.seconds(601))
            try agent.finishJobs()
            #expect(agent.plan.status.eviction == .active && agent.disk.images.count == count)
        }
    }

    @Test("an eviction of too many images is held for a day at most")
    func old() throws {
        var agent = try Self.held()
        try agent.pass(.seconds(86_400 - 602))
        #expect(agent.release == nil && agent.plan.nextWake == agent.now + .seconds(1))
        try agent.passToNextWake()
        try agent.finishJobs()
        #expect(agent.disk.images.isEmpty)
    }

    @Test("lists that come back find their images, and nothing is held any more")
    func back() throws {
        var agent = try Self.held()
        try agent.scan(["2.plist": Self.urls])
        try agent.finishJobs()
        #expect(agent.requests.count == 30 && agent.plan.status.eviction == .active)
        #expect(agent.plan.status.icons.ready == 30 && agent.memory.values.holds.isEmpty)
    }

    @Test("lists that are put back one by one find their images: the grace of the others begins when the hold ends")
    func backOneByOne() throws {
        var agent = try Self.held()
        try agent.scan(["1.plist": Array(Self.urls.prefix(15))])
        try agent.finishJobs()
        #expect(agent.plan.status.eviction == .active)
        try agent.restart()
        try agent.scan(["1.plist": Array(Self.urls.prefix(15))])
        try agent.pass(.seconds(590))
        try agent.finishJobs()
        #expect(agent.disk.images.count == 30)
        try agent.scan(["1.plist": Array(Self.urls.prefix(20))])
        try agent.finishJobs()
        #expect(agent.requests.count == 30)
        try agent.pass(.seconds(601))
        try agent.finishJobs()
        #expect(agent.disk.images.count == 20)
    }

    @Test("a second mistake during a hold is held, too, for its own day, or for both if it takes several steps")
    func twice() throws {
        for step in [60, 10] {
            var agent = try Self.held()
            let others = (30..<90).map { IconURL("https://h.example/\($0).png") }
            try agent.scan(["2.plist": others])
            while let url = agent.downloads.keys.first { try agent.finish(url, with: "image of \(url)") }
            try agent.finishJobs()
            let start = agent.now
            for count in stride(from: 60 - step, through: 0, by: -step) {
                try agent.pass(.seconds(60))
                try agent.scan(["2.plist": Array(others.prefix(count))])
                try agent.finishJobs()
            }
            // The first hold began with the removal of the other list, before its grace.
            try agent.pass(start + .seconds(86_400 - 600) - agent.now)
            try agent.finishJobs()
            #expect(agent.plan.status.eviction.state == "held")
            #expect(agent.disk.images.count == (step == 60 ? 60 : 90))
            try agent.restart()
            try agent.scan(["2.plist": []])
            try agent.pass(.seconds(600))
            try agent.finishJobs()
            #expect(agent.disk.images.count == (step == 60 ? 60 : 90))
            try agent.pass(.seconds(400))
            try agent.finishJobs()
            #expect(agent.disk.images.isEmpty && agent.plan.status.eviction == .active)
        }
    }

    @Test("a list that comes and goes keeps the images of other lists no longer than twice their grace")
    func flapping() throws {
        var agent = try Self.agent()
        try agent.publish(["2.plist": ["https://h.example/new.png": "new"]])
        try agent.scan(["2.plist": nil])
        try agent.finishJobs()
        for _ in 0..<13 {
            for urls in [nil, Self.urls] {
                try agent.scan(["1.plist": urls])
                try agent.pass(.seconds(50))
                try agent.finishJobs()
            }
        }
        #expect(!agent.isOnDisk("new") && agent.requests.count == 31)
    }

    @Test("a list that shrinks during a hold, in steps above the grace, keeps its images until the end of its hold")
    func slowlyDuringHold() throws {
        var agent = try Self.agent()
        let others = (30..<90).map { IconURL("https://h.example/\($0).png") }
        try agent.scan(["2.plist": others])
        while let url = agent.downloads.keys.first { try agent.finish(url, with: "image of \(url)") }
        try agent.finishJobs()
        try agent.scan(["2.plist": nil])
        for count in stride(from: 20, through: 0, by: -10) {
            try agent.finishJobs()
            try agent.pass(.seconds(700))
            try agent.scan(["1.plist": Array(Self.urls.prefix(count))])
        }
        #expect(agent.plan.status.eviction.reason?.hasPrefix("90 of 90 images were retired") == true)
        try agent.pass(.seconds(86_400 - 700))
        try agent.finishJobs()
        #expect(agent.disk.images.count == 90)
        try agent.pass(.seconds(701))
        try agent.finishJobs()
        #expect(agent.disk.images.isEmpty)
    }

    @Test("images retired by other changes go after their grace during a hold")
    func others() throws {
        var agent = try Self.held()
        try agent.publish(["2.plist": ["https://h.example/new.png": "new"]])
        try agent.scan(["2.plist": nil])
        try agent.finishPublication()
        try agent.pass(.seconds(601))
        try agent.finishJobs()
        #expect(!agent.isOnDisk("new") && agent.disk.images.count == 30)
        #expect(agent.plan.status.eviction.state == "held")
    }

    @Test("a restart goes on holding, and a confirmation outlives it")
    func restart() throws {
        var agent = try Self.held()
        try agent.restart()
        try agent.scan([:])
        try agent.pass(.seconds(601))
        #expect(agent.release == nil && agent.plan.status.eviction.state == "held")
        try agent.handle(.evict(isConfirmed: true))
        try agent.restart()
        try agent.scan([:])
        #expect(agent.plan.status.eviction == .active)
        try agent.finishJobs()
        #expect(agent.disk.images.isEmpty)
    }

    @Test("a restart whose memory was lost takes too many retired images for a change that is held")
    func forgotten() throws {
        var agent = try Self.held()
        agent.memory = SimulatedMemory()
        try agent.restart()
        try agent.scan([:])
        try agent.pass(.seconds(601))
        #expect(agent.release == nil && agent.plan.status.eviction.state == "held")
    }

    @Test("images whose apps had others before a restart are no loss at the start", arguments: [true, false])
    func replaced(isRemembered: Bool) throws {
        var agent = try Self.agent()
        let new = Self.urls.map { IconURL("\($0)?new") }
        try agent.scan(["1.plist": new])
        while let url = agent.downloads.keys.first { try agent.finish(url, with: "image of \(url)") }
        while agent.publication != nil { try agent.finishPublication() }
        if !isRemembered { agent.memory = SimulatedMemory() }
        try agent.restart()
        try agent.scan(["1.plist": new])
        try agent.pass(.seconds(601))
        #expect(agent.plan.status.eviction.state != "held")
    }

    @Test("the grace goes on over a restart, and begins anew where nobody knows how long it has been")
    func grace() throws {
        for isRemembered in [true, false] {
            var agent = AgentScenario { $0.cache.grace = .seconds(600) }
            try agent.publish(["1.plist": ["https://h.example/a.png": "x"]])
            try agent.scan(["1.plist": nil])
            try agent.finishPublication()
            try agent.pass(.seconds(300))
            if !isRemembered { agent.memory = SimulatedMemory() }
            try agent.restart()
            try agent.scan([:])
            try agent.pass(.seconds(299))
            #expect(agent.release == nil)
            try agent.pass(.seconds(1))
            #expect((agent.release != nil) == isRemembered)
            try agent.pass(.seconds(300))
            #expect(agent.release == [1])
        }
    }

    @Test("no image is removed while a list cannot be read, for a reason that is not its own")
    func unreadable() throws {
        let reasons: [(ListRejection, isDoubt: Bool)] = [
            (.unreadable("permission denied"), true), (.parserUnavailable("no such file"), true),
            (.stillBeingWritten, true), (.emptyFile, false), (.noKnownShape, false),
        ]
        for (rejection, isDoubt) in reasons {
            var agent = AgentScenario { $0.cache.grace = .seconds(600) }
            try agent.publish(["1.plist": ["https://h.example/a.png": "x"]])
            // It may be the same list under another name.
            try agent.scan(["1.plist": nil], rejected: ["2.plist": rejection])
            try agent.finishPublication()
            try agent.pass(.seconds(601))
            #expect((agent.release == nil) == isDoubt, "\(rejection.code)")
            #expect((agent.plan.status.eviction.state == "suspended") == isDoubt, "\(rejection.code)")
            guard isDoubt else { continue }
            try agent.scan(["2.plist": nil])
            #expect(agent.release == [1])
        }
    }

    @Test("evict removes retired images at once, apart from leased ones")
    func now() throws {
        var agent = AgentScenario { $0.cache.grace = .seconds(600) }
        try agent.publish(["1.plist": ["https://h.example/a.png": "x"]])
        try agent.scan(["1.plist": nil])
        try agent.finishPublication()
        try agent.pass(.seconds(5))
        try agent.handle(.evict(isConfirmed: false))
        try agent.finishRelease(leases: [1])
        #expect(agent.isOnDisk("x"))
        try agent.pass(.seconds(2))
        try agent.finishJobs()
        #expect(!agent.isOnDisk("x"))
    }

    /// An agent that lost fifty of a hundred icons in three lists for good, and had the list with forty others removed.
    private static func lostAndHeld() throws -> AgentScenario {
        func urls(_ list: String, _ count: Int) -> [IconURL] {
            (0..<count).map { IconURL("https://h.example/\(list)/\($0).png") }
        }
        let (lost, gone, kept) = (urls("lost", 50), urls("gone", 40), urls("kept", 10))
        var agent = AgentScenario {
            $0.cache.grace = .seconds(600)
            $0.fetch.perHost = 100
            $0.fetch.concurrency = 100
            $0.refresh.default = .seconds(1000 * 86_400)
        }
        try agent.scan(["lost.plist": lost, "gone.plist": gone, "kept.plist": kept])
        while let url = agent.downloads.keys.first { try agent.finish(url, with: url) }
        while agent.publication != nil { try agent.finishPublication() }
        try agent.restart(losing: Set(lost.map { Sample.image($0.text).sha256 }))
        try agent.scan([:])
        while !agent.downloads.isEmpty { try agent.finishAll(.failed(.status(404))) }
        try agent.finishJobs()
        // The generations that named what was lost go.
        try agent.pass(.seconds(601))
        while !agent.downloads.isEmpty { try agent.finishAll(.failed(.status(404))) }
        try agent.finishJobs()
        #expect(agent.plan.status.cache.images == 50 && agent.plan.status.eviction == .active)
        try agent.scan(["gone.plist": nil])
        try agent.finishJobs()
        return agent
    }

    @Test("images that were lost do not loosen the brake")
    func lostImages() throws {
        var agent = try Self.lostAndHeld()
        #expect(agent.plan.status.eviction.reason?.contains("40 of 50 images") ?? false)
        for _ in 0..<3 {
            try agent.scan([:])
            try agent.pass(.seconds(601))
            while !agent.downloads.isEmpty { try agent.finishAll(.failed(.status(404))) }
            try agent.finishJobs()
            #expect(agent.plan.status.eviction.state == "held" && agent.disk.images.count == 50)
        }
        try agent.restart()
        try agent.scan([:])
        try agent.pass(.seconds(601))
        while !agent.downloads.isEmpty { try agent.finishAll(.failed(.status(404))) }
        try agent.finishJobs()
        #expect(agent.plan.status.eviction.state == "held" && agent.disk.images.count == 50)
        try agent.handle(.evict(isConfirmed: true))
        try agent.finishJobs()
        #expect(agent.disk.images.count == 10 && agent.plan.status.eviction == .active)
    }

    @Test("a held eviction stays held when some of its images are lost")
    func lostWhileHeld() throws {
        var agent = try Self.held()
        try agent.restart(losing: Set(Self.urls.prefix(15).map { Sample.image("image of \($0)").sha256 }))
        try agent.scan([:])
        try agent.pass(.seconds(601))
        try agent.finishJobs()
        #expect(agent.plan.status.eviction.state == "held" && agent.disk.images.count == 15)
        // The others come back, and so does the list.
        try agent.scan(["1.plist": Self.urls])
        #expect(agent.plan.status.eviction == .active && agent.memory.values.holds.isEmpty)
    }

    @Test("evict ends no grace of a generation that retires nothing")
    func waivesNothing() throws {
        var agent = AgentScenario { $0.cache.grace = .seconds(600) }
        try agent.publish(["1.plist": ["https://h.example/a.png": "x"]])
        try agent.publish(["2.plist": ["https://h.example/b.png": "y"]])
        try agent.pass(.seconds(60))
        try agent.handle(.evict(isConfirmed: false))
        #expect(agent.release == nil)
        try agent.pass(.seconds(540))
        #expect(agent.release == [1])
    }

    @Test("evict leaves a generation that was superseded a moment ago some seconds")
    func waivesNotAtOnce() throws {
        var agent = AgentScenario { $0.cache.grace = .seconds(600) }
        try agent.publish(["1.plist": ["https://h.example/a.png": "x"]])
        try agent.scan(["1.plist": nil])
        try agent.finishPublication()
        try agent.handle(.evict(isConfirmed: false))
        #expect(agent.release == nil && !agent.plan.isEvictionSettled(at: agent.now))
        try agent.pass(.milliseconds(4999))
        #expect(agent.release == nil)
        try agent.pass(.milliseconds(1))
        #expect(agent.release == [1])
        try agent.finishJobs()
        #expect(!agent.isOnDisk("x") && agent.plan.isEvictionSettled(at: agent.now))
    }

    @Test("the grace and the hold of retired images do not pass while the system sleeps")
    func sleep() throws {
        for isRunning in [true, false] {
            var agent = AgentScenario { $0.cache.grace = .seconds(600) }
            try agent.publish(["1.plist": ["https://h.example/a.png": "x"]])
            try agent.scan(["1.plist": nil])
            try agent.finishPublication()
            try agent.pass(.seconds(300))
            try agent.sleep(.seconds(8 * 3600), isRunning: isRunning)
            if !isRunning {
                try agent.restart()
                try agent.scan([:])
            }
            #expect(agent.release == nil && agent.plan.nextWake == agent.now + .seconds(300))
            try agent.pass(.seconds(299))
            #expect(agent.release == nil)
            try agent.pass(.seconds(1))
            #expect(agent.release == [1])
        }
        var agent = try Self.held()
        try agent.sleep(.seconds(3 * 86_400))
        #expect(agent.release == nil && agent.plan.status.eviction.state == "held")
        try agent.pass(.seconds(86_400 - 602))
        #expect(agent.release == nil && agent.plan.nextWake == agent.now + .seconds(1))
    }

    @Test("files that cannot be removed are retried a minute later, or at once when somebody asks")
    func stuck() throws {
        var agent = AgentScenario { $0.cache.grace = .seconds(600) }
        try agent.publish(["1.plist": ["https://h.example/a.png": "x", "https://h.example/b.png": "y"]])
        try agent.scan(["1.plist": nil])
        try agent.finishPublication()
        try agent.pass(.seconds(600))
        try agent.finishRelease()
        let plan = try #require(agent.removal)
        try agent.finishRemoval(failed: plan)
        #expect(agent.removal == nil)
        #expect(agent.plan.status.cache.images == 2 && agent.plan.isEvictionSettled(at: agent.now))
        try agent.pass(.seconds(59))
        #expect(agent.removal == nil && agent.plan.nextWake == agent.now + .seconds(1))
        try agent.pass(.seconds(1))
        #expect(agent.removal == plan)
        var failed = RetirementPlan()
        failed.images = plan.images.filter { $0.sha256 == Sample.image("x").sha256 }
        try agent.finishRemoval(failed: failed)
        #expect(agent.isOnDisk("x") && !agent.isOnDisk("y") && agent.plan.status.cache.images == 1)
        // A list names its URL again meanwhile, and then no more.
        try agent.publish(["1.plist": ["https://h.example/a.png": "x"]])
        #expect(agent.isOnDisk("x") && agent.disk.staging.isEmpty)
        try agent.pass(.seconds(60))
        #expect(agent.removal == nil)
        try agent.scan(["1.plist": nil])
        try agent.finishPublication()
        try agent.pass(.seconds(5))
        try agent.handle(.evict(isConfirmed: false))
        try agent.finishRelease()
        try agent.finishRemoval(failed: failed)
        try agent.handle(.evict(isConfirmed: false))
        try agent.finishRemoval()
        #expect(agent.disk.images.isEmpty && agent.plan.status.cache.images == 0)
    }

    @Test("a lease that is too old does not count")
    func lease() throws {
        var agent = AgentScenario {
            $0.cache.grace = .seconds(600)
            $0.cache.leaseMax = .seconds(3600)
        }
        try agent.publish(["1.plist": ["https://h.example/a.png": "x"]])
        try agent.scan(["1.plist": nil])
        try agent.finishPublication()
        try agent.pass(.seconds(3599))
        try agent.finishRelease(leases: [1])
        #expect(agent.isOnDisk("x"))
        try agent.pass(.seconds(2))
        try agent.finishRelease(leases: [1])
        try agent.finishRemoval()
        #expect(!agent.isOnDisk("x"))
    }
}
