// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import Testing

@testable import SyncPlan

@Suite("The queue of downloads and its origins")
struct FetchQueueOriginTests {
    private static func queue(
        concurrency: Int = 100, perOrigin: Int = 4, untrusted: Int? = nil, _ urls: [IconURL]
    ) -> FetchQueue {
        var queue = FetchQueue(concurrency: concurrency, perOrigin: perOrigin, untrusted: untrusted)
        for url in urls { queue.add(url, origin: String(url.text.prefix(1)), priority: .new) }
        return queue
    }

    @Test("origins that have not answered yet hold half of the slots, and the others any that are left")
    func untrusted() {
        var queue = Self.queue(
            concurrency: 16, ["a", "b", "c"].flatMap { host in (1...9).map { IconURL("\(host)\($0)") } })
        // Three that were never asked, and one more while there are less than four.
        #expect(queue.start() == ["a1", "b1", "c1", "a2"])
        for origin in ["d", "e", "f", "g", "h"] { queue.add("\(origin)1", origin: origin, priority: .new) }
        #expect(queue.start() == ["d1", "e1", "f1", "g1"])
        queue.finish("c1")
        queue.trust("c")
        let second = queue.start()
        #expect(Set(second) == ["c2", "c3", "c4", "c5", "h1"])
        for url in second where url != "h1" {
            queue.finish(url)
            #expect(queue.start().allSatisfy { $0.text.hasPrefix("c") })
        }
        #expect(queue.activeURLs.count { !$0.text.hasPrefix("c") } == 8)
    }

    @Test("an origin that is new is asked although others hang, and before those that have failed")
    func untried() {
        var queue = Self.queue(
            concurrency: 16, ["a", "b", "c"].flatMap { host in (1...9).map { IconURL("\(host)\($0)") } })
        #expect(queue.start() == ["a1", "b1", "c1", "a2"])
        for origin in ["a", "b", "c"] { queue.restrict(origin, to: 3) }
        for origin in ["d", "e"] { queue.add("\(origin)1", origin: origin, priority: .new) }
        #expect(queue.start() == ["d1", "e1"])
        for url: IconURL in ["a1", "b1", "a2"] {
            #expect(queue.start().isEmpty)
            queue.finish(url)
        }
        #expect(queue.start().count == 1)
        queue.add("f1", origin: "f", priority: .retry)
        #expect(queue.start() == ["f1"])
    }

    @Test("a list that waits for its origin asks it once the lists before it are gone, however many they were")
    func lastList() {
        var queue = FetchQueue(concurrency: 100, perOrigin: 4)
        let lists = (0..<40).map { ListName("\($0).plist") }
        for list in lists { queue.add(IconURL("a/\(list)"), origin: "a", list: list, priority: .new) }
        for list in lists.dropLast() { queue.remove(IconURL("a/\(list)")) }
        queue.add("a/more", origin: "a", list: lists[39], priority: .new)
        #expect(Set(queue.start()) == ["a/39.plist", "a/more"])
    }

    @Test("a trusted origin that fails is trusted no more, and what it holds counts")
    func invalidate() {
        var queue = Self.queue(concurrency: 8, perOrigin: 3, ["a1", "a2", "a3", "a4", "a5", "a6", "b1"])
        #expect(queue.start() == ["a1", "b1"])
        queue.finish("a1")
        queue.trust("a")
        #expect(Set(queue.start()) == ["a2", "a3", "a4"])
        queue.restrict("a", to: 3)
        for origin in ["c", "d"] { queue.add("\(origin)1", origin: origin, priority: .new) }
        #expect(queue.start().isEmpty)
        for url: IconURL in ["a2", "a3"] { queue.finish(url) }
        #expect(queue.start() == ["c1", "d1"])
        for url: IconURL in ["b1", "c1"] { queue.finish(url) }
        #expect(queue.start().isEmpty)
        queue.finish("d1")
        #expect(queue.start() == ["a5"])
    }

    @Test(
        "an origin with HTTP/2 has as many downloads as streams, if nothing else sets a limit",
        arguments: [
            (500, 4, nil, 100), (32, 4, nil, 32), (500, 200, nil, 200), (500, 4, 2, 2), (500, 4, 0, 0),
            (500, 1, nil, 100),
        ])
    func multiplexed(concurrency: Int, perOrigin: Int, restriction: Int?, expected: Int) {
        var queue = Self.queue(concurrency: concurrency, perOrigin: perOrigin, (1...300).map { "a\($0)" })
        queue.trust("a")
        queue.setMultiplexed("a", true)
        if let restriction { queue.restrict("a", to: restriction) }
        #expect(queue.start().count == expected)
    }

    @Test("an origin that is back to HTTP/1 begins nothing until few enough are left")
    func multiplexedNoMore() {
        var queue = Self.queue(concurrency: 6, perOrigin: 2, (1...20).map { "a\($0)" })
        queue.trust("a")
        queue.setMultiplexed("a", true)
        #expect(queue.start().count == 6)
        queue.setMultiplexed("a", false)
        for number in 1...4 {
            queue.finish("a\(number)")
            #expect(queue.start().isEmpty)
        }
        queue.finish("a5")
        #expect(queue.start() == ["a7"])
    }

    @Test("knowledge of HTTP/2 is forgotten once an origin has no more work")
    func multiplexedForgotten() {
        var queue = Self.queue(["a1"])
        queue.setMultiplexed("b", true)
        #expect(queue.start() == ["a1"])
        queue.setMultiplexed("a", true)
        queue.finish("a1")
        for origin in ["a", "b"] {
            for number in 1...9 { queue.add("\(origin)\(number)", origin: origin, priority: .new) }
            queue.trust(origin)
        }
        #expect(queue.start().count == 8)
    }

    @Test("the flow counts the queued and running downloads of trusted origins")
    func flow() {
        var queue = Self.queue(perOrigin: 1, ["a1", "a2", "a3", "b1"])
        #expect(!queue.isFlowing && queue.start() == ["a1", "b1"] && !queue.isFlowing)
        queue.finish("a1")
        queue.trust("a")
        #expect(queue.isFlowing)
        queue.restrict("a", to: 1)
        #expect(!queue.isFlowing)
        #expect(queue.start() == ["a2"])
        queue.finish("a2")
        queue.trust("a")
        queue.remove("a3")
        #expect(!queue.isFlowing && queue.activeCount == 1)
    }

    @Test("trust ends when there is nothing to do for an origin any more")
    func trustEnds() {
        var queue = Self.queue(concurrency: 2, ["a1"])
        #expect(queue.start() == ["a1"] && queue.hasWork(of: "a"))
        queue.trust("a")
        queue.finish("a1")
        #expect(!queue.hasWork(of: "a"))
        for url: IconURL in ["a2", "a3"] { queue.add(url, origin: "a", priority: .new) }
        #expect(queue.start() == ["a2"])
    }

    @Test("an origin that waits costs no slot, its URLs are held, and the wait's end gives them their turn")
    func held() {
        var queue = Self.queue(["a1", "a2", "b1"])
        queue.restrict("a", to: 0)
        queue.add("a3", origin: "a", priority: .retry)
        #expect(queue.start() == ["b1"])
        #expect(queue.heldCount == 3 && queue.readyCount == 0 && queue.isHeld(origin: "a"))
        queue.remove("a2")
        queue.remove("a2")
        #expect(queue.heldCount == 2)
        queue.restrict("a", to: 1)
        #expect(queue.heldCount == 0 && queue.readyCount == 2 && !queue.isHeld(origin: "a"))
        #expect(queue.start() == ["a1"])
        #expect(queue.start().isEmpty)
        queue.restrict("a", to: 0)
        queue.finish("a1")
        #expect(queue.start().isEmpty && queue.heldCount == 1)
        queue.lift("a")
        #expect(queue.heldCount == 0 && queue.start() == ["a3"])
        for url: IconURL in ["a3", "b1"] { queue.finish(url) }
        #expect(queue.isEmpty)
    }

    @Test("a restriction holds although nothing is queued, and for what comes later")
    func restrictionStays() {
        var queue = Self.queue([])
        queue.restrict("a", to: 0)
        queue.add("a1", origin: "a", priority: .new)
        #expect(queue.heldCount == 1 && queue.start().isEmpty)
        queue.remove("a1")
        #expect(queue.heldCount == 0 && queue.isEmpty)
        queue.add("a1", origin: "a", priority: .new)
        queue.trust("a")
        #expect(queue.heldCount == 0 && queue.start() == ["a1"])
    }

    @Test("a URL that somebody waits for goes before all others, wherever it was")
    func raise() {
        var queue = Self.queue(concurrency: 2, untrusted: 4, ["a1", "a2", "b1"])
        queue.add("b2", origin: "b", priority: .retry)
        for url: IconURL in ["b2", "b2", "x"] { queue.raise(url) }
        #expect(queue.queuedCount == 4)
        #expect(queue.start() == ["b2", "a1"])
        queue.raise("a1")
        queue.raise("a2")
        queue.remove("a2")
        queue.finish("a1")
        queue.finish("b2")
        #expect(queue.start() == ["b1"])
        #expect(queue.queuedCount == 0)
    }

    @Test("a URL that is removed and added again and again takes no memory")
    func flapping() {
        var queue = Self.queue(["a0"])
        queue.restrict("a", to: 0)
        expectLinearTime(from: 1000) { count in
            for number in 0..<count {
                queue.add("a\(number % 10 + 1)", origin: "a", priority: .new)
                queue.remove("a\(number % 10 + 1)")
            }
        }
        #expect(queue.heldCount == 1)
        queue.restrict("a", to: 1)
        #expect(queue.start() == ["a0"])
    }

    @Test("held and raised URLs cost constant time each", arguments: [1, 100, 4000])
    func size(origins: Int) {
        expectLinearTime(from: 500) { count in
            var queue = FetchQueue(concurrency: 32, perOrigin: 4)
            for number in 0..<count { queue.add("u\(number)", origin: "o\(number % origins)", priority: .retry) }
            for number in 0..<origins { queue.restrict("o\(number)", to: 0) }
            #expect(queue.heldCount == count && queue.start().isEmpty)
            for number in 0..<count { queue.raise("u\(number)") }
            for number in 0..<origins {
                if number % 2 == 0 { queue.restrict("o\(number)", to: 1) } else { queue.lift("o\(number)") }
            }
            let done = queue.drain()
            #expect(done == count)
        }
    }
}
