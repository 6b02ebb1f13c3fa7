// SPDX-License-Identifier: Apache-2.0
package import CacheFormat
package import Reports
package import SyncPlan

extension AgentLoop {
    package var now: Timestamp { clock.now }

    /// The status after the last change that the plan has handled; `nil` if the loop has ended.
    ///
    /// It waits neither for the change in progress nor for queued events. To see the effect of an event, post it with
    /// ``hand(_:)`` first.
    package func status() async -> StatusReport? {
        guard feed.newest != nil else { return nil }
        if let status = latestStatus.current { return status }
        return await ask { [latestStatus] plan in latestStatus.get { plan.status } }
    }

    /// Posts an event; returns when the plan has handled it, or when the loop ends.
    package func hand(_ event: Reconciler.Event) async {
        post(event)
        _ = await ask { _ in }
    }

    /// Reports what is evicted and what stays: for one icon, or for all unreferenced ones.
    package func evictionReport(on url: IconURL? = nil) async -> EvictionReport? {
        guard let snapshot = await ask({ [clock] in $0.evictionSnapshot(of: url, now: clock.now) }) else { return nil }
        // Outside of the loop: the report may be long.
        return snapshot.report(leases: await effects.leases(on: snapshot.superseded))
    }

    /// Posts an event; returns when the plan reports it done, at the time limit, or when the loop ends.
    package func post(
        _ event: Reconciler.Event, andWaitUntil isDone: @escaping @Sendable (Reconciler) -> Bool, atMost limit: Duration
    ) async {
        post(event)
        await wait(atMost: limit) { [self] in
            for await _ in changes where await ask(isDone) ?? true { return }
        }
    }

    /// Stops the loop, like the end of its task, once the milestone is reached.
    func stop(at milestone: Milestone) async {
        await milestone.wait()
        if milestone.isReached { post(.stopping) }
    }

    /// Reports the sync progress of all lists: at once, then on changes, at most ten times a second.
    ///
    /// Returns when the loop ends or the task is cancelled, or at once if `report` is `nil`.
    func followSync(_ report: (@Sendable (SyncReport) -> Void)?) async {
        guard let report else { return }
        for await _ in changes {
            guard let progress = await ask({ $0.syncReport(of: []) }) else { return }
            report(progress)
            try? await Task.sleep(for: .milliseconds(100))
        }
    }

    package var changes: ChangeFeed.Changes { feed.changes }
}
