// SPDX-License-Identifier: Apache-2.0
import CacheFormat

package struct EventGap: Equatable, Sendable {
    package enum Cause: String, CaseIterable, Codable, Sendable {
        /// The events were removed to make room for newer ones.
        case rotated
        /// The events could not be written, for example because the disk is full.
        case notWritten = "not-written"
        /// Too many events came at once to buffer them; events of icons are dropped first.
        case tooMany = "too-many"
        /// The agent was killed and may not have written the last events.
        case agentKilled = "agent-killed"
        /// The machine stopped unexpectedly; the newest events may not have reached the disk.
        case machineStopped = "machine-stopped"
        case damaged
        case removed
        /// The reader's position is beyond the newest event: it comes from another agent's journal.
        case unknownPosition = "unknown-position"

        var clause: String {
            switch self {
            case .rotated: "they were removed to make room for newer ones"
            case .notWritten: "they could not be written to the state folder"
            case .tooMany: "too many events at once; events of icons were dropped first"
            case .agentKilled: "the agent was killed, and may not have written the last ones"
            case .machineStopped:
                "the machine stopped without notice, and the last ones may not have been written to disk"
            case .damaged: "the journal was damaged"
            case .removed: "the journal was removed while the agent ran"
            case .unknownPosition: "this journal has no such event yet: the position belongs to another journal"
            }
        }
    }

    /// The number of the first missing event; for ``Cause/unknownPosition``, the number that the journal gives next.
    package var from: Int
    package var through: Int
    package var cause: Cause

    package init(from: Int, through: Int, cause: Cause) {
        self.from = from
        self.through = through
        self.cause = cause
    }

    /// The number that a reader resumes after.
    package var id: Int { cause == .unknownPosition ? 0 : through }

    package func line(time: String) -> String {
        JSON.object([
            ("id", .number(id)), ("time", .string(time)), ("kind", .string(AgentEvent.Kind.gap.word)),
            ("code", .string(cause.rawValue)), ("from", .number(from)), ("through", .number(through)),
            ("message", .string(message)),
        ]).line + "\n"
    }

    private var message: String {
        let range = from == through ? "Event \(from) is" : "Events \(from) to \(through) are"
        return "\(range) missing: \(cause.clause). Read the state again."
    }
}
