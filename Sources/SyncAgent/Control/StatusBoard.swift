// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import Glibc
import SyncPlan
import Synchronization

/// The status as clients read it: written once after each change, however many ask for it.
final class StatusBoard: Sendable {
    private let text: SharedAnswer<String?>
    private let line: SharedAnswer<String?>

    /// - Parameters:
    ///   - loop: What knows all but the watch.
    ///   - lists: What knows how the lists folder is watched.
    init(_ loop: AgentLoop, _ lists: ListService) {
        let report = SharedAnswer { await Self.report(loop, lists) }
        text = Self.document(of: report) { $0.text + "\n" }
        line = Self.document(of: report) { $0.line }
    }

    /// The document over several lines, as an answer has it; `nil` if the loop has ended.
    func text() async -> String? { await text.get() }

    /// The document in one line, as a stream has it; `nil` if the loop has ended.
    func line() async -> String? { await line.get() }

    private static func report(_ loop: AgentLoop, _ lists: ListService) async -> StatusReport? {
        guard var report = await loop.status() else { return nil }
        report.pid = Int(getpid())
        let watch = lists.watch
        (report.watch.mode, report.watch.reason, report.watch.overflows) = (watch.mode, watch.reason, watch.overflows)
        return report
    }

    private static func document(
        of report: SharedAnswer<StatusReport?>, _ write: @escaping @Sendable (JSON) -> String
    ) -> SharedAnswer<String?> {
        let last = Mutex<(report: StatusReport, text: String)?>(nil)
        return SharedAnswer {
            guard let report = await report.get() else { return nil }
            if let last = last.withLock(\.self), last.report == report { return last.text }
            let text = write(report.json)
            last.withLock { $0 = (report, text) }
            return text
        }
    }
}
