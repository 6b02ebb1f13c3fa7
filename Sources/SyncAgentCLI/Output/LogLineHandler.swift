// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CacheFormat
import Logging
import SyncAgent

/// The format of a log line.
enum LogLayout: String, CaseIterable, ExpressibleByArgument {
    /// For people: `2026-11-21T02:44:52Z info list read apps=16 list=apps.plist`; for systemd's journal
    /// `<6>info list read apps=16 list=apps.plist`.
    case plain
    /// Everything as pairs: `time=2026-11-21T02:44:52Z level=info msg="list read" apps=16 list=apps.plist`.
    case logfmt
    /// A JSON object whose values are all strings: `{ "time": "2026-11-21T02:44:52Z", "level": "info", … }`.
    case json
}

/// Writes log events to stderr, one on each line.
struct LogLineHandler: LogHandler {
    var metadata: Logger.Metadata = [:]
    var logLevel: Logger.Level = .info
    var layout = LogLayout.plain
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
        let facts = (event.metadata.map { metadata.merging($0) { _, new in new } } ?? metadata)
            .sorted { $0.key < $1.key }.map { (key: $0.key, value: "\($0.value)") }
        let head = [("time", "\(time)"), ("level", "\(event.level)"), ("msg", "\(event.message)")]
        switch layout {
        case .plain:
            return format.beginning(event.level, at: time) + printable("\(event.message)")
                + facts.map { " \($0.key)=\(Self.quoted($0.value))" }.joined()
        case .logfmt:
            return format.mark(event.level)
                + (head + facts).map { "\($0.0)=\(Self.quoted($0.1))" }.joined(separator: " ")
        case .json:
            let members = (head + facts).map { (key: $0.0, value: JSON.string($0.1)) }
            return format.mark(event.level) + printable(JSON.object(members).line)
        }
    }

    /// The value itself if it is one plain word, else a JSON string.
    private static func quoted(_ value: String) -> String {
        let isPlain = !value.isEmpty && value.utf8.allSatisfy { $0 > 0x20 && $0 != UInt8(ascii: "\"") }
        return isPlain && printable(value) == value ? value : printable(JSON.quoted(value))
    }
}
