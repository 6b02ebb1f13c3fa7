// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Synchronization

/// A thread of its own for an actor whose calls block: they must not hold up the few threads that all tasks share.
package final class FileThread: SerialExecutor {
    private let queue: DispatchQueue

    package init(_ label: String) {
        queue = DispatchQueue(label: "syncagent.\(label)")
    }

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
    }
}

/// Runs a call that may block for long on a thread of its own, however many others hang.
///
/// - Parameters:
///   - label: What the thread is for.
///   - body: The call.
/// - Returns: What it returned.
func onOwnThread<R: Sendable>(_ label: String, _ body: @escaping @Sendable () -> R) async -> R {
    await withCheckedContinuation { continuation in
        // A serial queue of its own has a thread of its own.
        DispatchQueue(label: "syncagent.\(label)").async { continuation.resume(returning: body()) }
    }
}

/// Runs a call that may block on a thread of its own, and another one here.
///
/// - Parameters:
///   - label: What the thread is for.
///   - there: The one call.
///   - here: The other.
/// - Returns: What both returned, once they have.
func meanwhile<Here, There: Sendable>(
    _ label: String, _ there: @escaping @Sendable () -> There, here: () -> Here
) -> (here: Here, there: There) {
    let result = Mutex<There?>(nil)
    let group = DispatchGroup()
    DispatchQueue(label: "syncagent.\(label)").async(group: group) {
        let value = there()
        result.withLock { $0 = value }
    }
    let value = here()
    group.wait()
    guard let other = result.withLock(\.self) else { preconditionFailure("the other call has returned") }
    return (value, other)
}
