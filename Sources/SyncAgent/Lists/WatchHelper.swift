// SPDX-License-Identifier: Apache-2.0
import Subprocess
import SyncPlan
import Synchronization
package import SystemPackage

/// Watches the lists folder in `syncagent-watch`, a process of its own, because the library in it can die and is under
/// another licence.
package struct WatchHelper: Sendable {
    private let executable: FilePath
    private let folder: FilePath
    private let interval: Duration
    private let bell: WatchBell

    /// - Parameters:
    ///   - executable: `syncagent-watch`, which lies beside the agent's own program.
    ///   - folder: The folder to watch. It need not be there yet.
    ///   - interval: How often a helper is asked whether it still watches what is at that path. One that has not said
    ///     anything since it was asked the last time hangs, and another takes its place. The default is 30 s.
    ///   - bell: What has it asked at other times too. Nothing by default.
    package init(
        executable: FilePath, folder: FilePath, askingEvery interval: Duration = .seconds(30),
        bell: WatchBell = WatchBell()
    ) {
        self.executable = executable
        self.folder = folder
        self.interval = interval
        self.bell = bell
    }

    /// Watches the folder, and goes on doing so until the task is cancelled: a helper that ends is started again.
    ///
    /// Between two helpers nobody looks; so each ``WatchSignal/ready`` asks for a look at the folder.
    ///
    /// - Parameters:
    ///   - clock: What the pauses before a restart are measured with. The default is the system's own.
    ///   - report: Called for each signal, one after the other.
    /// - Throws: `CancellationError`, and nothing else. By then the helper is gone.
    package func watch(
        clock: some Clock<Duration> = ContinuousClock(), _ report: @Sendable (WatchSignal) async -> Void
    ) async throws {
        var pause = RestartPause()
        while true {
            let start = clock.now
            try await run(report)
            let time = pause.next(afterRunningFor: start.duration(to: clock.now))
            if time > .zero { try await clock.sleep(for: time) }
        }
    }

    /// Runs one helper to its end.
    ///
    /// - Parameter report: Called for each signal, one after the other. The last one is
    ///   ``WatchSignal/lost(reason:)``, ``WatchSignal/refused(errno:)`` or ``WatchSignal/died(_:)``.
    /// - Throws: `CancellationError`, and nothing else. By then the helper is gone.
    package func run(_ report: @Sendable (WatchSignal) async -> Void) async throws {
        try Task.checkCancellation()
        let death: String?
        do {
            death = try await listen(report)
        } catch let error as SubprocessError where error.code == .outputLimitExceeded {
            death = "spoke nonsense, and too much of it"
        } catch {
            death = "\(error)"
        }
        try Task.checkCancellation()
        if let death { await report(.died(death)) }
    }

    /// Starts a helper and passes on what it says.
    ///
    /// - Returns: What it died of, or `nil` if its own last word was the end.
    private func listen(_ report: (WatchSignal) async -> Void) async throws -> String? {
        if let shortage = Shortage.ofDescriptors { return shortage.reason }
        let result = try await Subprocess.run(
            .path(executable), arguments: [folder.string],
            // No backtraces: they take seconds. Nothing else of the agent's environment is the helper's business.
            environment: .custom(["SWIFT_BACKTRACE": "enable=no", "LIBDISPATCH_LOG": "NO"]),
            // A pipe that stays open as long as this process lives, however it ends: that is how the helper knows.
            input: .inputWriter,
            output: .sequence,
            error: .string(limit: 16 << 10)
        ) { execution -> Bool in
            let question = Question()
            return try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    while true {
                        try await Task.sleep(for: interval)
                        guard question.ask() else { return try execution.send(signal: .kill) }
                        // One that cannot be asked has ended, and so has what it says.
                        _ = try? await execution.standardInputWriter.write("?")
                    }
                }
                let rings = bell.rings()
                group.addTask {
                    for await _ in rings { _ = try? await execution.standardInputWriter.write("?") }
                }
                defer { group.cancelAll() }
                var hasSaidItsLast = false
                for try await line in execution.standardOutput.strings(
                    separatedBy: .unicodeScalarSequence(["\n"]), bufferingPolicy: .maxLineLength(Self.longestLine))
                {
                    question.noteAnswer()
                    if line == Question.answer { continue }
                    guard let signal = WatchSignal(line: line) else { throw Nonsense(text: line) }
                    await report(signal)
                    hasSaidItsLast = signal.isLast
                    if hasSaidItsLast { break }
                }
                // It is about to end; one that is not is of no use any more.
                await execution.teardown(using: [])
                if question.isUnanswered { throw Hung() }
                return hasSaidItsLast
            }
        }
        return result.closureResult ? nil : Self.death(result.terminationStatus, message: result.standardError)
    }

    /// The longest line that is read, in bytes; the helper's are far shorter.
    private static let longestLine = 128

    private static func death(_ status: TerminationStatus, message: String) -> String {
        let end =
            switch status {
            case .exited(let code): "exit code \(code)"
            case .signaled(let signal): "signal \(signal)"
            }
        return ([end] + message.split(whereSeparator: \.isNewline).suffix(1).map(String.init)).joined(separator: ": ")
    }

    /// Whether all is well, as a helper is asked from time to time.
    private final class Question: Sendable {
        static let answer = "alive"
        private let state = Mutex((isOpen: false, isUnanswered: false))

        /// Whether it was asked again without having had an answer.
        var isUnanswered: Bool { state.withLock(\.isUnanswered) }

        /// Notes that it is asked, unless it was and nothing has been said since.
        func ask() -> Bool {
            state.withLock { state in
                defer { state.isOpen = true }
                state.isUnanswered = state.isOpen
                return !state.isOpen
            }
        }

        /// Notes that something was said, which shows as much as an answer.
        func noteAnswer() {
            state.withLock { $0.isOpen = false }
        }
    }

    private struct Hung: Error, CustomStringConvertible {
        var description: String { "does not answer" }
    }

    /// Something that a helper does not say.
    private struct Nonsense: Error, CustomStringConvertible {
        var text: String
        var description: String { "spoke nonsense: \(text.debugDescription)" }
    }
}

/// How long to wait before a helper that has ended is started again.
///
/// Not at all the first time; then 100 ms, and twice as long each time, up to 2 s.
struct RestartPause {
    private var upcoming = Duration.zero

    /// The pause after a helper that ran this long.
    ///
    /// One that ran for 5 s counts as the first again.
    mutating func next(afterRunningFor time: Duration) -> Duration {
        let pause = time < .seconds(5) ? upcoming : .zero
        upcoming = min(max(pause * 2, .milliseconds(100)), .seconds(2))
        return pause
    }
}
