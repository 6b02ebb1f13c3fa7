// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Synchronization

/// A dedicated thread for an actor whose calls block: they would otherwise occupy the few threads that tasks share.
package final class FileThread: SerialExecutor {
    private let queue: DispatchQueue

    package init(_ label: String) {
        queue = DispatchQueue(label: "syncagent.\(label)")
    }

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
    }

    /// Runs a call after the jobs enqueued so far.
    func run(_ body: @escaping @Sendable () -> Void) { queue.async(execute: body) }
}

/// Runs a call that may block for long on its own thread, independent of other hanging calls.
func onOwnThread<R: Sendable>(_ label: String, _ body: @escaping @Sendable () -> R) async -> R {
    await withCheckedContinuation { continuation in
        // Each serial queue gets its own thread.
        DispatchQueue(label: "syncagent.\(label)").async { continuation.resume(returning: body()) }
    }
}

/// Runs one call on its own thread and another on the current one; returns when both have ended.
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
