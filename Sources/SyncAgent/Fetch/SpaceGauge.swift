// SPDX-License-Identifier: Apache-2.0
import SyncPlan
import Synchronization

/// A recent measurement of the free space, for callers that need no exact value.
final class SpaceGauge: Sendable {
    struct Reading {
        /// `nil` if the file system does not report it.
        var space: DiskSpace?
        fileprivate var time: ContinuousClock.Instant
    }

    /// How long a measurement is valid.
    private static let lifetime: Duration = .milliseconds(100)

    private let reading = Mutex<Reading?>(nil)

    func note(_ space: DiskSpace?) {
        let new = Reading(space: space, time: .now)
        reading.withLock { $0 = new }
    }

    /// The last measurement; `nil` if it is too old.
    var latest: Reading? {
        reading.withLock { $0 }.flatMap { $0.time.duration(to: .now) < Self.lifetime ? $0 : nil }
    }
}
