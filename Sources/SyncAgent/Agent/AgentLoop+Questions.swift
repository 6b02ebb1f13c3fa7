// SPDX-License-Identifier: Apache-2.0
package import CacheFormat
package import Reports
package import SyncPlan

/// What others learn from the loop, and wait for.
extension AgentLoop {
    /// The time as the loop counts it.
    package var now: Timestamp { clock.now }

    /// The status after the last change that the plan has taken in; `nil` if the loop has ended.
    ///
    /// It does not wait for a change that the plan works on, nor for events that wait: who posted one and is to see what
    /// comes of it posts it by ``hand(_:)``.
    package func status() async -> StatusReport? {
        guard feed.newest != nil else { return nil }
        if let status = latestStatus.current { return status }
        return await ask { [latestStatus] plan in latestStatus.get { plan.status } }
    }

    /// Posts an event, and returns when the plan has taken it in, or with the loop.
    package func hand(_ event: Reconciler.Event) async {
        post(event)
        _ = await ask { _ in }
    }

    /// What is evicted and what stays: of one icon, or of all that no list names.
    package func evictionReport(on url: IconURL? = nil) async -> EvictionReport? {
        guard let snapshot = await ask({ [clock] in $0.evictionSnapshot(of: url, now: clock.now) }) else { return nil }
        // Not in the loop: there may be much to tell.
        return snapshot.report(leases: await effects.leases(on: snapshot.superseded))
    }

    /// Everything known of one URL; `nil` if it is unknown.
    package func report(on url: IconURL) async -> IconReport? {
        await ask { [clock] in $0.report(on: url, now: clock.now) } ?? nil
    }

    /// Posts an event, and returns when the plan says that what follows from it is done, when the time is over, or with the
    /// loop.
    package func post(
        _ event: Reconciler.Event, andWaitUntil isDone: @escaping @Sendable (Reconciler) -> Bool, atMost limit: Duration
    ) async {
        post(event)
        await wait(atMost: limit) { [self] in
            for await _ in changes where await ask(isDone) ?? true { return }
        }
    }

    /// Tells how far the icons of all lists are, at once and at most ten times a second when that may have changed, until the
    /// loop ends or the task is cancelled.
    ///
    /// - Parameter tell: Who is told; `nil` for nobody.
    func followSync(_ tell: (@Sendable (SyncReport) -> Void)?) async {
        guard let tell else { return }
        for await _ in changes {
            guard let report = await ask({ $0.syncReport(of: []) }) else { return }
            tell(report)
            try? await Task.sleep(for: .milliseconds(100))
        }
    }

    /// An element at once and whenever something may have changed that the status tells; ends with the loop.
    ///
    /// Elements that are not taken become one.
    package var changes: ChangeFeed.Changes { feed.changes }
}
