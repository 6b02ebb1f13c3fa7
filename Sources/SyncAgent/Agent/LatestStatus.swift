// SPDX-License-Identifier: Apache-2.0
import Reports
import SyncPlan
import Synchronization

/// The status after the last change that the plan has handled, so that nobody waits for the change in progress.
///
/// It is built at most once per change, and only while somebody asks.
final class LatestStatus: Sendable {
    private struct State {
        var status: StatusReport?
        var isWanted = false
    }

    private let state = Mutex(State())

    /// The status, if it is built; reading it also requests a new one after the next change.
    var current: StatusReport? {
        state.withLock { state in
            state.isWanted = true
            return state.status
        }
    }

    func get(build: () -> StatusReport) -> StatusReport {
        if let status = state.withLock(\.status) { return status }
        let status = build()
        state.withLock { $0.status = status }
        return status
    }

    /// Records a change; must be called before anybody can see its results.
    func recordChange(build: () -> StatusReport) {
        let isWanted = state.withLock { state in
            if !state.isWanted { state.status = nil }
            defer { state.isWanted = false }
            return state.isWanted
        }
        guard isWanted else { return }
        let status = build()
        state.withLock { $0.status = status }
    }
}
