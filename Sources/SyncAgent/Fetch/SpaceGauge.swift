// SPDX-License-Identifier: Apache-2.0
import SyncPlan
import Synchronization

/// What was last seen of the free space, for those who need not know it to the byte.
final class SpaceGauge: Sendable {
    struct Reading {
        /// `nil` if the file system does not say.
        var space: DiskSpace?
        fileprivate var time: ContinuousClock.Instant
    }

    /// For how long a reading counts.
    private static let lifetime: Duration = .milliseconds(100)

    private let reading = Mutex<Reading?>(nil)

    func note(_ space: DiskSpace?) {
        let new = Reading(space: space, time: .now)
        reading.withLock { $0 = new }
    }

    /// The last reading; `nil` if it was too long ago.
    var latest: Reading? {
        reading.withLock { $0 }.flatMap { $0.time.duration(to: .now) < Self.lifetime ? $0 : nil }
    }
}
