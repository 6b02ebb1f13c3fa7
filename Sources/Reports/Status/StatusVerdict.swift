// SPDX-License-Identifier: Apache-2.0
import CacheFormat

/// The overall status in one sentence.
package struct StatusVerdict: Encodable, Equatable, Sendable {
    package enum Level: String, CaseIterable, Encodable, Sendable {
        case ok
        /// Work is in progress, and nothing is wrong.
        case busy
        /// The agent is stopped, and nothing else is wrong.
        case stopped
        case problem
    }

    package var level: Level
    /// A sentence with its full stop, or with a colon if the problems follow.
    package var sentence: String
    /// The command that starts the agent, if it is stopped and its configuration is valid.
    package var command: String?
    /// The sentence, with what failed instead of the number of problems; `nil` if there is no problem, and not encoded.
    package var words: String?

    private enum CodingKeys: CodingKey {
        case level, sentence, command
    }
}

extension StatusReport {
    package var verdict: StatusVerdict { verdict(for: CommandContext()) }

    package func verdict(for context: CommandContext) -> StatusVerdict {
        let all = problems(for: context)
        let problems = all.filter { $0.severity == .problem }
        let stopped = state == .stopped ? "The agent is stopped. " : ""
        // The agent does not start with an invalid configuration.
        let canStart = state == .stopped && configuration.error == nil
        let start = canStart ? context.start.map(context.command) : nil
        if let first = problems.first {
            let more = counted(problems.count - 1, "more problem")
            let sentence = headline(first, problems.count, others: more, notices: all.count - problems.count)
            let words =
                switch problems.count {
                case 1: sentence
                case _ where first.isUrgent:
                    headline(first, problems.count, others: Self.words(for: problems.dropFirst(), isMore: true))
                default: Self.words(for: problems[...]) + ":"
                }
            return StatusVerdict(
                level: .problem, sentence: stopped + sentence, command: start, words: stopped + words)
        }
        switch state {
        case .stopped, .unknown:
            return StatusVerdict(
                level: .stopped, sentence: stopped + onDisk(isStartTold: start != nil), command: start)
        case .paused:
            return StatusVerdict(level: .stopped, sentence: "Downloads are paused. \(onDisk(isStartTold: true))")
        case .running: break
        }
        let waiting = downloads.awaitingUpstream ?? 0
        if downloads.active + downloads.queued == 0, icons.pending > 0, waiting > 0 {
            return StatusVerdict(
                level: .busy,
                sentence:
                    "Waiting for an upstream: \(grouped(icons.pending)) of \(counted(icons.referenced, "icon")) \(icons.pending == 1 ? "has" : "have") no image yet."
            )
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
        return StatusVerdict(level: .ok, sentence: upToDate(context))
    }

    /// What failed: `8 icons failed, 1 list was not accepted, 1 more problem`.
    private static func words(for problems: ArraySlice<StatusProblem>, isMore: Bool = false) -> String {
        func affected(_ subject: CodeExplanation.Subject) -> Int {
            problems.reduce(0) { $0 + ($1.subject == subject ? $1.count : 0) }
        }
        let (icons, lists) = (affected(.icon), affected(.list))
        var parts: [String] = []
        if icons > 0 { parts.append("\(counted(icons, "icon")) failed") }
        if lists > 0 { parts.append("\(counted(lists, "list")) \(lists == 1 ? "was" : "were") not accepted") }
        let others = problems.count { $0.subject == nil }
        if others > 0 { parts.append(counted(others, isMore || !parts.isEmpty ? "more problem" : "problem")) }
        return parts.joined(separator: ", ")
    }

    private func headline(_ first: StatusProblem, _ count: Int, others more: String, notices: Int = 0) -> String {
        guard count == 1 || first.isUrgent else {
            return "\(count) problems\(notices > 0 ? ", \(counted(notices, "notice"))" : ""):"
        }
        let others = count == 1 ? "" : ", and \(more)"
        let wait = downloads.blocked > 0 ? waiting(downloads.blocked) : nil
        let end = count == 1 ? "." : ":"
        switch first.known {
        case .diskFull: return "DISK FULL: \(wait ?? "no new image can be stored")\(others)\(end)"
        case .outOfResources: return "LIMIT REACHED: \(wait ?? "the agent cannot continue")\(others)\(end)"
        case .paused: return "PAUSED: \(wait ?? "no icon is refreshed")\(others)\(end)"
        case .evictionHeld: return "EVICTION HELD: a change of the lists retired most images\(others)\(end)"
        case .evictionSuspended: return "EVICTION SUSPENDED: it is unknown what the lists name\(others)\(end)"
        case .networkLogin:
            let verb = first.count == 1 ? "waits" : "wait"
            return "NETWORK LOGIN: \(counted(first.count, "icon")) \(verb)\(others)\(end)"
        case .configurationRejected:
            let effect =
                reachable == false ? "the agent does not start with it" : "the previous settings stay in force"
            return "CONFIGURATION REJECTED: \(effect)\(others)\(end)"
        case .publicationFailed: return "CACHE NOT WRITABLE: nothing can be published\(others)\(end)"
        case .manifestUnreadable: return "CACHE DAMAGED: the manifest cannot be read\(others)\(end)"
        case .agentUnknown: return "UNKNOWN: this user cannot see whether an agent is running\(others)\(end)"
        default: return first.capitalized + " [\(first.code)]."
        }
    }

    private func onDisk(isStartTold: Bool) -> String {
        guard generation != nil else {
            return "Nothing has been published yet."
        }
        guard icons.referenced > 0 else {
            return lists.isEmpty ? "There are no app lists." : "The app lists name no icons."
        }
        guard icons.pending > 0 else {
            return inSync || state == .paused
                ? "\(allIcons) on disk\(notRefreshed)." : "\(allIcons) on disk; the newest lists are not published yet."
        }
        let verb = icons.referenced == 1 ? "is" : "are"
        return "\(grouped(icons.ready)) of \(counted(icons.referenced, "icon")) \(verb) on disk."
    }

    private func upToDate(_ context: CommandContext) -> String {
        guard !lists.isEmpty else {
            return "There are no app lists: drop one into \(context.lists ?? "the lists folder")."
        }
        guard icons.referenced > 0 else { return "The app lists name no icons." }
        return unmutedStale > 0 ? "\(allIcons) on disk\(notRefreshed)." : "\(allIcons) up to date."
    }

    private var notRefreshed: String { unmutedStale > 0 ? "; \(grouped(unmutedStale)) could not be refreshed" : "" }

    private var allIcons: String {
        // Without a problem, all failed icons are muted.
        if icons.failed > 0 { return "\(grouped(icons.ready)) of \(counted(icons.referenced, "icon")) are" }
        return icons.referenced == 1 ? "The only icon is" : "All \(counted(icons.referenced, "icon")) are"
    }
}

extension StatusProblem {
    /// Whether it is named before the number of problems, because it blocks all work.
    fileprivate var isUrgent: Bool {
        [.diskFull, .outOfResources, .paused, .publicationFailed, .manifestUnreadable, .networkLogin].contains(known)
    }

    fileprivate var capitalized: String {
        guard let first = sentence.utf8.first, (0x61...0x7A).contains(first) else { return sentence }
        return String(decoding: [first & ~0x20] + sentence.utf8.dropFirst(), as: UTF8.self)
    }
}
