// SPDX-License-Identifier: GPL-2.0-only

/// What is said of a folder, a line each.
package enum WatchRecord: Equatable, Sendable {
    /// It is watched from now on; whatever was there before is for the reader to look at.
    case ready
    /// Something in it was made, written, renamed, removed, or given other attributes.
    case changed
    /// More happened than the kernel keeps in mind: anything may have changed.
    case overflow
    /// It is watched still, and is what is at its path: the answer to a question.
    case alive
    /// It is not watched any more.
    case lost(WatchLoss)
    /// It could not be watched, for the reason that this error of the system names, such as `ENOSPC`.
    case refused(errno: String)

    /// The record as it is written, with its line break.
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

/// How a folder got out of sight.
package enum WatchLoss: String, Sendable {
    case deleteSelf = "delete-self"
    case moveSelf = "move-self"
    case unmount
    case ignored
    /// Another folder, or none, is at its path: something was mounted there, or a folder above it was renamed.
    case replaced
}
