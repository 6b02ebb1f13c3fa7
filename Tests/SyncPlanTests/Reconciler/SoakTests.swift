// SPDX-License-Identifier: Apache-2.0
import FoundationEssentials
import Testing

/// `SOAK_URLS` in the environment is how many distinct URLs pass through; a million take some minutes.
@Suite("Distinct URLs without end pass through a small cache")
struct SoakTests {
    @Test("nothing that is kept of them grows")
    func soak() throws {
        let long = ProcessInfo.processInfo.environment["SOAK_URLS"].flatMap { Int($0) }
        let urls = long ?? 8000
        var world = long == nil ? PassingWorld(icons: 200, origins: 1000) : PassingWorld(icons: 1000, origins: 50_000)
        // All origins have been seen by then, and every grace is over that began before the last tenth.
        let warm = max(urls / 4, long == nil ? 2000 : 60_000)
        var early: [String: Int] = [:]
        var late: [String: Int] = [:]
        var files = (early: 0, late: 0)
        var next = 0
        while world.urls < urls {
            world.step()
            guard world.urls >= next else { continue }
            next = world.urls + urls / 40
            let counts = Census(of: world.plan).counts
            if world.urls <= warm {
                early.merge(counts, uniquingKeysWith: max)
                files.early = max(files.early, world.files.count)
            } else {
                late.merge(counts, uniquingKeysWith: max)
                files.late = max(files.late, world.files.count)
            }
        }
        for (path, count) in late.sorted(by: { $0.key < $1.key }) {
            let before = early[path] ?? 0
            #expect(Double(count) <= 1.3 * Double(before) + 100, "\(path): \(count) elements, and \(before) at first")
        }
        #expect(Double(files.late) <= 1.3 * Double(files.early) + 100)
        print("\(world.urls) URLs, \(world.requests) requests, \(late.values.reduce(0, +)) elements in the plan")
    }
}
