// SPDX-License-Identifier: GPL-2.0-only
import Glibc

/// What a number of events come to.
package struct Happenings: Equatable, Sendable {
    private var hasChanges = false
    private var hasOverflowed = false
    /// How the folder was lost, if it was.
    package private(set) var loss: WatchLoss?
    /// Whether events were left that have to be taken without waiting for others.
    package var hasMore = false

    package init() {}

    /// Takes one event into account.
    ///
    /// - Parameters:
    ///   - watch: The watch that it belongs to, or −1 if it belongs to none.
    ///   - mask: What happened.
    package mutating func note(watch: Int32, mask: UInt32) {
        // An overflow belongs to no watch, so that nothing else of it means anything.
        guard watch != -1, mask & UInt32(IN_Q_OVERFLOW) == 0 else {
            hasOverflowed = true
            return
        }
        switch mask {
        case _ where mask & UInt32(IN_DELETE_SELF) != 0: note(.deleteSelf)
        case _ where mask & UInt32(IN_MOVE_SELF) != 0: note(.moveSelf)
        case _ where mask & UInt32(IN_UNMOUNT) != 0: note(.unmount)
        case _ where mask & UInt32(IN_IGNORED) != 0: note(.ignored)
        default: hasChanges = true
        }
    }

    /// Takes into account that the folder was lost; the first loss counts.
    package mutating func note(_ loss: WatchLoss) {
        self.loss = self.loss ?? loss
    }

    /// What there is to say: nothing twice, and the loss last.
    package var records: [WatchRecord] {
        var records: [WatchRecord] = []
        if hasOverflowed { records.append(.overflow) } else if hasChanges { records.append(.changed) }
        if let loss { records.append(.lost(loss)) }
        return records
    }
}
