// SPDX-License-Identifier: Apache-2.0
import IconCache
import SyncPlan
import Testing

@Suite("When changes are published")
struct PublicationWindowTests {
    private static let start = Sample.start

    @Test("nothing is published if nothing changed")
    func unchanged() {
        var window = PublicationWindow()
        #expect(window.due(during: .none) == nil && window.due(during: .flowing) == nil)
        window.noteChange(at: Self.start)
        window.begin(during: .none, at: Self.start)
        #expect(window.due(during: .none) == nil)
    }

    @Test("a change is published at once when idle, and after a moment while downloads run")
    func gathering() {
        var window = PublicationWindow()
        window.noteChange(at: Self.start)
        window.noteChange(at: Self.start + .milliseconds(40))
        #expect(window.due(during: .none) == Self.start)
        #expect(window.due(during: .flowing) == Self.start + .milliseconds(50))
    }

    @Test(
        "while downloads run, at most a tenth of the time goes to publishing, and documents grow by 1 MiB a second",
        arguments: [
            (.milliseconds(100), 0, .milliseconds(900)), (.zero, 1 << 20, .seconds(1)),
            (.milliseconds(20), 3 << 20, .seconds(3)), (.seconds(2), 1 << 20, .seconds(18)),
            (.zero, Int.max, .seconds(8192)),
        ] as [(Duration, Int, Duration)])
    func pace(cost: Duration, bytes: Int, pause: Duration) {
        var window = PublicationWindow()
        window.noteChange(at: Self.start)
        window.begin(during: .flowing, at: Self.start)
        window.finish(at: Self.start + cost, cost: cost, bytesWritten: bytes)
        window.noteChange(at: Self.start + cost)
        #expect(window.due(during: .flowing) == Self.start + cost + max(pause, .milliseconds(50)))
        #expect(window.due(during: .none) == Self.start + cost)
    }

    @Test("where what is left may hang, one publication comes before its time, and is made up for")
    func loan() {
        var window = PublicationWindow()
        var now = Self.start
        var cost = Duration.zero
        func publish(during traffic: PublicationWindow.Traffic) -> Duration {
            window.noteChange(at: now)
            let due = window.due(during: traffic) ?? now
            defer { now = due + .milliseconds(100) }
            window.begin(during: traffic, at: due)
            window.finish(at: due + .milliseconds(100), cost: .milliseconds(100), bytesWritten: 0)
            cost += .milliseconds(100)
            return due - now
        }
        #expect(publish(during: .flowing) == .milliseconds(50))
        #expect(publish(during: .doubtful) == .milliseconds(50))
        #expect(publish(during: .doubtful) == .milliseconds(900 + 850))
        #expect(publish(during: .flowing) == .milliseconds(900))
        for _ in 0..<100 { _ = publish(during: .doubtful) }
        #expect(cost * 10 <= now - Self.start + .seconds(1))
        #expect(publish(during: .none) == .zero)
    }

    @Test("what failed is tried again, after longer and longer pauses")
    func failure() {
        var window = PublicationWindow()
        var now = Self.start
        for pause in [1, 2, 4, 8, 16, 32, 60, 60] as [Int] {
            window.noteChange(at: now)
            window.begin(during: .none, at: now)
            window.fail(at: now)
            #expect(window.due(during: .none) == now + .seconds(pause))
            #expect(window.due(during: .flowing) == now + .seconds(pause))
            now = now + .seconds(pause)
        }
        window.begin(during: .none, at: now)
        window.finish(at: now, cost: .zero, bytesWritten: 0)
        window.noteChange(at: now)
        window.begin(during: .none, at: now)
        window.fail(at: now)
        #expect(window.due(during: .none) == now + .seconds(1))
    }
}
