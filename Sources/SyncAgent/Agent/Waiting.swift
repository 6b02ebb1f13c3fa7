// SPDX-License-Identifier: Apache-2.0

/// Returns when the work is done; at the time limit, cancels it and waits for it to end.
func wait(atMost limit: Duration, for work: @escaping @Sendable () async -> Void) async {
    await withTaskGroup { group in
        group.addTask { await work() }
        group.addTask { try? await Task.sleep(for: limit) }
        await group.next()
        group.cancelAll()
    }
}

/// Does work to its end, even if the calling task is cancelled.
func withoutCancellation<R: Sendable>(_ work: @escaping @Sendable () async -> R) async -> R {
    // Only another task does not inherit the cancellation; the caller waits for it.
    await Task { await work() }.value
}
