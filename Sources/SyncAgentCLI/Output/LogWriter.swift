// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import Dispatch
import Glibc
import Logging
import Synchronization
import SystemPackage

/// Writes log lines to stderr on a thread of its own, so that the agent goes on although nobody reads them.
final class LogWriter: Sendable {
    static let shared = LogWriter()

    /// How many bytes may wait to be read by whoever reads the log; further lines are counted, and dropped.
    static let capacity = 1 << 20

    private struct Backlog {
        var bytes = 0
        var dropped = 0
    }

    private let backlog = Mutex(Backlog())
    private let display = Mutex<LiveDisplay?>(nil)
    private let queue = DispatchQueue(label: "syncagent.log")
    private let put: @Sendable (String) -> Void

    /// - Parameter put: Writes a line, for as long as its reader takes. The default writes to stderr.
    init(put: @escaping @Sendable (String) -> Void = LogWriter.putToStandardError) {
        self.put = put
    }

    /// Writes the lines from now on above those that a display draws on stderr.
    func write(above display: LiveDisplay) {
        self.display.withLock { $0 = display }
    }

    func write(_ line: String) {
        let size = line.utf8.count
        let hasRoom = backlog.withLock { backlog in
            guard backlog.bytes + size <= Self.capacity else {
                backlog.dropped += 1
                return false
            }
            backlog.bytes += size
            return true
        }
        guard hasRoom else { return }
        queue.async { [self] in
            if let display = display.withLock(\.self) { display.write(above: line) } else { put(line) }
            let dropped = backlog.withLock { backlog in
                backlog.bytes -= size
                defer { backlog.dropped = 0 }
                return backlog.dropped
            }
            guard dropped > 0 else { return }
            let note = "(\(counted(dropped, "log line")) dropped: the reader of stderr is too slow)"
            put(LogFormat.standardError.marked(note, .warning) + "\n")
        }
    }

    /// Returns when everything is written, or when the time is over.
    ///
    /// - Parameter limit: The time; a second by default.
    func drain(atMost limit: DispatchTimeInterval = .seconds(1)) {
        let isDone = DispatchSemaphore(value: 0)
        queue.async { isDone.signal() }
        _ = isDone.wait(timeout: .now() + limit)
    }

    private static func putToStandardError(_ line: String) {
        _ = try? FileDescriptor.standardError.writeAll(line.utf8)
    }
}
