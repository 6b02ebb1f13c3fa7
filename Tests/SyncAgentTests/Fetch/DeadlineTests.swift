// SPDX-License-Identifier: Apache-2.0
import HTTPRules
import Testing

@testable import SyncAgent
@testable import Transfers

@Suite("Deadlines of downloads, and what does not count against them")
struct DeadlineTests {
    /// A transfer that waits for a connection between two times, in seconds.
    private final class WaitingTransfer: Transfer {
        let wait: Range<Int>
        let isPaused = false
        let lastActivity: ContinuousClock.Instant? = nil
        let mayBeStale = false
        let isAnswered = false

        init(_ wait: Range<Int>) { self.wait = wait }

        func waitTime(at now: ContinuousClock.Instant) -> Duration {
            max(DeadlineTests.time(wait.lowerBound).duration(to: min(now, DeadlineTests.time(wait.upperBound))), .zero)
        }

        func cancel() {}
        func resume() {}
        func breakOff(afterSilenceOf time: Duration) {}
    }

    /// What happens to a download: its transfer begins, and waits until then; it waits for its turn, and no more; the
    /// system wakes after it slept for some seconds; the transfer ends.
    private enum Event {
        case transfer(waitsUntil: Int)
        case turn, endTurn, end
        case wake(after: Int)
    }

    private static let start = ContinuousClock.now

    private static func time(_ seconds: Int) -> ContinuousClock.Instant { start + .seconds(seconds) }

    /// A deadline of 60 s after the events, with the transfer.
    private static func deadline(after events: [(Int, Event)]) -> (deadline: Deadline, transfer: WaitingTransfer?) {
        let limits = RequestLimits(
            connectTimeout: .seconds(60), idleTimeout: .seconds(60), totalTimeout: .seconds(60), table: "fetch")
        var deadline = Deadline(limits, from: start)
        var transfer: WaitingTransfer?
        for (seconds, event) in events {
            let now = time(seconds)
            switch event {
            case .transfer(let end): transfer = WaitingTransfer(seconds..<end)
            case .turn: deadline.beginTurnWait(at: now)
            case .endTurn: deadline.endTurnWait(at: now)
            case .wake(let sleep): deadline.extend(by: .seconds(sleep), at: now, of: transfer)
            case .end:
                deadline.recordEnd(of: transfer, at: now)
                transfer = nil
            }
        }
        return (deadline, transfer)
    }

    /// The end of 60 s, as seen at 5000 s if nothing else is said.
    @Test(
        "waits and sleep extend a deadline once",
        arguments: [
            ([], 60), ([(10, .wake(after: 5))], 65),
            // A wait for a turn: 20 s, in which the system slept, or which began just after that.
            ([(10, .turn), (30, .endTurn)], 80), ([(10, .turn), (25, .wake(after: 10)), (30, .endTurn)], 80),
            ([(30, .turn), (30, .wake(after: 20)), (31, .endTurn)], 81),
            ([(10, .turn), (30, .endTurn), (50, .wake(after: 10))], 90),
            // The end of the transfer ends it.
            ([(10, .turn), (30, .end)], 80), ([(10, .turn), (25, .wake(after: 10)), (30, .end), (40, .endTurn)], 80),
            // A wait for a connection: 20 s, in which the system slept, before, or after.
            ([(10, .transfer(waitsUntil: 30))], 80), ([(10, .transfer(waitsUntil: 30)), (25, .wake(after: 10))], 80),
            ([(9, .wake(after: 9)), (10, .transfer(waitsUntil: 30))], 89),
            ([(10, .transfer(waitsUntil: 30)), (50, .wake(after: 10))], 90),
            ([(10, .transfer(waitsUntil: 30)), (25, .wake(after: 10)), (28, .end)], 78),
            // An hour of it at most, and the sleep besides.
            ([(0, .transfer(waitsUntil: 4500))], 3660),
            ([(0, .transfer(waitsUntil: 4500)), (800, .wake(after: 500))], 4160),
        ] as [([(Int, Event)], Int)])
    private func extensions(events: [(Int, Event)], end: Int) {
        let (deadline, transfer) = Self.deadline(after: events)
        #expect(deadline.time(at: Self.time(5000), of: transfer) == Self.time(end))
    }

    @Test("a place is forgotten when it was not used for a minute, and only among many")
    func places() {
        var uses = PlaceUses()
        uses.begin(at: "held", Self.start)
        for (place, seconds) in [("old", 0), ("young", 50)] {
            uses.begin(at: place, Self.time(seconds))
            uses.end(at: place, Self.time(seconds))
        }
        func last(_ place: String) -> ContinuousClock.Instant? { uses.last(at: place, Self.time(99)) }
        #expect(last("old") == Self.start && last("none") == nil)
        for number in 0..<300 { uses.begin(at: "\(number)", Self.time(61)) }
        #expect(last("old") == nil && last("young") == Self.time(50) && last("held") == Self.time(99))
    }
}
