// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// A one-time event: tasks wait until the gate is open, and it never closes again.
package final class Gate: Sendable {
    private struct State {
        var isOpen = false
        var lastWaiter = 0
        var waiters: [Int: CheckedContinuation<Void, any Error>] = [:]
    }

    private let state = Mutex(State())

    package init() {}

    /// Opens the gate, and resumes all waiting tasks; does nothing if it is open.
    package func open() {
        let waiters = state.withLock { state in
            state.isOpen = true
            defer { state.waiters = [:] }
            return state.waiters.values
        }
        for waiter in waiters { waiter.resume() }
    }

    /// Returns once the gate is open.
    ///
    /// - Throws: `CancellationError` if the task is cancelled while it waits.
    package func wait() async throws {
        let waiter = state.withLock { state in
            state.lastWaiter += 1
            return state.lastWaiter
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let outcome: Result<Void, CancellationError>? = state.withLock { state in
                    if state.isOpen { return .success(()) }
                    // The cancellation handler takes the same lock after the flag is set, so one of the two sees the
                    // other.
                    if Task.isCancelled { return .failure(CancellationError()) }
                    state.waiters[waiter] = continuation
                    return nil
                }
                if let outcome { continuation.resume(with: outcome) }
            }
        } onCancel: {
            state.withLock { $0.waiters.removeValue(forKey: waiter) }?.resume(throwing: CancellationError())
        }
    }
}
