// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// One answer for all who ask the same thing at the same time.
///
/// Everybody gets an answer that was begun after they asked: who has just changed something sees it. While an answer is
/// being made, those who come gather for the next one, so that there is never more than one in the making.
final class SharedAnswer<Answer: Sendable>: Sendable {
    private struct State {
        var waiting: [CheckedContinuation<Answer, Never>] = []
        var isMaking = false
        /// When the newest answer was begun.
        var begun: ContinuousClock.Instant?
    }

    /// The least time from one answer to the next: what is asked in between gets one.
    private static var pace: Duration { .milliseconds(10) }

    private let state = Mutex(State())
    private let make: @Sendable () async -> Answer

    init(_ make: @escaping @Sendable () async -> Answer) {
        self.make = make
    }

    func get() async -> Answer {
        await withCheckedContinuation { continuation in
            let isFirst = state.withLock { state in
                state.waiting.append(continuation)
                defer { state.isMaking = true }
                return !state.isMaking
            }
            // It is not the task of the one who asked first: that one may be cancelled, and the others still wait.
            if isFirst { Task { await makeAll() } }
        }
    }

    private func makeAll() async {
        while true {
            if let begun = state.withLock(\.begun) {
                try? await Task.sleep(until: begun + Self.pace, clock: .continuous)
            }
            let asking = state.withLock { state in
                defer { state.waiting = [] }
                state.isMaking = !state.waiting.isEmpty
                state.begun = .now
                return state.waiting
            }
            guard !asking.isEmpty else { return }
            let answer = await make()
            for continuation in asking { continuation.resume(returning: answer) }
        }
    }
}
