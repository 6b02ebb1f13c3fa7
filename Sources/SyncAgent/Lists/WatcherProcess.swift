// SPDX-License-Identifier: Apache-2.0
import AppLists
import Glibc
import SystemPackage

/// One `syncagent-watch` process: reads its signals, and checks that it responds.
///
/// Only this actor's thread waits for the process.
actor WatcherProcess {
    /// The question sent to the helper.
    static let question: StaticString = "?"
    /// The helper's answer.
    private static let answer = "alive"
    /// The most bytes of a line; the helper's lines are far shorter.
    private static let longestLine = 128
    /// The most bytes of the helper's standard error that are kept.
    private static let longestMessage = 16 << 10
    /// How long the helper may take to exit after its last signal.
    private static let endTimeout: Duration = .milliseconds(100)

    private let thread = FileThread("watcher")
    /// The interval between questions; a helper that has sent nothing by the next question hangs.
    private let interval: @Sendable () -> Duration
    /// Kills the process on cancellation.
    private let killer: HelperKiller
    private var process: HelperProcess?
    private var nextQuestion = ContinuousClock.now
    /// Whether a question is unanswered.
    private var isAsked = false
    /// Output of the helper that is not a complete line yet.
    private var text: [UInt8] = []
    private var message: [UInt8] = []

    nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

    init(askingEvery interval: @escaping @Sendable () -> Duration, _ killer: HelperKiller) {
        (self.interval, self.killer) = (interval, killer)
    }

    func start(_ program: FilePath, _ folder: FilePath) throws(Errno) -> HelperProcess {
        let process = try HelperProcess(program, [folder.string], hasMessages: true)
        killer.attach(process)
        self.process = process
        nextQuestion = .now + interval()
        return process
    }

    /// Waits for the next signal; must not be called after the last one.
    func next() -> WatchSignal {
        guard let process else { return .died("not started") }
        while true {
            while let end = text.firstIndex(of: UInt8(ascii: "\n")) {
                let line = String(decoding: text[..<end], as: UTF8.self)
                text.removeSubrange(...end)
                guard line.utf8.count <= Self.longestLine else { return .died("sent too much output") }
                isAsked = false
                if line == Self.answer {
                    nextQuestion = .now + interval()
                    continue
                }
                return WatchSignal(line: line) ?? .died("sent an unknown line: \(line.debugDescription)")
            }
            guard text.count <= Self.longestLine, message.count <= Self.longestMessage else {
                return .died("sent too much output")
            }
            switch process.next(by: nextQuestion) {
            case .output(let bytes): text += bytes
            case .message(let bytes): message += bytes
            case .outputEnded, .ended: return .died(cause(process))
            case .late:
                if isAsked { return .died("not responding") }
                isAsked = true
                process.send(Self.question)
                nextQuestion = .now + interval()
            }
        }
    }

    /// Reaps the helper; kills it if it is still running.
    func end() {
        process?.end(within: Self.endTimeout)
    }

    /// How the process ended, with its last line on standard error.
    private func cause(_ process: HelperProcess) -> String {
        let exit = process.end(within: Self.endTimeout)
        while case .message(let bytes) = process.next(by: .now + Self.endTimeout), message.count <= Self.longestMessage
        {
            message += bytes
        }
        let end =
            switch exit {
            case .code(let code): "exit code \(code)"
            case .signal(let signal): "signal \(signal)"
            }
        let lines = String(decoding: message, as: UTF8.self).split(whereSeparator: \.isNewline)
        return ([end] + lines.suffix(1).map(String.init)).joined(separator: ": ")
    }
}
