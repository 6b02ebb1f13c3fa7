// SPDX-License-Identifier: GPL-2.0-only

/// A call of libinotifytools that failed.
struct InotifyError: Error, CustomStringConvertible {
    /// What failed, such as “watch /etc/lists.d”.
    var operation: String
    /// The name of the system error, such as `ENOENT`.
    var name: String
    /// The text of the system error.
    var cause: String

    var description: String { "cannot \(operation): \(cause) (\(name))\(hint)" }

    /// The limit to raise, if one was reached.
    private var hint: String {
        switch name {
        case "ENOSPC": "; raise fs.inotify.max_user_watches"
        case "EMFILE": "; raise fs.inotify.max_user_instances"
        default: ""
        }
    }
}
