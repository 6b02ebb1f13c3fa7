// SPDX-License-Identifier: Apache-2.0
import CacheFormat

/// What `syncagent-watch` reports about the lists folder, or how it ended.
package enum WatchSignal: Equatable, Sendable {
    /// The folder is watched from now on; earlier changes must be found by listing it.
    case ready
    case changed
    /// The kernel's event queue overflowed.
    case overflow
    /// The folder was deleted, moved or unmounted; `reason` is the helper's term, such as `delete-self`.
    case lost(reason: String)
    /// The folder cannot be watched because of this system error, such as `ENOSPC`.
    case refused(errno: String)
    /// The helper ended or was killed for another reason than the loss of the folder.
    case died(String)

    /// Parses a line of the helper's output; `nil` if it is malformed.
    package init?(line: String) {
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

    /// Whether no signal of this helper follows.
    package var isLast: Bool {
        switch self {
        case .ready, .changed, .overflow: false
        case .lost, .refused, .died: true
        }
    }
}
