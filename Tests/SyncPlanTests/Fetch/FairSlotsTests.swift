// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import Testing

@testable import SyncPlan

/// What the decision “Lists and origins share the slots” promises.
@Suite("Fair slots")
struct FairSlotsTests {
    /// A queue with large lists on these origins, after 500 downloads.
    private static func busyQueue(_ concurrency: Int, lists: Int, origins: Int) -> FetchQueue {
        var queue = FetchQueue(concurrency: concurrency, perOrigin: 8)
        for number in 0..<10_000 {
            let origin = number / lists % origins
            queue.add("large \(number)", origin: "\(origin)", list: "\(number % lists)", priority: .new)
        }
        _ = order(&queue, 500)
        return queue
    }

    /// The order in which URLs start, if all downloads take the same time and all origins answer.
    private static func order(_ queue: inout FetchQueue, _ count: Int) -> [IconURL] {
        var (order, active): ([IconURL], [IconURL]) = ([], Array(queue.activeURLs))
        while order.count < count {
            let started = queue.start()
            order += started
            active += started
            let url = active.removeFirst()
            if let origin = queue.finish(url) { queue.trust(origin) }
        }
        return order
    }

    @Test(
        "a small list starts within the time of one download, however many lists and origins are busy",
        arguments: [(1, 1), (1, 20), (20, 1), (20, 20), (60, 10)], ["0", "another"])
    func small(busy: (lists: Int, origins: Int), origin: String) {
        var queue = Self.busyQueue(32, lists: busy.lists, origins: busy.origins)
        for number in 0..<5 { queue.add("small \(number)", origin: origin, list: "small", priority: .new) }
        let next = Self.order(&queue, 32)
        #expect(next.count { $0.text.hasPrefix("small") } == 5, "\(next)")
    }

    @Test("a new list goes sixteen downloads ahead, and is an equal from then on", arguments: [1, 3])
    func credit(lists: Int) {
        var queue = Self.busyQueue(1, lists: lists, origins: 5)
        for number in 0..<1000 { queue.add("new \(number)", origin: "\(number % 5)", list: "new", priority: .new) }
        #expect(Self.order(&queue, 16).allSatisfy { $0.text.hasPrefix("new") })
        let count = Self.order(&queue, 100 * (lists + 1)).count { $0.text.hasPrefix("new") }
        #expect((95...105).contains(count))
    }

    @Test("a list with thousands of origins gets no larger share than one with a single origin")
    func origins() {
        var queue = FetchQueue(concurrency: 4, perOrigin: 4, untrusted: 8)
        for number in 0..<4000 { queue.add("x\(number)", origin: "\(number)", list: "x", priority: .new) }
        for number in 0..<4000 { queue.add("y\(number)", origin: "y", list: "y", priority: .new) }
        let count = Self.order(&queue, 1000).count { $0.text.hasPrefix("x") }
        #expect((480...520).contains(count))
    }

    @Test("lists that come one after the other at a start are equals, so that none waits for all that come later")
    func rounds() {
        var queue = FetchQueue(concurrency: 1, perOrigin: 8, untrusted: 8)
        for number in 0..<5 { queue.add("small \(number)", origin: "a", list: "small", priority: .new) }
        var order: [IconURL] = []
        for list in 0..<100 {
            for number in 0..<30 { queue.add("\(list) \(number)", origin: "a", list: "\(list)", priority: .new) }
            if list % 20 == 19 { order += Self.order(&queue, 4) }
        }
        order += Self.order(&queue, 400)
        #expect(order.count { $0.text.hasPrefix("small") } == 5)
    }

    @Test("origins that have to wait cost a list nothing at the others", arguments: [20, 300])
    func held(origins: Int) {
        var queue = FetchQueue(concurrency: 1, perOrigin: 8, untrusted: 8)
        for number in 0..<origins {
            queue.restrict("dead \(number)", to: 0)
            queue.add("dead \(number)", origin: "dead \(number)", list: "mixed", priority: .new)
        }
        for number in 0..<5 { queue.add("good \(number)", origin: "good", list: "mixed", priority: .new) }
        for number in 0..<2000 { queue.add("\(number)", origin: "good", list: "\(number % 20)", priority: .new) }
        #expect(Self.order(&queue, 105).count { $0.text.hasPrefix("good") } == 5)
        #expect(queue.heldCount == origins)
        // Those that answer again cost what all others do.
        for number in 0..<origins { queue.lift("dead \(number)") }
        let next = Self.order(&queue, 40).count { $0.text.hasPrefix("dead") }
        #expect((1...20).contains(next) && queue.heldCount == 0)
    }

    @Test("a list that comes back again and again does not keep a large one waiting")
    func returning() {
        var queue = FetchQueue(concurrency: 1, perOrigin: 8, untrusted: 8)
        for number in 0..<1000 { queue.add("large \(number)", origin: "a", list: "large", priority: .new) }
        var large = 0
        for number in 0..<400 {
            queue.add("\(number)", origin: "a", list: "small", priority: .new)
            large += Self.order(&queue, 1).count { $0.text.hasPrefix("large") }
        }
        #expect((180...220).contains(large))
    }

    @Test("origins that hang hold half of the slots, and cost the others no time")
    func doubtful() {
        var queue = FetchQueue(concurrency: 32, perOrigin: 8)
        for number in 0..<4000 {
            queue.add("dead \(number)", origin: "dead \(number % 400)", list: "\(number % 7)", priority: .new)
        }
        #expect(queue.start().count == 16)
        for number in 0..<1000 {
            queue.add("good \(number)", origin: "good \(number % 2)", list: "\(number % 7)", priority: .new)
        }
        for origin in 0..<2 { queue.trust("good \(origin)") }
        for _ in 0..<300 {
            let started = queue.start()
            #expect(queue.activeURLs.count { $0.text.hasPrefix("good") } == 16)
            #expect(started.allSatisfy { $0.text.hasPrefix("good") })
            for url in queue.activeURLs where url.text.hasPrefix("good") {
                queue.finish(url)
                break
            }
        }
    }

    @Test("a URL that is urgent does not wait for the others of its list on other origins", arguments: [true, false])
    func urgent(isRaised: Bool) {
        var queue = FetchQueue(concurrency: 1, perOrigin: 1, untrusted: 2)
        for number in 0..<1000 { queue.add("\(number)", origin: "\(number)", list: "x", priority: .retry) }
        _ = Self.order(&queue, 10)
        if isRaised { queue.raise("900") } else { queue.add("new", origin: "900", list: "x", priority: .new) }
        #expect(Self.order(&queue, 2).contains(isRaised ? "900" : "new"))
    }
}
