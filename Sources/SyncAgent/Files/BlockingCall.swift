// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Synchronization

/// A call that blocks, and whose result any number of tasks can wait for.
///
/// The call cannot be cancelled and may take long, so it has a thread of its own; only a task's wait can be cancelled.
final class BlockingCall<Value: Sendable>: Sendable {
    private let found = Mutex<Value?>(nil)
    private let end = Milestone()

    init(_ label: String, _ body: @escaping @Sendable () -> Value) {
        DispatchQueue(label: "syncagent.\(label)").async { [self] in
            let value = body()
            found.withLock { $0 = value }
            end.reach()
        }
    }

    /// The result; `nil` until the call has returned.
    var result: Value? { found.withLock(\.self) }

    /// Waits for the result; throws `CancellationError` if the task is cancelled first.
    func wait() async throws -> Value {
        await end.wait()
        guard let result else { throw CancellationError() }
        return result
    }
}
