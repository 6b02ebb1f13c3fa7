// SPDX-License-Identifier: Apache-2.0
package import AppLists
import HTTPRules
import SystemPackage

/// Watches the lists folder in `syncagent-watch`.
///
/// The watcher is a separate process because its library can abort and has another licence.
package struct WatchHelper: Sendable {
    /// The path of `syncagent-watch`, installed beside the agent's program.
    let executable: FilePath
    /// The folder to watch, which need not exist yet.
    let folder: FilePath
    /// How often the helper is asked whether it still watches the folder at the path.
    ///
    /// A helper that has sent nothing by the next question hangs and is replaced. A new interval applies after the next
    /// answer.
    var interval: @Sendable () -> Duration = { .seconds(30) }
    /// Triggers a question before the interval is over.
    var bell = WatchBell()

    /// Watches the folder until the task is cancelled, and restarts the helper whenever it ends.
    ///
    /// Changes between two helpers are missed, so each ``WatchSignal/ready`` requires a rescan.
    ///
    /// - Throws: Only `CancellationError`, after the helper has ended.
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

    /// Runs one helper until it ends.
    ///
    /// The last signal is ``WatchSignal/lost(reason:)``, ``WatchSignal/refused(errno:)`` or ``WatchSignal/died(_:)``.
    ///
    /// - Throws: Only `CancellationError`, after the helper has ended.
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

/// The pause before a helper is restarted: none at first, then 100 ms, doubling up to 2 s.
struct RestartPause {
    private var upcoming = Duration.zero

    /// The pause after a helper that ran for `time`; after 5 s or more, the sequence starts again.
    mutating func next(afterRunningFor time: Duration) -> Duration {
        let pause = time < .seconds(5) ? upcoming : .zero
        upcoming = min(max(pause * 2, .milliseconds(100)), .seconds(2))
        return pause
    }
}
