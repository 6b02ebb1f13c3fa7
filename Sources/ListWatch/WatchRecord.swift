// SPDX-License-Identifier: GPL-2.0-only

/// A report about the folder: one line of output.
package enum WatchRecord: Equatable, Sendable {
    /// The folder is watched from now on; the reader must list what was there before.
    case ready
    /// Something in the folder was created, written, renamed or removed, or its attributes changed.
    case changed
    /// The kernel's event queue overflowed: anything may have changed.
    case overflow
    /// The answer to a question: the folder is still watched, and still at its path.
    case alive
    /// The watch was lost.
    case lost(WatchLoss)
    /// The folder cannot be watched because of this system error, such as `ENOSPC`.
    case refused(errno: String)

    /// The line, including its line feed.
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

/// Why the watch was lost.
package enum WatchLoss: String, Sendable {
    case deleteSelf = "delete-self"
    case moveSelf = "move-self"
    case unmount
    case ignored
    /// Another folder, or none, is at the path: a mount covers it, or a parent folder was renamed.
    case replaced
}
