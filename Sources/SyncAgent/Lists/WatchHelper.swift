// SPDX-License-Identifier: Apache-2.0
import Subprocess
package import SystemPackage

/// What `syncagent-watch` says of the lists folder, and what becomes of it.
package enum WatchSignal: Equatable, Sendable {
    /// The folder is watched from now on. What happened before has to be looked for.
    case ready
    /// Something in the folder has changed.
    case changed
    /// More has changed than the kernel keeps in mind.
    case overflow
    /// The folder was deleted, moved or unmounted; `reason` is the helper's own word, such as `delete-self`.
    case lost(reason: String)
    /// The folder cannot be watched, because of the error of the system that has this name, such as `ENOSPC`.
    case refused(errno: String)
    /// The helper ended, or was ended, for a reason that is no loss of the folder.
    case died(String)

    /// The signal that a line of the helper's stands for, or `nil` if it stands for none.
    init?(line: String) {
        let words = line.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
        switch (words.first, words.count) {
        case ("ready", 1): self = .ready
        case ("changed", 1): self = .changed
        case ("overflow", 1): self = .overflow
        case ("lost", 2): self = .lost(reason: words[1])
        case ("refused", 2): self = .refused(errno: words[1])
        default: return nil
        }
    }

    /// Whether the helper has nothing more to say after this.
    var isLast: Bool {
        switch self {
        case .ready, .changed, .overflow: false
        case .lost, .refused, .died: true
        }
    }
}

/// Watches the lists folder in `syncagent-watch`, a process of its own, because the library in it can die and is under
/// another licence.
package struct WatchHelper: Sendable {
    private let executable: FilePath
    private let folder: FilePath

    /// - Parameters:
    ///   - executable: `syncagent-watch`, which lies beside the agent's own program.
    ///   - folder: The folder to watch. It need not be there yet.
    package init(executable: FilePath, folder: FilePath) {
        self.executable = executable
        self.folder = folder
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
        let result = try await Subprocess.run(
            .path(executable), arguments: [folder.string],
            // No backtraces: they take seconds. Nothing else of the agent's environment is the helper's business.
            environment: .custom(["SWIFT_BACKTRACE": "enable=no", "LIBDISPATCH_LOG": "NO"]),
            // A pipe that stays open as long as this process lives, however it ends: that is how the helper knows.
            input: .inputWriter,
            output: .sequence,
            error: .string(limit: 16 << 10)
        ) { execution -> Bool in
            var hasSaidItsLast = false
            for try await line in execution.standardOutput.strings(
                separatedBy: .unicodeScalarSequence(["\n"]), bufferingPolicy: .maxLineLength(Self.longestLine))
            {
                guard let signal = WatchSignal(line: line) else { throw Nonsense(text: line) }
                await report(signal)
                hasSaidItsLast = signal.isLast
                if hasSaidItsLast { break }
            }
            // It is about to end; one that is not is of no use any more.
            await execution.teardown(using: [])
            return hasSaidItsLast
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

    /// Something that a helper does not say.
    private struct Nonsense: Error, CustomStringConvertible {
        var text: String
        var description: String { "spoke nonsense: \(text.debugDescription)" }
    }
}

/// How long to wait before a helper that has ended is started again.
///
/// Not at all the first time; then 100 ms, and twice as long each time, up to 10 s.
struct RestartPause {
    private var upcoming = Duration.zero

    /// The pause after a helper that ran this long.
    ///
    /// One that ran for 5 s counts as the first again.
    mutating func next(afterRunningFor time: Duration) -> Duration {
        let pause = time < .seconds(5) ? upcoming : .zero
        upcoming = min(max(pause * 2, .milliseconds(100)), .seconds(10))
        return pause
    }
}
