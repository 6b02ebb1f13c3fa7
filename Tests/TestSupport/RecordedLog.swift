// SPDX-License-Identifier: Apache-2.0
package import Logging
import Synchronization

/// A log whose messages are kept, without their metadata.
package struct RecordedLog: LogHandler {
    private final class Lines: Sendable {
        let messages = Mutex<[String]>([])
    }

    private let lines = Lines()
    package var metadata: Logger.Metadata = [:]
    package var logLevel = Logger.Level.trace

    package init() {}

    package var messages: [String] { lines.messages.withLock(\.self) }

    /// What writes to this log.
    package var logger: Logger { Logger(label: "tests") { _ in self } }

    package subscript(metadataKey key: String) -> Logger.MetadataValue? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    package func log(event: LogEvent) {
        lines.messages.withLock { $0.append("\(event.message)") }
    }
}

extension Logger {
    /// A logger that writes nowhere.
    package static let silent = Logger(label: "tests") { _ in SwiftLogNoOpLogHandler() }
}
