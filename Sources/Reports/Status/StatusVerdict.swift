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
}

extension StatusReport {
    package var verdict: StatusVerdict { verdict(for: CommandContext()) }

    package func verdict(for context: CommandContext) -> StatusVerdict {
        let problems = problems(for: context).filter { $0.severity == .problem }
        let stopped = state == .stopped ? "The agent is stopped. " : ""
        // The agent does not start with an invalid configuration.
        let canStart = state == .stopped && configuration.error == nil
        let start = canStart ? context.start.map(context.command) : nil
        if let first = problems.first {
            let sentence =
                switch problems.count {
                case 1: headline(first) + "."
                case _ where first.isUrgent:
                    headline(first) + ", and \(Self.words(for: problems.dropFirst(), isMore: true)):"
                default: Self.words(for: problems[...]) + ":"
                }
            return StatusVerdict(level: .problem, sentence: stopped + sentence, command: start)
        }
        switch state {
        case .stopped, .unknown:
            return StatusVerdict(level: .stopped, sentence: stopped + onDisk, command: start)
        case .paused:
            return StatusVerdict(level: .stopped, sentence: "Downloads are paused. \(onDisk)")
        case .running:
            return StatusVerdict(level: work == nil ? .ok : .busy, sentence: work ?? upToDate(context))
        }
    }

    /// The work in progress, as a sentence; `nil` if there is none.
    private var work: String? {
        let transfers = downloads.active + downloads.queued
        let icons = counted(self.icons.referenced, "icon")
        let pending = self.icons.pending
        if pending > 0, transfers == 0, downloads.awaitingUpstream > 0 {
            let verb = pending == 1 ? "has" : "have"
            return "Waiting for an upstream: \(grouped(pending)) of \(icons) \(verb) no image yet."
        }
        if pending > 0 { return "Downloading: \(grouped(max(pending, transfers))) of \(icons) to go." }
        if transfers > 0 { return "Refreshing \(counted(transfers, "icon"))." }
        return inSync || !reachable ? nil : "Publishing the newest state."
    }

    /// The failures, in words: `8 icons failed, 1 list was not accepted, 1 more problem`.
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

    private func headline(_ first: StatusProblem) -> String {
        let wait = downloads.blocked > 0 ? waiting(downloads.blocked) : nil
        return switch first.known {
        case .diskFull: "DISK FULL: \(wait ?? "no new image can be stored")"
        case .outOfResources: "LIMIT REACHED: \(wait ?? "the agent cannot continue")"
        case .paused: "PAUSED: \(wait ?? "no icon is refreshed")"
        case .evictionHeld: "EVICTION HELD: a change of the lists retired most images"
        case .evictionSuspended: "EVICTION SUSPENDED: it is unknown what the lists name"
        case .networkLogin: "NETWORK LOGIN: \(counted(first.count, "icon")) \(first.count == 1 ? "waits" : "wait")"
        case .configurationRejected where !reachable: "CONFIGURATION REJECTED: the agent does not start with it"
        case .configurationRejected: "CONFIGURATION REJECTED: the previous settings stay in force"
        case .publicationFailed: "CACHE NOT WRITABLE: the newest state cannot be published"
        case .manifestUnreadable: "CACHE DAMAGED: the manifest cannot be read"
        case .agentUnknown: "UNKNOWN: this user cannot see whether an agent is running"
        default: first.capitalized + " [\(first.code)]"
        }
    }

    private var onDisk: String {
        guard generation != nil else { return "Nothing has been published yet." }
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
    /// Whether the verdict names the problem in place of the number of problems, because it blocks all work.
    fileprivate var isUrgent: Bool {
        [.diskFull, .outOfResources, .paused, .publicationFailed, .manifestUnreadable, .networkLogin].contains(known)
    }

    fileprivate var capitalized: String {
        guard let first = sentence.utf8.first, (0x61...0x7A).contains(first) else { return sentence }
        return String(decoding: [first & ~0x20] + sentence.utf8.dropFirst(), as: UTF8.self)
    }
}
