// SPDX-License-Identifier: Apache-2.0

extension StatusProblem {
    /// The codes of problems other than failed icons and lists; `networkLogin` is also a code of icons, for a cause
    /// that they have in common.
    package enum Code: String, CaseIterable, Sendable {
        case agentUnknown = "agent-unknown"
        case agentUnreachable = "agent-unreachable"
        case paused
        case diskFull = "disk-full"
        case outOfResources = "out-of-resources"
        case publicationFailed = "publication-failed"
        case manifestUnreadable = "manifest-unreadable"
        case stateNotStored = "state-not-stored"
        case stateDamaged = "state-damaged"
        case eventsNotWritten = "events-not-written"
        case metricsNotWritten = "metrics-not-written"
        case notListening = "not-listening"
        case configurationRejected = "configuration-rejected"
        case notRendered = "not-rendered"
        case evictionHeld = "eviction-held"
        case evictionSuspended = "eviction-suspended"
        case networkLogin = "network-login"
        case originWaiting = "origin-waiting"
        case upstreamRefused = "upstream-refused"
        case upstreamStale = "upstream-stale"
        case upstreamBroken = "upstream-broken"
        case upstreamFailed = "upstream-failed"
        case settingsNeedRestart = "settings-need-restart"
        case upstreamIconsFailed = "upstream-icons-failed"
        case upstreamUnlisted = "upstream-unlisted"
        case previousImage = "previous-image"
        case stale
        case entriesIgnored = "entries-ignored"
        case conflictCopy = "conflict-copy"
        case watchPolling = "watch-polling"
        case leasesUnseen = "leases-unseen"
        case muted
    }

    /// The problem's code as a ``Code``; `nil` for other codes of failed icons, and for those of lists.
    package var known: Code? { Code(rawValue: code) }

    init(
        _ code: Code, severity: Severity = .problem, count: Int = 1, sentence: String, detail: String? = nil,
        example: String? = nil, commands: [String] = [], subject: CodeExplanation.Subject? = nil
    ) {
        self.init(
            code: code.rawValue, severity: severity, count: count, sentence: sentence, detail: detail,
            example: example, commands: commands, subject: subject)
    }
}
