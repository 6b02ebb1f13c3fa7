// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// Checks that a part of the agent responds: an idle part answers at once, a hung one does not.
///
/// There is one question at a time: questions do not pile up at a hung part.
final class Probe: Sendable {
    private let question: @Sendable (Milestone) -> Void
    private let answer = Mutex<Milestone?>(nil)

    /// `question` asks the part, without waiting; the part reaches the milestone.
    init(_ question: @escaping @Sendable (Milestone) -> Void) {
        self.question = question
    }

    /// Asks, unless the part has not answered the last question; returns the milestone of the answer.
    @discardableResult
    func ask() -> Milestone {
        answer.withLock { last in
            if let last, !last.isReached { return last }
            let next = Milestone()
            last = next
            question(next)
            return next
        }
    }

    /// Whether the part owes no answer.
    var isAnswered: Bool { answer.withLock { $0?.isReached ?? true } }

    /// Returns when the part owes no answer, or when the task is cancelled.
    func waitForAnswer() async { await answer.withLock(\.self)?.wait() }

    func isAnswered(within limit: Duration) async -> Bool {
        let answer = ask()
        await wait(atMost: limit) { await answer.wait() }
        return answer.isReached
    }
}
