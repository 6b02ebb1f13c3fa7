// SPDX-License-Identifier: Apache-2.0
import AppLists
import CacheFormat
import HTTPRules
import Reports
import Testing

@testable import SyncPlan

@Suite("Small lists beside a large one")
struct ListShareTests {
    private static let hosts = (0..<10).map { "h\($0)" }
    private static let large = urls(20_000)

    private static func urls(_ count: Int) -> [IconURL] {
        (0..<count).map { IconURL("https://h\($0 % 10)/\($0).png") }
    }

    /// Where the icons of a small list are.
    enum Place: CaseIterable {
        case oneHost, allHosts, ownHost

        var urls: [IconURL] {
            (0..<5).map { number in
                switch self {
                case .oneHost: "https://h3/small \(number).png"
                case .allHosts: "https://h\(number)/small \(number).png"
                case .ownHost: "https://other/small \(number).png"
                }
            }
        }
    }

    /// An agent whose servers answer after this time.
    private static func agent(_ time: Duration = .seconds(1)) -> AgentScenario {
        var servers: [String: SimulatedServers.Server] = [:]
        for host in hosts + ["other"] { servers[host] = SimulatedServers.healthy(time) }
        return AgentScenario(servers: servers)
    }

    /// An agent that is downloading a large list.
    private static func busyAgent(_ urls: [IconURL] = large) throws -> AgentScenario {
        var agent = Self.agent()
        try agent.scan(["large.plist": urls])
        try agent.run(for: .seconds(3))
        return agent
    }

    /// How long a small list takes alone.
    private static func alone(_ urls: [IconURL]) throws -> Duration {
        var agent = Self.agent()
        try agent.scan(["small.plist": urls])
        try agent.run()
        return try #require(agent.whole["small.plist"]) - Sample.start
    }

    @Test(
        "five icons behind 20,000 take at most a second more than twice the time that they take alone",
        arguments: Place.allCases)
    func small(place: Place) throws {
        var agent = try Self.busyAgent()
        let added = agent.now
        try agent.scan(["small.plist": place.urls])
        try agent.run(for: .seconds(20))
        let alone = try Self.alone(place.urls)
        let time = agent.whole["small.plist"].map { $0 - added }
        print("five icons, \(place): alone \(alone), behind 20,000 \(time.map { "\($0)" } ?? "not within 20 s")")
        #expect(time ?? .seconds(1000) <= alone * 2 + .seconds(1))
    }

    @Test("a failed icon of a small list does not wait for the new icons of a large list")
    func retry() throws {
        var servers: [String: SimulatedServers.Server] = [:]
        for host in Self.hosts { servers[host] = SimulatedServers.healthy(.seconds(1)) }
        var asked = 0
        servers["h3"] = { request, now in
            asked += request.url.text.contains("small") ? 1 : 0
            return request.url.text.contains("small") && asked == 1
                ? (.milliseconds(100), .failed(.timeout("100 ms")))
                : SimulatedServers.healthy(.seconds(1))(request, now)
        }
        var agent = AgentScenario(servers: servers)
        try agent.scan(["large.plist": Self.large])
        try agent.run(for: .seconds(3))
        let added = agent.now
        try agent.scan(["small.plist": ["https://h3/small.png"]])
        try agent.run(for: .seconds(10))
        let time = agent.whole["small.plist"].map { $0 - added }
        print("one icon that fails once, behind 20,000: \(time.map { "\($0)" } ?? "not within 10 s")")
        // A slot, the failure, at most a second until the retry, a slot, the image, and the publication.
        #expect(time ?? .seconds(1000) <= .seconds(5))
    }

    @Test("a sync that waits for a small list does not wait for a large list")
    func syncReport() throws {
        var agent = try Self.busyAgent()
        try agent.scan(["small.plist": Place.oneHost.urls])
        #expect(!agent.plan.syncReport(of: ["small.plist"]).isDone)
        try agent.run(for: .seconds(5))
        // What is being published, or waits for it, is of the large list.
        for _ in 0..<50 {
            try agent.run(for: .milliseconds(30))
            #expect(agent.plan.syncReport(of: ["small.plist"]).isWhole)
        }
        #expect(!agent.plan.syncReport(of: ["large.plist"]).isDone && !agent.plan.syncReport(of: []).isDone)
        try agent.scan(["small.plist": nil])
        #expect(!agent.plan.syncReport(of: ["small.plist"]).isDone)
        try agent.run(for: .seconds(1))
        let report = agent.plan.syncReport(of: ["small.plist"])
        #expect(report.isDone && report.missing == ["small.plist"])
    }

    @Test("a document of 15 MB holds back neither a small list, nor its removal, nor a pin")
    func publications() throws {
        var agent = try Self.busyAgent(Self.urls(50_000))
        try agent.run(for: .seconds(30))
        let generations = agent.disk.generations.count
        var time = agent.now
        func isNamed(_ list: ListName, _ isNamed: Bool) -> Bool {
            agent.disk.generations.values.contains {
                (time...time + .seconds(1)).contains($0.published) && ($0.lists[list] != nil) == isNamed
            }
        }
        try agent.scan(["small.plist": []])
        try agent.run(for: .seconds(1))
        #expect(isNamed("small.plist", true))
        time = agent.now
        try agent.handle(.pin(url: "https://other/pinned.png", isPinned: true))
        try agent.run(for: .seconds(1))
        #expect(isNamed("pins", true))
        time = agent.now
        try agent.scan(["small.plist": nil])
        try agent.run(for: .seconds(1))
        #expect(isNamed("small.plist", false))
        #expect(agent.disk.generations.count > generations)
        let bytes = agent.disk.documentBytes["large.plist"] ?? 0
        print("documents of the large list in \(agent.elapsed): \(bytes >> 20) MiB")
        #expect(bytes <= (33 + 3 * 16) << 20)
    }

    @Test("a list that changes every second writes at most a megabyte a second, and is in sync in the end")
    func touched() throws {
        var agent = Self.agent(.milliseconds(20))
        var urls = (0..<10_000).map { IconURL("https://h0/\($0 % 10).png") }
        try agent.scan(["large.plist": urls])
        try agent.run()
        for _ in 0..<20 {
            urls.append(urls.removeFirst())
            try agent.scan(["large.plist": urls])
            try agent.run(for: .seconds(1))
        }
        let bytes = agent.disk.documentBytes["large.plist"] ?? 0
        print("a list of 10,000 entries changed every second: \(bytes >> 20) MiB in \(agent.elapsed)")
        #expect(bytes <= (20 + 3 * 3) << 20)
        try agent.run()
        #expect(agent.plan.status.inSync)
    }

    @Test("a list whose modification time alone changes publishes nothing")
    func touchedOnly() throws {
        var agent = AgentScenario()
        try agent.publish(["1.plist": ["https://h/1": "x"]])
        var reading = Sample.reading(["https://h/1"])
        reading.source?.modified = Sample.start + .seconds(60)
        try agent.handle(.scanned(.listed(Sample.folder, present: ["1.plist"], changed: ["1.plist": reading])))
        try agent.pass(.seconds(10))
        #expect(agent.publication == nil && agent.plan.status.inSync)
    }
}
