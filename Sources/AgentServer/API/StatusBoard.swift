// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import Reports
import SyncAgent
import Synchronization

/// The status as JSON text, encoded once after each change for all clients; `nil` if the agent is about to end.
struct StatusBoard: Sendable {
    /// The status on several lines, for responses.
    let text: SharedAnswer<String?>
    /// The status on one line, for streams.
    let line: SharedAnswer<String?>

    init(_ agent: RunningAgent) {
        func answer(_ write: @escaping @Sendable (JSON) -> String) -> SharedAnswer<String?> {
            let last = Mutex<(report: StatusReport, text: String)?>(nil)
            return SharedAnswer {
                guard let report = await agent.status() else { return nil }
                if let last = last.withLock(\.self), last.report == report { return last.text }
                let text = write(report.json)
                last.withLock { $0 = (report, text) }
                return text
            }
        }
        text = answer { $0.text + "\n" }
        line = answer { $0.line }
    }
}
