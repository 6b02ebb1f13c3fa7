// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Synchronization

/// A call that blocks, whose result any number of tasks wait for.
///
/// It cannot be cancelled and may take long, so it has a thread of its own; only the waiting ends early.
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

    /// `nil` until there is one.
    var result: Value? { found.withLock(\.self) }

    /// Waits for the result; throws `CancellationError` if the task is cancelled first.
    func wait() async throws -> Value {
        await end.wait()
        guard let result else { throw CancellationError() }
        return result
    }
}
