// SPDX-License-Identifier: Apache-2.0
import Reports
import Synchronization

/// The status after the last change that the plan has handled, so that nobody waits for the change in progress.
///
/// The loop builds it, at most once per change, and only while somebody asks.
final class LatestStatus: Sendable {
    private let state = Mutex<(status: StatusReport?, isWanted: Bool)>((nil, false))

    /// The status, if it is built; reading it also requests a new one after the next change.
    var current: StatusReport? {
        state.withLock { state in
            state.isWanted = true
            return state.status
        }
    }

    func get(build: () -> StatusReport) -> StatusReport {
        let status = state.withLock(\.status) ?? build()
        state.withLock { $0.status = status }
        return status
    }

    /// Records a change; must be called before anybody can see its results.
    func recordChange(build: () -> StatusReport) {
        let isWanted = state.withLock { exchange(&$0.isWanted, with: false) }
        let status = isWanted ? build() : nil
        state.withLock { $0.status = status }
    }
}
