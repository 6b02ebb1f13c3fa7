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
        #expect(window.due(isIdle: true) == nil && window.due(isIdle: false) == nil)
        window.noteChange(at: Self.start)
        window.begin()
        #expect(window.due(isIdle: true) == nil)
    }

    @Test("a change is published at once when idle, and after a moment while downloads run")
    func gathering() {
        var window = PublicationWindow()
        window.noteChange(at: Self.start)
        window.noteChange(at: Self.start + .milliseconds(40))
        #expect(window.due(isIdle: true) == Self.start)
        #expect(window.due(isIdle: false) == Self.start + .milliseconds(50))
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
        window.begin()
        window.finish(at: Self.start + cost, cost: cost, bytesWritten: bytes)
        window.noteChange(at: Self.start + cost)
        #expect(window.due(isIdle: false) == Self.start + cost + max(pause, .milliseconds(50)))
        #expect(window.due(isIdle: true) == Self.start + cost)
    }

    @Test("what failed is tried again, after longer and longer pauses")
    func failure() {
        var window = PublicationWindow()
        var now = Self.start
        for pause in [1, 2, 4, 8, 16, 32, 60, 60] as [Int] {
            window.noteChange(at: now)
            window.begin()
            window.fail(at: now)
            #expect(window.due(isIdle: true) == now + .seconds(pause))
            #expect(window.due(isIdle: false) == now + .seconds(pause))
            now = now + .seconds(pause)
        }
        window.begin()
        window.finish(at: now, cost: .zero, bytesWritten: 0)
        window.noteChange(at: now)
        window.begin()
        window.fail(at: now)
        #expect(window.due(isIdle: true) == now + .seconds(1))
    }
}
