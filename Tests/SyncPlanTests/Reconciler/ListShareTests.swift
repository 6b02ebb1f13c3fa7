// SPDX-License-Identifier: Apache-2.0
import AppLists
import CacheFormat
import HTTPRules
import Reports
import SyncPlan
import Testing

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

    private static func world(_ time: Duration = .seconds(1)) -> TimedWorld {
        var servers: [String: TimedWorld.Server] = [:]
        for host in hosts + ["other"] { servers[host] = TimedWorld.healthy(time) }
        return TimedWorld(servers)
    }

    /// A world in which a large list is being downloaded.
    private static func busyWorld(_ urls: [IconURL] = large) -> TimedWorld {
        var world = world()
        world.drop("large.plist", urls)
        world.run(for: .seconds(3))
        return world
    }

    /// How long a small list takes alone.
    private static func alone(_ urls: [IconURL]) -> Duration {
        var world = world()
        world.drop("small.plist", urls)
        world.run()
        return world.whole["small.plist"] ?? .zero
    }

    @Test("five icons behind 20,000 take twice the time that they take alone, and a second", arguments: Place.allCases)
    func small(place: Place) {
        var world = Self.busyWorld()
        let dropped = world.elapsed
        world.drop("small.plist", place.urls, beside: ["large.plist"])
        world.run(for: .seconds(20))
        let alone = Self.alone(place.urls)
        let time = world.whole["small.plist"].map { $0 - dropped }
        print("five icons, \(place): alone \(alone), behind 20,000 \(time.map { "\($0)" } ?? "not within 20 s")")
        #expect(time ?? .seconds(1000) <= alone * 2 + .seconds(1))
    }

    @Test("an icon of a small list that failed once does not wait for those of a large one that are new")
    func retry() {
        var servers: [String: TimedWorld.Server] = [:]
        for host in Self.hosts { servers[host] = TimedWorld.healthy(.seconds(1)) }
        var asked = 0
        servers["h3"] = { request in
            asked += request.url.text.contains("small") ? 1 : 0
            return request.url.text.contains("small") && asked == 1
                ? (.milliseconds(100), .failed(.timeout("100 ms"))) : TimedWorld.healthy(.seconds(1))(request)
        }
        var world = TimedWorld(servers)
        world.drop("large.plist", Self.large)
        world.run(for: .seconds(3))
        world.drop("small.plist", ["https://h3/small.png"], beside: ["large.plist"])
        world.run(for: .seconds(10))
        let time = world.whole["small.plist"].map { $0 - .seconds(3) }
        print("one icon that fails once, behind 20,000: \(time.map { "\($0)" } ?? "not within 10 s")")
        // A slot, the failure, at most a second until the retry, a slot, the image, and the publication.
        #expect(time ?? .seconds(1000) <= .seconds(5))
    }

    @Test("who waits for a small list does not wait for a large one")
    func syncReport() {
        var world = Self.busyWorld()
        world.drop("small.plist", Place.oneHost.urls, beside: ["large.plist"])
        #expect(!world.syncReport(of: ["small.plist"]).isDone)
        world.run(for: .seconds(5))
        // What is being published, or waits for it, is of the large list.
        for _ in 0..<50 {
            world.run(for: .milliseconds(30))
            #expect(world.syncReport(of: ["small.plist"]).isWhole)
        }
        #expect(!world.syncReport(of: ["large.plist"]).isDone && !world.syncReport(of: []).isDone)
        world.remove("small.plist", beside: ["large.plist", "small.plist"])
        #expect(!world.syncReport(of: ["small.plist"]).isDone)
        world.run(for: .seconds(1))
        let report = world.syncReport(of: ["small.plist"])
        #expect(report.isDone && report.missing == ["small.plist"])
    }

    @Test("a document of 15 MB holds back neither a small list, nor its removal, nor a pin")
    func publications() {
        var world = Self.busyWorld(Self.urls(50_000))
        world.run(for: .seconds(30))
        let generations = world.generations.count
        var time = world.elapsed
        func isNamed(_ list: ListName, _ isNamed: Bool) -> Bool {
            world.generations.contains {
                (time...time + .seconds(1)).contains($0.time) && $0.lists.contains(list) == isNamed
            }
        }
        world.drop("small.plist", [], beside: ["large.plist"])
        world.run(for: .seconds(1))
        #expect(isNamed("small.plist", true))
        time = world.elapsed
        world.pin("https://other/pinned.png")
        world.run(for: .seconds(1))
        #expect(isNamed("pins", true))
        time = world.elapsed
        world.remove("small.plist", beside: ["large.plist", "small.plist"])
        world.run(for: .seconds(1))
        #expect(isNamed("small.plist", false))
        #expect(world.generations.count > generations)
        let bytes = world.documentBytes["large.plist"] ?? 0
        print("documents of the large list in \(world.elapsed): \(bytes >> 20) MiB")
        #expect(bytes <= (33 + 3 * 16) << 20)
    }

    @Test("a large list that is touched every second writes no more than a megabyte a second, and all is told at last")
    func touched() {
        var world = Self.world(.milliseconds(20))
        var urls = (0..<10_000).map { IconURL("https://h0/\($0 % 10).png") }
        world.drop("large.plist", urls)
        world.run()
        for _ in 0..<60 {
            urls.append(urls.removeFirst())
            world.drop("large.plist", urls)
            world.run(for: .seconds(1))
        }
        let bytes = world.documentBytes["large.plist"] ?? 0
        print("a list of 10,000 entries changed every second: \(bytes >> 20) MiB in \(world.elapsed)")
        #expect(bytes <= (60 + 3 * 3) << 20)
        world.run()
        #expect(world.status.inSync)
    }

    @Test("a list of which only the time is another publishes nothing")
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
