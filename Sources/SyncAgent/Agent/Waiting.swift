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

/// Returns when the work is done, or at the time limit; the work then goes on.
func waitWithoutCancelling(atMost limit: Duration, for work: @escaping @Sendable () async -> Void) async {
    let isDone = Milestone()
    Task {
        await work()
        isDone.reach()
    }
    await wait(atMost: limit) { await isDone.wait() }
}
