// SPDX-License-Identifier: Apache-2.0
import Glibc
import SystemPackage

/// One process of `syncagent-watch`: what it says, and how it is asked whether all is well.
///
/// The actor's thread waits for it, and nothing else of the agent's does.
actor WatcherProcess {
    /// What a helper is asked.
    static let question: StaticString = "?"
    /// What it answers.
    private static let answer = "alive"
    /// The longest line that is read, in bytes; the helper's are far shorter.
    private static let longestLine = 128
    /// The most that is kept of what it says on standard error, in bytes.
    private static let longestMessage = 16 << 10
    /// How long one that has nothing more to say may take to end.
    private static let endTimeout: Duration = .milliseconds(100)

    private let thread = FileThread("watcher")
    private let interval: @Sendable () -> Duration
    private let killer: HelperKiller
    private var process: HelperProcess?
    private var nextQuestion = ContinuousClock.now
    /// Whether it was asked, and has said nothing since.
    private var isAsked = false
    /// What was read and belongs to no line yet.
    private var text: [UInt8] = []
    private var message: [UInt8] = []

    nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

    /// - Parameters:
    ///   - interval: How often it is asked. One that has not said anything since the last time hangs.
    ///   - killer: What kills it.
    init(askingEvery interval: @escaping @Sendable () -> Duration, _ killer: HelperKiller) {
        self.interval = interval
        self.killer = killer
    }

    /// Starts the helper.
    ///
    /// - Throws: The error of the system.
    func start(_ program: FilePath, _ folder: FilePath) throws(Errno) -> HelperProcess {
        let process = try HelperProcess(program, [folder.string], hasMessages: true)
        killer.note(process)
        self.process = process
        nextQuestion = .now + interval()
        return process
    }

    /// Waits for what the helper says next; after the last word there is nothing more.
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

    /// Ends the helper: it is about to, and one that is not is of no use any more.
    func end() {
        process?.end(within: Self.endTimeout)
    }

    /// What it died of, with the last that it said of it.
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
