// SPDX-License-Identifier: Apache-2.0
import SyncPlan
import Synchronization

/// The status after the newest change, which is built only once.
final class LatestStatus: Sendable {
    private let latest = Mutex<(change: Int, status: StatusReport)?>(nil)

    /// The status after the change of this number.
    func get(after change: Int, build: () -> StatusReport) -> StatusReport {
        if let latest = latest.withLock(\.self), latest.change == change { return latest.status }
        let status = build()
        latest.withLock { $0 = (change, status) }
        return status
    }
}
