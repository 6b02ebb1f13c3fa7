// SPDX-License-Identifier: GPL-2.0-only

/// A call of libinotifytools that failed.
struct InotifyError: Error, CustomStringConvertible {
    /// What was tried, such as “watch /etc/lists.d”.
    var operation: String
    /// The system's name of the error, such as `ENOENT`.
    var name: String
    /// The system's own text.
    var cause: String

    var description: String { "cannot \(operation): \(cause) (\(name))\(hint)" }

    /// Which limit to raise, where it is one that was reached.
    private var hint: String {
        switch name {
        case "ENOSPC": "; fs.inotify.max_user_watches is used up"
        case "EMFILE": "; fs.inotify.max_user_instances is used up"
        default: ""
        }
    }
}
