// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import Reports
import SyncAgent
import Synchronization

/// The status as JSON text, encoded once after each change for all clients.
///
/// The agent itself has the status at hand; only its text is kept here.
final class StatusBoard: Sendable {
    private let text: SharedAnswer<String?>
    private let line: SharedAnswer<String?>

    init(_ agent: RunningAgent) {
        text = Self.document(of: agent) { $0.text + "\n" }
        line = Self.document(of: agent) { $0.line }
    }

    /// The status over several lines, as in a response; `nil` if the agent is about to end.
    func text() async -> String? { await text.get() }

    /// The status in one line, as in a stream; `nil` if the agent is about to end.
    func line() async -> String? { await line.get() }

    private static func document(
        of agent: RunningAgent, _ write: @escaping @Sendable (JSON) -> String
    ) -> SharedAnswer<String?> {
        let last = Mutex<(report: StatusReport, text: String)?>(nil)
        return SharedAnswer {
            guard let report = await agent.status() else { return nil }
            if let last = last.withLock(\.self), last.report == report { return last.text }
            let text = write(report.json)
            last.withLock { $0 = (report, text) }
            return text
        }
    }
}
