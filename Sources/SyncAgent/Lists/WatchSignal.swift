// SPDX-License-Identifier: Apache-2.0
import CacheFormat

/// What `syncagent-watch` says of the lists folder, and what becomes of it.
package enum WatchSignal: Equatable, Sendable {
    /// The folder is watched from now on. What happened before has to be looked for.
    case ready
    /// Something in the folder has changed.
    case changed
    /// More has changed than the kernel keeps in mind.
    case overflow
    /// The folder was deleted, moved or unmounted; `reason` is the helper's own word, such as `delete-self`.
    case lost(reason: String)
    /// The folder cannot be watched, because of the error of the system that has this name, such as `ENOSPC`.
    case refused(errno: String)
    /// The helper ended, or was ended, for a reason that is no loss of the folder.
    case died(String)

    /// The signal that a line of the helper's stands for, or `nil` if it stands for none.
    init?(line: String) {
        let words = line.split(atByte: " ", omittingEmpty: false)
        switch (words.first, words.count) {
        case ("ready", 1): self = .ready
        case ("changed", 1): self = .changed
        case ("overflow", 1): self = .overflow
        case ("lost", 2): self = .lost(reason: words[1])
        case ("refused", 2): self = .refused(errno: words[1])
        default: return nil
        }
    }

    /// Whether the helper has nothing more to say after this.
    var isLast: Bool {
        switch self {
        case .ready, .changed, .overflow: false
        case .lost, .refused, .died: true
        }
    }
}
