// SPDX-License-Identifier: Apache-2.0

/// Where tasks run: on the agent's own threads, or on the standard executor.
///
/// Only `TaskThreads.swift` needs experimental declarations of the Swift runtime. It is compiled if the package defines
/// `TASK_THREADS`.
package enum TaskExecution {
    /// Runs all tasks of this process on the agent's own threads, if it was built with them; call it before the first
    /// task.
    package static func install() {
        #if TASK_THREADS
            TaskThreads.install()
        #endif
    }
}
