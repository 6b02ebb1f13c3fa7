// SPDX-License-Identifier: GPL-2.0-only
import Glibc

/// A summary of inotify events.
package struct EventSummary: Equatable, Sendable {
    private var hasChanges = false
    private var hasOverflowed = false
    /// Why the watch was lost; `nil` if it was not.
    package private(set) var loss: WatchLoss?
    /// Whether more events are buffered; read them without waiting.
    package var hasMore = false

    package init() {}

    /// Adds an event by its watch descriptor, −1 if it has none, and its mask (inotify(7)).
    package mutating func add(watch: Int32, mask: UInt32) {
        // An overflow has no watch descriptor, and its other fields are meaningless.
        guard watch != -1, mask & UInt32(IN_Q_OVERFLOW) == 0 else {
            hasOverflowed = true
            return
        }
        switch mask {
        case _ where mask & UInt32(IN_DELETE_SELF) != 0: lose(.deleteSelf)
        case _ where mask & UInt32(IN_MOVE_SELF) != 0: lose(.moveSelf)
        case _ where mask & UInt32(IN_UNMOUNT) != 0: lose(.unmount)
        case _ where mask & UInt32(IN_IGNORED) != 0: lose(.ignored)
        default: hasChanges = true
        }
    }

    /// Whether there was no event of a change.
    package var areEmpty: Bool { !hasChanges && !hasOverflowed }

    /// Records a change that no event reported.
    package mutating func recordChange() { hasChanges = true }

    /// Records the loss of the watch; only the first one counts.
    package mutating func lose(_ loss: WatchLoss) {
        self.loss = self.loss ?? loss
    }

    /// The records to write: each at most once, the loss last.
    package var records: [WatchRecord] {
        var records: [WatchRecord] = []
        if hasOverflowed { records.append(.overflow) } else if hasChanges { records.append(.changed) }
        if let loss { records.append(.lost(loss)) }
        return records
    }
}
