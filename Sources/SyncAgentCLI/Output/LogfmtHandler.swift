// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import Logging
import SyncAgent

/// Logs to stderr in logfmt, one event a line.
///
/// `2026-11-21T02:44:52Z info list read apps=16 list=apps.plist`; for systemd's journal
/// `<6>info list read apps=16 list=apps.plist`.
struct LogfmtHandler: LogHandler {
    var metadata: Logger.Metadata = [:]
    var logLevel: Logger.Level = .info
    var format = LogFormat.standardError

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        LogWriter.shared.write(line(for: event, at: AgentClock.wallTime) + "\n")
    }

    /// The line of an event; metadata is sorted by key, and the event's overrides the handler's.
    func line(for event: LogEvent, at time: Timestamp) -> String {
        var line = format.beginning(event.level, at: time) + printable("\(event.message)")
        let facts = event.metadata.map { metadata.merging($0) { _, new in new } } ?? metadata
        for (key, value) in facts.sorted(by: { $0.key < $1.key }) { line += " \(key)=\(Self.quoted("\(value)"))" }
        return line
    }

    /// The value itself if it is one plain word, else a JSON string.
    private static func quoted(_ value: String) -> String {
        let isPlain = !value.isEmpty && value.utf8.allSatisfy { $0 > 0x20 && $0 != UInt8(ascii: "\"") }
        return isPlain && printable(value) == value ? value : printable(JSON.quoted(value))
    }
}
