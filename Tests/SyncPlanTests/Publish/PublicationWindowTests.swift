// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import Testing

@testable import SyncPlan

@Suite("Times of publications")
struct PublicationWindowTests {
    private static let start = Sample.start
    private static let mebibyte = 1 << 20

    /// A window in which lists were published at the start, at no cost but that of their bytes.
    private static func published(_ documents: [ListName: Int]) -> PublicationWindow {
        var window = PublicationWindow()
        for list in documents.keys { window.markChanged(list, at: start) }
        window.begin(documents.keys)
        window.finish(at: start, cost: .zero, documents: documents)
        return window
    }

    @Test("a window without changes publishes nothing")
    func unchanged() {
        var window = PublicationWindow()
        #expect(PublicationWindow.Traffic.allCases.allSatisfy { window.due(during: $0) == nil } && window.isEmpty)
        window.markChanged("a", at: Self.start)
        window.markChanged(at: Self.start)
        #expect(!window.isEmpty && window.isChanged("a") && window.lists(dueAt: Self.start, during: .none) == ["a"])
        window.begin(["a"])
        #expect(window.due(during: .none) == nil && window.isEmpty)
        window.markChanged("a", at: Self.start)
        window.forget("a")
        #expect(window.due(during: .none) == nil && window.isEmpty)
    }

    @Test("a change is published at once when idle or at the end, and after a moment while downloads run")
    func gathering() {
        for list: ListName? in ["a", nil] {
            var window = PublicationWindow()
            for time in [Self.start, Self.start + .milliseconds(40)] {
                if let list { window.markChanged(list, at: time) } else { window.markChanged(at: time) }
            }
            #expect(
                window.due(during: .none) == Self.start && window.due(during: .ending).map { $0 <= Self.start } == true)
            #expect(window.due(during: .flowing) == Self.start + .milliseconds(50))
        }
    }

    @Test(
        "publishing takes at most a tenth of the time while downloads run, apart from long documents",
        arguments: [
            (.milliseconds(100), 0, .milliseconds(900), .zero), (.seconds(2), 64 << 10, .seconds(18), .zero),
            (.seconds(1), 1 << 20, .milliseconds(-375), .seconds(8)), (.zero, 0, .zero, .zero),
        ] as [(Duration, Int, Duration, Duration)])
    func cost(cost: Duration, bytes: Int, pause: Duration, own: Duration) {
        var window = PublicationWindow()
        window.markChanged("a", at: Self.start)
        window.begin(["a"])
        let end = Self.start + cost
        window.finish(at: end, cost: cost, documents: ["a": bytes])
        window.markChanged("b", at: end)
        #expect(window.due(during: .flowing) == end + max(pause, .milliseconds(50)))
        #expect(window.due(during: .none) == end)
        #expect(max(.zero, window.nextDue(of: "a", during: .flowing) - end) == own)
    }

    @Test(
        "documents grow by 1 MiB a second and list in the long run, of which two seconds are saved",
        arguments: [(1, 0), (2, 0), (3, 1), (16, 14), (1 << 20, 8190)])
    func growth(mebibytes: Int, pause: Int) {
        let window = Self.published(["a": mebibytes << 20])
        #expect(max(.zero, window.nextDue(of: "a", during: .flowing) - Self.start) == .seconds(pause))
        #expect(window.nextDue(of: "a", during: .none) <= Self.start)
        #expect(window.nextDue(of: "b", during: .flowing) <= Self.start)
    }

    @Test("lists that write more than they have saved for share what may be written")
    func sharing() {
        var window = Self.published(["a": 10 << 20, "b": 10 << 20, "c": 1 << 10])
        #expect(window.nextDue(of: "a", during: .flowing) == Self.start + .seconds(28))
        #expect(window.nextDue(of: "c", during: .flowing) <= Self.start)
        window.finish(at: Self.start, cost: .zero, documents: ["c": 1 << 20])
        // Two others, itself, and what it has not saved any more.
        #expect(window.nextDue(of: "c", during: .flowing) <= Self.start + .seconds(2))
        window.finish(at: Self.start + .seconds(60), cost: .zero, documents: ["c": 4 << 20])
        #expect(window.nextDue(of: "c", during: .flowing) == Self.start + .seconds(62))
    }

    @Test("a long document that waits for its time holds nothing else back, and comes when it is due")
    func apart() {
        var window = Self.published(["large": 16 << 20])
        let now = Self.start + .seconds(1)
        window.markChanged("large", at: now)
        #expect(window.due(during: .flowing) == Self.start + .seconds(14))
        window.markChanged("small", at: now)
        #expect(window.due(during: .flowing) == now + .milliseconds(50))
        let due = window.lists(dueAt: now + .milliseconds(50), during: .flowing)
        #expect(due == ["small"])
        window.begin(due)
        #expect(window.isChanged("large") && window.due(during: .flowing) == Self.start + .seconds(14))
        window.markChanged(at: now)
        #expect(window.due(during: .flowing) == now + .milliseconds(50))
        #expect(window.lists(dueAt: now + .milliseconds(50), during: .flowing).isEmpty)
        #expect(window.lists(dueAt: Self.start + .seconds(14), during: .flowing) == ["large"])
        #expect(
            window.lists(dueAt: now, during: .ending) == ["large"]
                && window.due(during: .ending).map { $0 <= now } == true)
    }

    @Test("one document may come early when idle, and is made up for")
    func idle() {
        var window = PublicationWindow()
        var now = Self.start
        var count = 0
        while now < Self.start + .seconds(600) {
            window.markChanged("a", at: now)
            if let due = window.due(during: .none), due <= now {
                window.begin(window.lists(dueAt: now, during: .none))
                window.finish(at: now, cost: .zero, documents: ["a": 10 << 20])
                count += 1
            }
            now = now + .seconds(1)
        }
        #expect((60...62).contains(count))
    }

    @Test("one publication comes early if the last downloads may hang, and is made up for")
    func loan() {
        var window = PublicationWindow()
        var now = Self.start
        var cost = Duration.zero
        func publish(during traffic: PublicationWindow.Traffic) -> Duration {
            window.markChanged(at: now)
            let due = window.due(during: traffic) ?? now
            defer { now = due + .milliseconds(100) }
            window.begin([])
            window.finish(at: due + .milliseconds(100), cost: .milliseconds(100), documents: [:])
            cost += .milliseconds(100)
            return due - now
        }
        #expect(publish(during: .flowing) == .milliseconds(50))
        #expect(publish(during: .doubtful) == .milliseconds(50))
        #expect(publish(during: .doubtful) == .milliseconds(750))
        for _ in 0..<100 { _ = publish(during: .doubtful) }
        #expect(cost * 10 <= now - Self.start + .seconds(2))
        #expect(publish(during: .none) == .zero)
    }

    @Test("a failed publication is tried again after longer and longer pauses")
    func failure() {
        var window = PublicationWindow()
        var now = Self.start
        for pause in [1, 2, 4, 8, 16, 32, 60, 60] as [Int] {
            window.markChanged("a", at: now)
            window.begin(["a"])
            window.fail(["a"], at: now)
            for traffic in PublicationWindow.Traffic.allCases {
                #expect(window.due(during: traffic) == now + .seconds(pause))
            }
            now = now + .seconds(pause)
        }
        window.begin(["a"])
        window.finish(at: now, cost: .zero, documents: [:])
        window.markChanged(at: now)
        window.begin([])
        window.fail([], at: now)
        #expect(window.due(during: .none) == now + .seconds(1))
    }

    @Test("a document without room waits, and nothing else does")
    func deferred() {
        var window = PublicationWindow()
        for list: ListName in ["a", "b"] { window.markChanged(list, at: Self.start) }
        window.deferLists(["a"])
        #expect(window.lists(dueAt: Self.start, during: .ending) == ["b"])
        window.begin(["b"])
        #expect(window.due(during: .ending) == nil && !window.isEmpty)
        window.deferLists([])
        #expect(window.due(during: .none) == Self.start)
        window.deferLists(["a"])
        window.forget("a")
        #expect(window.isEmpty && window.deferred.isEmpty, "a list that is gone waits for no room")
    }
}
