// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// One answer shared by all who ask at the same time.
///
/// An answer is always begun after it was requested, so callers see their own changes. Requests that arrive while an
/// answer is made wait for the next one; at most one is being made at any time.
final class SharedAnswer<Answer: Sendable>: Sendable {
    private struct State {
        var waiting: [CheckedContinuation<Answer, Never>] = []
        var isMaking = false
        var begun: ContinuousClock.Instant?
    }

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
            // A task of its own: the first caller's may be cancelled while others wait.
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
