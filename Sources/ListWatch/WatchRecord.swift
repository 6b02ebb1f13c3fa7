// SPDX-License-Identifier: GPL-2.0-only

/// A report on a folder: one line of output.
package enum WatchRecord: Equatable, Sendable {
    /// The folder is watched from now on; the reader has to list what was there before.
    case ready
    /// Something in the folder was created, written, renamed or removed, or its attributes changed.
    case changed
    /// The kernel's queue of events overflowed: anything can have changed.
    case overflow
    /// The folder is still watched, and still at its path: the answer to a question.
    case alive
    /// The folder is not watched any more.
    case lost(WatchLoss)
    /// The folder cannot be watched, because of this system error, such as `ENOSPC`.
    case refused(errno: String)

    /// The line, with its line break.
    package var line: String {
        switch self {
        case .ready: "ready\n"
        case .changed: "changed\n"
        case .overflow: "overflow\n"
        case .alive: "alive\n"
        case .lost(let loss): "lost \(loss.rawValue)\n"
        case .refused(let errno): "refused \(errno)\n"
        }
    }
}

/// Why a folder is not watched any more.
package enum WatchLoss: String, Sendable {
    case deleteSelf = "delete-self"
    case moveSelf = "move-self"
    case unmount
    case ignored
    /// Another folder, or none, is at the path: something was mounted there, or a parent folder was renamed.
    case replaced
}
