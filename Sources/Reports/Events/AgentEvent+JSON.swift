// SPDX-License-Identifier: Apache-2.0
package import CacheFormat

extension AgentEvent {
    /// The longest URL that is written in full, in bytes: a `data:` URL can have a megabyte.
    package static let longestURL = 4096
    private static let longestMessage = 2048

    /// The event as one line of JSON with its newline, as in the journal and as sent to readers.
    ///
    /// Written without ``JSON`` for speed, because there are as many events as icons.
    package func line(id: Int, time: String) -> String {
        var line = "\(Self.beginning)\(id), \"time\": \"\(time)\", \"kind\": \"\(kind.rawValue)\", \"code\": "
        line += code.map { "\"\($0)\"" } ?? "null"
        if let list { line += ", \"list\": \(JSON.quoted(list.text))" }
        if let url {
            if url.text.utf8.count <= Self.longestURL {
                line += ", \"url\": \(JSON.quoted(url.text))"
            } else {
                line += ", \"urlSHA256\": \"\(Digest.of(url.text).hex)\""
            }
        }
        if case .iconKept(_, let previous) = self, previous.text.utf8.count <= Self.longestURL {
            line += ", \"previous\": \(JSON.quoted(previous.text))"
        }
        if let generation { line += ", \"generation\": \(generation)" }
        var text = message
        if text.utf8.count > Self.longestMessage {
            text = String(text.unicodeScalars.prefix(Self.longestMessage / 4)) + "…"
        }
        line += ", \"message\": \(JSON.quoted(text)) }\n"
        return line
    }

    package static let beginning = "{ \"id\": "
}

package struct EventGap: Equatable, Sendable {
    package enum Cause: String, CaseIterable, Codable, Sendable {
        /// They were removed to make room for newer ones.
        case rotated
        /// They could not be written, for example because the disk is full.
        case notWritten = "not-written"
        /// Too many events at once to buffer; events of icons are dropped first.
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

    /// The number of the first missing event; for ``Cause/unknownPosition``, from the reader's own position.
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
            ("id", .number(id)), ("time", .string(time)), ("kind", .string(AgentEvent.Kind.gap.rawValue)),
            ("code", .string(cause.rawValue)), ("from", .number(from)), ("through", .number(through)),
            ("message", .string(message)),
        ]).line + "\n"
    }

    private var message: String {
        let range = from == through ? "Event \(from) is" : "Events \(from) to \(through) are"
        return "\(range) missing: \(cause.clause). Read the state again."
    }
}

package struct EventRecord: Codable, Equatable, Sendable {
    package var id: Int
    package var time: String
    package var kind: String
    package var code: String?
    package var list: ListName?
    package var url: IconURL?
    /// The digest of a URL that is too long for an event, as in `by-url/`.
    package var urlSHA256: String?
    package var generation: Int?
    package var from: Int?
    package var through: Int?
    package var message: String
}
