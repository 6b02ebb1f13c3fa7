// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import Logging
import SyncAgent

/// Logs to stderr, one event a line: `2026-11-21T02:44:52Z info list read list=apps.plist apps=16`.
struct LogfmtHandler: LogHandler {
    var metadata: Logger.Metadata = [:]
    var logLevel: Logger.Level = .info

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        var line = "\(AgentClock.wallTime) \(event.level) \(printable("\(event.message)"))"
        let facts = event.metadata.map { metadata.merging($0) { _, new in new } } ?? metadata
        for (key, value) in facts.sorted(by: { $0.key < $1.key }) { line += " \(key)=\(Self.quoted("\(value)"))" }
        LogWriter.shared.write(line + "\n")
    }

    /// The value as it is if it is one plain word, else as a JSON string.
    private static func quoted(_ value: String) -> String {
        let isPlain = !value.isEmpty && value.utf8.allSatisfy { $0 > 0x20 && $0 != UInt8(ascii: "\"") }
        return isPlain && printable(value) == value ? value : printable(JSON.quoted(value))
    }
}
