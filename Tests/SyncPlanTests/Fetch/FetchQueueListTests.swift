// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import Testing

@testable import SyncPlan

@Suite("The queue of downloads and the lists that share it")
struct FetchQueueListTests {
    private static func queue(concurrency: Int = 4, perOrigin: Int = 4) -> FetchQueue {
        FetchQueue(concurrency: concurrency, perOrigin: perOrigin, untrusted: 2 * concurrency)
    }

    /// The order in which what is queued is started, one after the other.
    private static func order(_ queue: inout FetchQueue, _ count: Int) -> [IconURL] {
        var order: [IconURL] = []
        while order.count < count {
            let started = queue.start()
            guard !started.isEmpty else { return order }
            order += started
            for url in started { queue.finish(url) }
        }
        return order
    }

    @Test(
        "a small list that comes behind a large one goes next, on the same origin or on another", arguments: ["a", "b"])
    func behind(origin: String) {
        var queue = Self.queue()
        for number in 0..<50_000 { queue.add("a\(number)", origin: "a", list: "large", priority: .new) }
        _ = Self.order(&queue, 100)
        for number in 0..<5 { queue.add("small \(number)", origin: origin, list: "small", priority: .new) }
        let next = Self.order(&queue, 12)
        #expect(next.prefix(10).count { $0.text.hasPrefix("small") } == 5, "\(next)")
    }

    @Test("a failed URL of a small list does not wait for the new URLs of a large list")
    func retry() {
        var queue = Self.queue(concurrency: 2)
        for number in 0..<1000 { queue.add("a\(number)", origin: "a", list: "large", priority: .new) }
        _ = Self.order(&queue, 100)
        queue.add("small", origin: "a", list: "small", priority: .retry)
        #expect(Self.order(&queue, 4).contains("small"))
    }

    @Test("large lists get the same share, on one origin and on many, and none is starved by lists that come and go")
    func shares() {
        for origins in [1, 10] {
            var queue = Self.queue()
            for list: ListName in ["x", "y", "z"] {
                for number in 0..<3000 {
                    queue.add("\(list) \(number)", origin: "\(number % origins)", list: list, priority: .new)
                }
            }
            var served: [Character: Int] = [:]
            for round in 0..<300 {
                if round % 10 == 0 { queue.add("s\(round)", origin: "0", list: "\(round)", priority: .new) }
                for url in Self.order(&queue, 4) { served[url.text.first ?? "?", default: 0] += 1 }
            }
            let large = ["x", "y", "z"].compactMap { served[$0] }
            #expect(large.count == 3 && large.allSatisfy { (360...400).contains($0) } && served["s"] == 30, "\(served)")
        }
    }

    @Test("a list that was served little because its origin has few slots is not owed more than a few downloads")
    func noDebt() {
        var queue = Self.queue(concurrency: 8, perOrigin: 1)
        for number in 0..<5000 {
            queue.add("x\(number)", origin: "\(number % 100)", list: "x", priority: .new)
            queue.add("y\(number)", origin: "slow", list: "y", priority: .new)
        }
        let slow = queue.start().filter { $0.text.hasPrefix("y") }
        #expect(slow.count == 1)
        for _ in 0..<400 {
            for url in queue.start() where url.text.hasPrefix("x") { queue.finish(url) }
            for url in queue.activeURLs where url.text.hasPrefix("x") { queue.finish(url) }
        }
        for url in slow { queue.finish(url) }
        for number in 0..<50 { queue.add("z\(number)", origin: "slow", list: "z", priority: .new) }
        let next = Self.order(&queue, 300).filter { !$0.text.hasPrefix("x") }
        #expect(next.prefix(40).contains { $0.text.hasPrefix("z") }, "\(next)")
    }

    @Test("icons that somebody waits for go before the others of their list, which gets a larger share for them")
    func awaited() {
        var queue = Self.queue(concurrency: 1)
        for list: ListName in ["x", "y"] {
            for number in 0..<200 { queue.add("\(list)\(number)", origin: "a", list: list, priority: .new) }
        }
        _ = Self.order(&queue, 100)
        for number in 150..<200 { queue.raise("y\(number)") }
        let next = Self.order(&queue, 50)
        let awaited = (150..<200).map { IconURL("y\($0)") }
        #expect(next.filter { $0.text.hasPrefix("y") } == Array(awaited.prefix(next.count { $0.text.hasPrefix("y") })))
        #expect((36...46).contains(next.count { $0.text.hasPrefix("y") }), "\(next)")
    }

    @Test("an icon can come to count for another list")
    func moved() {
        var queue = Self.queue(concurrency: 1)
        for number in 0..<1000 { queue.add("\(number)", origin: "a", list: "large", priority: .new) }
        _ = Self.order(&queue, 50)
        queue.move("999", to: "small")
        queue.move("999", to: "small")
        queue.move("unknown", to: "small")
        #expect(queue.queuedCount == 950)
        #expect(Self.order(&queue, 2).contains("999"))
        #expect(Self.order(&queue, 2000).count == 948 && queue.isEmpty)
    }

    @Test("an origin with HTTP/2 takes every slot alone, and starts none beyond half of them while others wait")
    func multiplexed() {
        var queue = Self.queue(concurrency: 32)
        for number in 0..<500 { queue.add("h\(number)", origin: "h", list: "1", priority: .new) }
        queue.trust("h")
        queue.setMultiplexed("h", true)
        var active = queue.start()
        #expect(active.count == 32)
        for origin in 0..<10 {
            for number in 0..<50 { queue.add("o\(origin) \(number)", origin: "o\(origin)", list: "1", priority: .new) }
        }
        for _ in 0..<100 {
            queue.finish(active.removeFirst())
            let started = queue.start()
            #expect(started.count == 1)
            active += started
        }
        #expect(queue.activeURLs.count { $0.text.hasPrefix("h") } <= 16)
    }

    @Test(
        "queued icons of many lists cost constant time each, whatever origins they share",
        arguments: [1, 100, 2_000])
    func size(origins: Int) {
        expectLinearTime(from: 500) { count in
            var queue = FetchQueue(concurrency: 32, perOrigin: 4)
            for number in 0..<count {
                queue.add("u\(number)", origin: "o\(number % origins)", list: "\(number / 40)", priority: .new)
            }
            for number in stride(from: 0, to: count, by: 5) { queue.raise("u\(number)") }
            for number in stride(from: 0, to: count, by: 7) { queue.move("u\(number)", to: "other") }
            let done = queue.drain()
            #expect(done == count)
        }
    }
}
