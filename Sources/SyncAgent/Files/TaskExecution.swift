// SPDX-License-Identifier: Apache-2.0
package import SystemPackage

/// Where tasks run: on the agent's own threads, or on the standard executor.
///
/// Only `TaskThreads.swift` needs experimental declarations of the Swift runtime. It is compiled if the package defines
/// `TASK_THREADS`.
package enum TaskExecution {
    /// Starts a named thread; returns whether it was started.
    package typealias StartThread = @Sendable (StaticString, @escaping @Sendable () -> Void) -> Bool

    /// Makes threads for tasks.
    ///
    /// - Parameters:
    ///   - most: The maximum number of threads.
    ///   - start: Starts a thread.
    /// - Returns: The threads; `nil` for the standard executor if the agent was built without its own.
    /// - Throws: `Errno` if no timer descriptor can be created.
    package static func makeThreads(
        most: Int, start: @escaping StartThread = startThread
    ) throws(Errno) -> (any TaskExecutor)? {
        #if TASK_THREADS
            try TaskThreads(most: most, start: start)
        #else
            nil
        #endif
    }

    /// Runs all tasks of this process on the agent's own threads, if it was built with them; call it before the first
    /// task.
    package static func install() {
        #if TASK_THREADS
            TaskThreads.install()
        #endif
    }
}
