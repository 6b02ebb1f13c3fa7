// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import Dispatch
import Glibc
import Logging
import Synchronization
import SystemPackage

/// Writes log lines to stderr on its own thread, so that a reader that hangs does not block the agent.
final class LogWriter: Sendable {
    static let shared = LogWriter()

    /// The limit on unwritten bytes; further lines are dropped and counted.
    static let capacity = 1 << 20

    private struct Backlog {
        var bytes = 0
        var dropped = 0
    }

    private let backlog = Mutex(Backlog())
    private let display = Mutex<LiveDisplay?>(nil)
    private let queue = DispatchQueue(label: "syncagent.log")
    private let put: @Sendable (String) -> Void

    /// - Parameter put: Writes a line, and may block. The default writes to stderr.
    init(put: @escaping @Sendable (String) -> Void = { FileDescriptor.standardError.tryWriting($0) }) {
        self.put = put
    }

    /// Writes all later lines above a display on stderr.
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
                return exchange(&backlog.dropped, with: 0)
            }
            guard dropped > 0 else { return }
            let note = "(\(counted(dropped, "log line")) dropped: the reader of stderr is too slow)"
            put(LogFormat.standardError.marked(note, .warning) + "\n")
        }
    }

    /// Waits until all lines are written, but no longer than `limit` (default 1 s).
    func drain(atMost limit: DispatchTimeInterval = .seconds(1)) {
        let isDone = DispatchSemaphore(value: 0)
        queue.async { isDone.signal() }
        _ = isDone.wait(timeout: .now() + limit)
    }
}
