// SPDX-License-Identifier: Apache-2.0
import AgentSettings
import CacheFormat
import FoundationEssentials
import HTTPRules
import Testing

/// `SOAK_URLS` in the environment is how many distinct URLs pass through; a million take some minutes.
@Suite("Distinct URLs without end pass through a small cache")
struct SoakTests {
    /// A server that has most images: every 13th origin is dead, every 17th URL is gone.
    private static func server(origins: Int) -> SimulatedServers.Server {
        { request, now in
            let number = Int(request.url.text.split(separator: "/").last?.prefix { $0 != "." } ?? "") ?? 0
            let time: Duration = .milliseconds(1)
            if number % origins % 13 == 0 { return (time, .failed(FetchFailure(.connect, "no connection"))) }
            if number % 17 == 0 { return (time, .failed(.status(404))) }
            let age = number % 3 == 0 ? "max-age=31536000" : "max-age=86400"
            let image = StagedImage(name: request.url.text, image: Sample.image(request.url.text))
            let response = StoredResponse(
                fields: HTTPFields([("Cache-Control", age)]), requestTime: now, responseTime: now)
            return (time, .image(image, response))
        }
    }

    @Test("the plan and the cache do not grow with the number of URLs that have passed")
    func soak() throws {
        let long = ProcessInfo.processInfo.environment["SOAK_URLS"].flatMap { Int($0) }
        let urls = long ?? 5000
        let (icons, origins) = long == nil ? (200, 1000) : (1000, 50_000)
        var agent = AgentScenario(servers: [:]) { $0.cache.grace = .seconds(120) }
        agent.servers.anyHost = Self.server(origins: origins)
        agent.servers.isMultiplexed = false
        // All origins have been seen by then, and every grace is over that began before the last tenth.
        let warm = max(urls / 4, long == nil ? 2000 : 60_000)
        var early: [String: Int] = [:]
        var late: [String: Int] = [:]
        var files = (early: 0, late: 0)
        var (passed, requests, next) = (0, 0, 0)
        while passed < urls {
            // One of ten lists gets other URLs every minute.
            let name: ListName = "\(passed / (icons / 10) % 10).plist"
            let new = (1...icons / 10).map { index -> IconURL in
                let number = passed + index
                return "https://o\(number % origins).example/\(number).png?signature=\(number &* 0x9E37_79B9)"
            }
            passed += new.count
            try agent.scan([name: new])
            try agent.run(for: .seconds(60))
            requests += agent.requests.count
            agent.clearHistory()
            guard passed >= next else { continue }
            next = passed + urls / 40
            let counts = Census(of: agent.plan).counts
            let count = agent.disk.staging.count + agent.disk.images.count + agent.disk.names.count
            if passed <= warm {
                early.merge(counts, uniquingKeysWith: max)
                files.early = max(files.early, count)
            } else {
                late.merge(counts, uniquingKeysWith: max)
                files.late = max(files.late, count)
            }
        }
        for (path, count) in late.sorted(by: { $0.key < $1.key }) {
            let before = early[path] ?? 0
            #expect(Double(count) <= 1.3 * Double(before) + 100, "\(path): \(count) elements, and \(before) at first")
        }
        #expect(Double(files.late) <= 1.3 * Double(files.early) + 100)
        print("\(passed) URLs, \(requests) requests, \(late.values.reduce(0, +)) elements in the plan")
    }
}
