// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// Asks the agent's loop whether it responds.
///
/// Those who ask while it is being asked wait for the same answer: a loop that hangs gathers no questions.
final class LoopProbe: Sendable {
    private let loop: AgentLoop
    /// The answer to the latest question.
    private let answer = Mutex<Milestone?>(nil)

    init(_ loop: AgentLoop) {
        self.loop = loop
    }

    /// Whether the loop answers within a time.
    func isAnswered(within limit: Duration) async -> Bool {
        let answer = answer.withLock { last in
            if let last, !last.isReached { return last }
            let next = Milestone()
            Task { [loop] in
                _ = await loop.ask { _ in }
                next.reach()
            }
            last = next
            return next
        }
        await wait(atMost: limit) { await answer.wait() }
        return answer.isReached
    }
}
