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
