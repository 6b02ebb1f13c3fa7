// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Synchronization
import Testing

@testable import SyncAgentCLI

@Suite("Writing the log")
struct LogWriterTests {
    /// A reader of the log, which may take no line until it is let.
    private final class Reader: Sendable {
        private let lines = Mutex<[String]>([])
        private let gate = DispatchSemaphore(value: 0)
        private let began = DispatchSemaphore(value: 0)

        var all: [String] { lines.withLock(\.self) }

        func read(_ line: String) {
            began.signal()
            gate.wait()
            lines.withLock { $0.append(line) }
        }

        func waitForFirst() { began.wait() }

        func open() { for _ in 0..<10 { gate.signal() } }
    }

    @Test("lines come out in their order, and all of them before draining returns")
    func order() {
        let reader = Reader()
        let writer = LogWriter { reader.read($0) }
        reader.open()
        for line in ["a\n", "b\n", "c\n"] { writer.write(line) }
        writer.drain()
        #expect(reader.all == ["a\n", "b\n", "c\n"])
    }

    @Test("log lines beyond the backlog of a slow reader are dropped and counted", arguments: [1, 3])
    func overflow(excess: Int) {
        let reader = Reader()
        let writer = LogWriter { reader.read($0) }
        let line = String(repeating: "x", count: LogWriter.capacity / 2 - 1) + "\n"
        writer.write(line)
        reader.waitForFirst()
        writer.write(line)
        for _ in 0..<excess { writer.write("lost\n") }
        reader.open()
        writer.drain()
        let count = excess == 1 ? "1 log line" : "\(excess) log lines"
        #expect(reader.all == [line, "(\(count) dropped: the reader of stderr is too slow)\n", line])
        // There is room again.
        writer.write("later\n")
        writer.drain()
        #expect(reader.all.last == "later\n")
    }
}
