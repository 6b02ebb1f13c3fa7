// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// Checks whether the agent's loop responds.
///
/// Concurrent checks share one question: a hung loop collects no questions.
final class LoopProbe: Sendable {
    private let loop: AgentLoop
    private let answer = Mutex<Milestone?>(nil)

    init(_ loop: AgentLoop) {
        self.loop = loop
    }

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
