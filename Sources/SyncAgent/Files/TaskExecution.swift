// SPDX-License-Identifier: Apache-2.0
package import SystemPackage

/// Where tasks run: on threads of the agent's own, or on the standard executor.
///
/// Only `TaskThreads.swift` needs declarations of the Swift runtime that are experimental. It is compiled if the package
/// defines `TASK_THREADS`.
package enum TaskExecution {
    /// Starts a named thread; returns whether it did.
    package typealias StartThread = @Sendable (StaticString, @escaping @Sendable () -> Void) -> Bool

    /// Makes threads for tasks.
    ///
    /// - Parameters:
    ///   - most: The maximum number of threads.
    ///   - start: Starts a thread.
    /// - Returns: `nil`, which stands for the standard executor, if there are no threads of the agent's own.
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

    /// Runs all tasks of this process on the agent's own threads, if there are any; call it before the first task.
    package static func install() {
        #if TASK_THREADS
            TaskThreads.install()
        #endif
    }
}
