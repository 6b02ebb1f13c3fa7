// SPDX-License-Identifier: Apache-2.0

/// Returns when something is done, or when the time is over: then its task is cancelled, and has to end by that.
func wait(atMost limit: Duration, for work: @escaping @Sendable () async -> Void) async {
    await withTaskGroup { group in
        group.addTask { await work() }
        group.addTask { try? await Task.sleep(for: limit) }
        await group.next()
        group.cancelAll()
    }
}

/// Returns when something is done that cannot be cancelled, or when the time is over: then it goes on.
func waitWithoutCancelling(atMost limit: Duration, for work: @escaping @Sendable () async -> Void) async {
    let isDone = Milestone()
    Task {
        await work()
        isDone.reach()
    }
    await wait(atMost: limit) { await isDone.wait() }
}
