// SPDX-License-Identifier: Apache-2.0
import Reports
import SyncPlan
import Synchronization

/// The status after the last change that the plan has taken in, so that nobody waits for the change that it works on.
///
/// It is built at most once after a change, and only while somebody asks.
final class LatestStatus: Sendable {
    private struct State {
        /// `nil` if it has not been built since the last change.
        var status: StatusReport?
        /// Whether somebody asked since the last change.
        var isWanted = false
    }

    private let state = Mutex(State())

    /// The status, as far as it is built; from then on it is built after the next change.
    var current: StatusReport? {
        state.withLock { state in
            state.isWanted = true
            return state.status
        }
    }

    /// The status, which is built if it is not yet.
    func get(build: () -> StatusReport) -> StatusReport {
        if let status = state.withLock(\.status) { return status }
        let status = build()
        state.withLock { $0.status = status }
        return status
    }

    /// Notes that there was a change: before anybody can see what comes of it.
    func noteChange(build: () -> StatusReport) {
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
