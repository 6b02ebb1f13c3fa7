// SPDX-License-Identifier: GPL-2.0-only

/// A failed call of libinotifytools.
struct InotifyError: Error, CustomStringConvertible {
    /// Such as “watch /etc/lists.d”.
    var operation: String
    /// Such as `ENOENT`.
    var name: String
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
