// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import Testing

@testable import SyncPlan

@Suite("The queue of downloads")
struct FetchQueueTests {
    private static func queue(concurrency: Int = 100, perOrigin: Int = 100, _ urls: [IconURL]) -> FetchQueue {
        var queue = FetchQueue(concurrency: concurrency, perOrigin: perOrigin, untrusted: 2 * concurrency)
        for url in urls { queue.add(url, origin: String(url.text.prefix(1)), priority: .new) }
        return queue
    }

    @Test("a URL is downloaded once, however often it is added")
    func singleFlight() {
        var queue = Self.queue(["a1", "a1"])
        #expect(queue.queuedCount == 1)
        #expect(queue.start() == ["a1"])
        queue.add("a1", origin: "a", priority: .retry)
        #expect(queue.queuedCount == 0 && queue.activeCount == 1)
        #expect(queue.start().isEmpty)
        queue.finish("a1")
        #expect(queue.isEmpty)
        queue.add("a1", origin: "a", priority: .retry)
        #expect(queue.start() == ["a1"])
    }

    @Test("downloads stay within the limits, and each end lets the next one begin")
    func limits() {
        var queue = Self.queue(concurrency: 3, perOrigin: 2, ["a1", "a2", "a3", "a4", "b1"])
        #expect(queue.start() == ["a1", "b1", "a2"])
        queue.finish("b1")
        #expect(queue.start().isEmpty)
        queue.finish("a1")
        #expect(queue.start() == ["a3"])
        #expect(Set(queue.activeURLs) == ["a2", "a3"])
        queue.finish("a2")
        queue.finish("a3")
        #expect(queue.start() == ["a4"])
        #expect(queue.queuedCount == 0 && queue.activeCount == 1)
    }

    @Test("origins take turns, in any order of arrival and of any size")
    func fairTurn() {
        var queue = Self.queue(concurrency: 6, (1...9).map { "a\($0)" } + ["b1", "b2", "c1"])
        #expect(queue.start() == ["a1", "b1", "c1", "a2", "b2", "a3"])
    }

    @Test("turns go on where they stopped when a slot comes free")
    func turnsGoOn() {
        var queue = Self.queue(concurrency: 1, ["a1", "a2", "a3", "b1", "b2"])
        var order: [IconURL] = []
        while let url = queue.start().first {
            order.append(url)
            queue.finish(url)
        }
        #expect(order == ["a1", "b1", "a2", "b2", "a3"])
    }

    @Test("an icon that readers wait for goes before a refresh, and that before a retry")
    func priorities() {
        var queue = FetchQueue(concurrency: 4, perOrigin: 2, untrusted: 8)
        for url: IconURL in ["c1", "d1"] { queue.add(url, origin: url.text, priority: .awaited) }
        #expect(queue.start().count == 2)
        queue.add("a1", origin: "a", priority: .retry)
        queue.add("a2", origin: "a", priority: .refresh)
        queue.add("a3", origin: "a", priority: .new)
        queue.add("b1", origin: "b", priority: .retry)
        #expect(queue.start() == ["a3", "a2"])
        queue.finish("a3")
        queue.finish("a2")
        #expect(Set(queue.start()) == ["a1", "b1"])
    }

    @Test("a URL that is taken out is not downloaded, and can come again")
    func removal() {
        var queue = Self.queue(perOrigin: 1, ["a1", "a2", "a3"])
        queue.remove("a1")
        queue.remove("a2")
        queue.remove("x")
        #expect(queue.queuedCount == 1)
        queue.add("a1", origin: "a", priority: .new)
        #expect(queue.start() == ["a3"])
        queue.remove("a3")
        #expect(queue.activeCount == 1)
        queue.finish("a3")
        #expect(queue.start() == ["a1"])
        queue.finish("a1")
        #expect(queue.isEmpty && queue.start().isEmpty)
    }

    @Test("a URL that is not being downloaded cannot be finished")
    func finishUnknown() {
        var queue = Self.queue(["a1"])
        queue.finish("a1")
        queue.finish("x")
        #expect(queue.queuedCount == 1 && queue.activeCount == 0)
        #expect(queue.start() == ["a1"])
    }

    @Test("URLs of one origin or of many cost constant time each", arguments: [1, 100, 4000])
    func size(origins: Int) {
        expectLinearTime(from: 500) { count in
            var queue = FetchQueue(concurrency: 32, perOrigin: 4)
            for number in 0..<count {
                queue.add("u\(number)", origin: "o\(number % origins)", priority: number % 3 == 0 ? .new : .retry)
            }
            for number in stride(from: 0, to: count, by: 2) { queue.remove("u\(number)") }
            var done = 0
            while !queue.isEmpty {
                let started = queue.start()
                #expect(started.count <= 32)
                for url in started { queue.finish(url) }
                done += started.count
            }
            #expect(done == count / 2)
        }
    }
}
