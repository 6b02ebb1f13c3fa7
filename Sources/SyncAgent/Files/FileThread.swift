// SPDX-License-Identifier: Apache-2.0
import Dispatch

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
