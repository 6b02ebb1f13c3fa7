// SPDX-License-Identifier: Apache-2.0
import HTTPRules
import SyncPlan
package import SystemPackage

/// Watches the lists folder in `syncagent-watch`, a process of its own, because the library in it can die and is under
/// another licence.
package struct WatchHelper: Sendable {
    private let executable: FilePath
    private let folder: FilePath
    private let interval: @Sendable () -> Duration
    private let bell: WatchBell

    /// - Parameters:
    ///   - executable: `syncagent-watch`, which lies beside the agent's own program.
    ///   - folder: The folder to watch. It need not be there yet.
    ///   - interval: How often a helper is asked whether it still watches what is at that path. One that has not said
    ///     anything since it was asked the last time hangs, and another takes its place. The default is 30 s. Another
    ///     interval counts from the next answer on.
    ///   - bell: What has it asked at other times too. Nothing by default.
    package init(
        executable: FilePath, folder: FilePath,
        askingEvery interval: @autoclosure @escaping @Sendable () -> Duration = .seconds(30),
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
        let killer = HelperKiller()
        let watcher = WatcherProcess(askingEvery: interval, killer)
        try await withTaskCancellationHandler {
            defer { bell.connect(nil) }
            do throws(Errno) {
                let process = try await watcher.start(executable, folder)
                bell.connect { process.send(WatcherProcess.question) }
            } catch {
                try Task.checkCancellation()
                let reason = Shortage(starting: error)?.reason ?? "\(FileError("start", executable.string, error))"
                return await report(.died(reason))
            }
            while true {
                let signal = await watcher.next()
                try Task.checkCancellation()
                await report(signal)
                if signal.isLast { return await watcher.end() }
            }
        } onCancel: {
            killer.kill()
        }
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
