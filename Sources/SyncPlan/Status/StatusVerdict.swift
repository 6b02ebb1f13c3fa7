// SPDX-License-Identifier: Apache-2.0
import CacheFormat

/// Whether all is well, in one sentence.
package struct StatusVerdict: Equatable, Sendable {
    package enum Level: String, Sendable {
        case ok
        /// Work is under way, and nothing is wrong.
        case busy
        /// The agent is stopped, and nothing else is wrong.
        case stopped
        /// A person should look at it.
        case problem
    }

    package var level: Level
    /// A sentence with its full stop; with a colon, if the problems are to follow.
    package var sentence: String
}

extension StatusReport {
    package var verdict: StatusVerdict {
        let problems = problems.filter { $0.severity == .problem }
        if let first = problems.first {
            return StatusVerdict(level: .problem, sentence: headline(first, problems.count))
        }
        switch state {
        case .stopped, .unknown: return StatusVerdict(level: .stopped, sentence: "The agent is stopped. \(onDisk)")
        case .paused: return StatusVerdict(level: .stopped, sentence: "Downloads are paused. \(onDisk)")
        case .running: break
        }
        if downloads.active + downloads.queued > 0 || icons.pending > 0 {
            let left = max(icons.pending, downloads.active + downloads.queued)
            let sentence =
                icons.pending > 0
                ? "Downloading: \(grouped(left)) of \(counted(icons.referenced, "icon")) to go."
                : "Refreshing \(counted(left, "icon"))."
            return StatusVerdict(level: .busy, sentence: sentence)
        }
        guard inSync || reachable == false else {
            return StatusVerdict(level: .busy, sentence: "Publishing the newest state.")
        }
        return StatusVerdict(level: .ok, sentence: upToDate)
    }

    private func headline(_ first: StatusProblem, _ count: Int) -> String {
        guard count == 1 || first.isUrgent else { return "\(count) problems:" }
        let others = count == 1 ? "" : ", and \(counted(count - 1, "more problem"))"
        let wait = downloads.blocked > 0 ? waiting(downloads.blocked) : nil
        let end = count == 1 ? "." : ":"
        switch first.code {
        case "disk-full": return "DISK FULL: \(wait ?? "no new image can be stored")\(others)\(end)"
        case "out-of-resources": return "LIMIT REACHED: \(wait ?? "the agent cannot go on")\(others)\(end)"
        case "paused": return "PAUSED: \(wait ?? "no icon is refreshed")\(others)\(end)"
        case "eviction-held": return "EVICTION HELD: a change of the lists retired most images\(others)\(end)"
        case "eviction-suspended": return "LISTS IN DOUBT: nothing is evicted\(others)\(end)"
        case "configuration-rejected":
            return "CONFIGURATION REJECTED: the settings before it stay in force\(others)\(end)"
        case "publication-failed": return "CACHE NOT WRITABLE: nothing can be published\(others)\(end)"
        case "manifest-unreadable": return "CACHE DAMAGED: the manifest cannot be read\(others)\(end)"
        case "agent-unknown": return "UNKNOWN: this user cannot see whether an agent is running\(others)\(end)"
        default: return first.capitalized + " [\(first.code)]."
        }
    }

    private var onDisk: String {
        guard generation != nil else {
            return state == .stopped
                ? "Nothing has been published yet: start it with syncagent run." : "Nothing has been published yet."
        }
        guard icons.referenced > 0 else {
            return lists.isEmpty ? "There are no app lists." : "The app lists name no icons."
        }
        guard icons.pending > 0 else {
            return inSync || state == .paused
                ? "\(allIcons) on disk." : "\(allIcons) on disk; the newest lists are not published yet."
        }
        return "\(grouped(icons.ready)) of \(counted(icons.referenced, "icon")) are on disk."
    }

    private var upToDate: String {
        guard !lists.isEmpty else { return "There are no app lists: drop one into the lists folder." }
        guard icons.referenced > 0 else { return "The app lists name no icons." }
        return "\(allIcons) up to date."
    }

    private var allIcons: String {
        icons.referenced == 1 ? "The only icon is" : "All \(counted(icons.referenced, "icon")) are"
    }
}

extension StatusProblem {
    /// Whether it is named before the number of problems: nothing goes on as long as it lasts.
    fileprivate var isUrgent: Bool {
        ["disk-full", "out-of-resources", "paused", "publication-failed", "manifest-unreadable"].contains(code)
    }

    /// The sentence with a capital letter.
    fileprivate var capitalized: String { sentence.prefix(1).uppercased() + sentence.dropFirst() }
}
