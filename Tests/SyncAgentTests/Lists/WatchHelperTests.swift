// SPDX-License-Identifier: Apache-2.0
import AppLists
import FoundationEssentials
import Glibc
import Synchronization
import SystemPackage
import TestSupport
import Testing

@testable import SyncAgent

@Suite("The process of syncagent-watch", .timeLimit(.minutes(5)))
struct WatchHelperTests {
    private let executable = BuiltProducts.path("syncagent-watch")

    @Test("signals of the watch helper arrive in order, and a lost folder is the last")
    func run() async throws {
        try await withTemporaryFolder { folder in
            let lists = folder.appending("lists")
            try makeFolder(lists)
            let signals = Signals()
            try await WatchHelper(executable: executable, folder: lists).run { signal in
                signals.append(signal)
                switch signal {
                case .ready: try? "()".write(toFile: "\(lists)/a.plist", atomically: false, encoding: .utf8)
                case .changed: try? FileManager.default.removeItem(atPath: lists.string)
                default: break
                }
            }
            #expect(signals.all.first == .ready)
            #expect(signals.all.dropFirst().first == .changed)
            #expect(signals.all.last == .lost(reason: "delete-self"))
        }
    }

    @Test("a watched folder that does not exist is refused")
    func missing() async throws {
        #expect(try await signals(of: executable, folder: "/nonexistent") == [.refused(errno: "ENOENT")])
    }

    @Test(
        "a program that exits or does not speak as a watch helper is reported as died, with the cause",
        arguments: [
            ("exit 3", [.died("exit code 3")]),
            ("exit 0", [.died("exit code 0")]),
            ("echo no memory >&2; exit 70", [.died("exit code 70: no memory")]),
            ("kill -SEGV $$", [.died("signal 11")]),
            ("echo ready; kill -KILL $$", [.ready, .died("signal 9")]),
            ("echo hello; exec sleep 600", [.died(#"sent an unknown line: "hello""#)]),
            ("echo 'ready now'; exec sleep 600", [.died(#"sent an unknown line: "ready now""#)]),
            ("echo lost; exec sleep 600", [.died(#"sent an unknown line: "lost""#)]),
            ("exec cat /dev/zero", [.died("sent too much output")]),
            ("cat /dev/zero >&2", [.died("sent too much output")]),
            // Its last word is taken, whatever it does then.
            ("echo lost unmount; exec sleep 600", [.lost(reason: "unmount")]),
            ("echo ready; exec >&-; exec sleep 600", [.ready, .died("signal 9")]),
        ] as [(String, [WatchSignal])])
    func death(script: String, signals expected: [WatchSignal]) async throws {
        try await withTemporaryFolder { folder in
            let helper = try makeScript(script, in: folder)
            #expect(try await signals(of: helper, folder: folder) == expected)
        }
    }

    @Test("a watch helper that is not installed is reported as died")
    func notInstalled() async throws {
        let signals = try await signals(of: "/nonexistent/syncagent-watch", folder: "/")
        #expect(
            signals == [.died("Cannot start /nonexistent/syncagent-watch: No such file or directory")])
    }

    @Test("a watch helper is killed and reaped when its task is cancelled")
    func cancellation() async throws {
        try await withTemporaryFolder { folder in
            // One that does not care whether its standard input is open.
            let script = try makeScript("trap '' TERM; echo $$ > \"$0.pid\"; echo ready; exec sleep 600", in: folder)
            let (ready, isReady) = AsyncStream<Void>.makeStream()
            let task = Task {
                try await WatchHelper(executable: script, folder: folder).run { _ in isReady.finish() }
            }
            for await _ in ready {}
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
            let text = try String(contentsOfFile: "\(script).pid", encoding: .utf8)
            #expect(kill(try #require(pid_t(text.dropLast())), 0) == -1)
        }
    }

    @Test("a watch helper that answers is asked again, and one that hangs is killed")
    func hanging() async throws {
        // The third question is not answered.
        let signals = try await signals(
            ofAsked: "echo ready; for i in 1 2; do head -c 1 >/dev/null; echo alive; done; exec sleep 600")
        #expect(signals == [.ready, .died("not responding")])
    }

    @Test("another interval of questions applies from the next answer of the watch helper on")
    func interval() async throws {
        // It ends when it was asked by the bell, and twice by the new interval.
        let signals = try await signals(
            ofAsked: "echo ready; for i in 1 2 3; do head -c 1 >/dev/null; echo alive; done")
        #expect(signals.count == 2 && signals.first == .ready, "\(signals)")
    }

    @Test("a watch helper that is stopped by a signal is killed")
    func stopped() async throws {
        let signals = try await signals(ofAsked: "echo ready; head -c 1 >/dev/null; echo alive; kill -STOP $$")
        #expect(signals == [.ready, .died("not responding")])
    }

    @Test("a watch helper that was killed is started again and signals that it is ready")
    func restart() async throws {
        try await withTemporaryFolder { folder in
            let script = try makeScript("echo $$ > \"$0.pid\"; exec \(executable) \"$@\"", in: folder)
            let lists = folder.appending("lists")
            try makeFolder(lists)
            let signals = Signals()
            let task = Task {
                try await WatchHelper(executable: script, folder: lists).watch(clock: InstantClock()) { signal in
                    signals.append(signal)
                    let pid = try? pid_t(String(contentsOfFile: "\(script).pid", encoding: .utf8).dropLast())
                    switch signals.all.count {
                    case 1, 3: if let pid { kill(pid, SIGKILL) }
                    case 5: try? "()".write(toFile: "\(lists)/a.plist", atomically: false, encoding: .utf8)
                    case 6: withUnsafeCurrentTask { $0?.cancel() }
                    default: break
                    }
                }
            }
            await #expect(throws: CancellationError.self) { try await task.value }
            #expect(
                signals.all.prefix(6) == [.ready, .died("signal 9"), .ready, .died("signal 9"), .ready, .changed])
        }
    }

    @Test("a watch helper that keeps failing is started again at once, and then ever more rarely")
    func pauses() async throws {
        let clock = InstantClock()
        let signals = Signals()
        let helper = WatchHelper(executable: "/nonexistent/syncagent-watch", folder: "/")
        let task = Task {
            try await helper.watch(clock: clock) { signal in
                signals.append(signal)
                if signals.all.count == 5 { withUnsafeCurrentTask { $0?.cancel() } }
            }
        }
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(signals.all.count == 5)
        #expect(clock.pauses == [.milliseconds(100), .milliseconds(200), .milliseconds(400)])
    }

    @Test("the pause before a restart doubles up to 2 s, and starts over after a helper that ran for 5 s")
    func pause() {
        var pause = RestartPause()
        let pauses = (0..<10).map { _ in pause.next(afterRunningFor: .seconds(4.9)) }
        #expect(pauses == [0, 100, 200, 400, 800, 1600, 2000, 2000, 2000, 2000].map { .milliseconds($0) })
        #expect(pause.next(afterRunningFor: .seconds(5)) == .zero)
        #expect(pause.next(afterRunningFor: .zero) == .milliseconds(100))
    }

    @Test("a thousand new files at once are signalled as changes")
    func burst() async throws {
        try await withTemporaryFolder { folder in
            let lists = folder.appending("lists")
            try makeFolder(lists)
            let signals = Signals()
            try await WatchHelper(executable: executable, folder: lists).run { signal in
                signals.append(signal)
                guard signal == .ready else { return }
                for number in 0..<1000 {
                    try? write("", to: lists.appending("\(number).plist"))
                }
                rename(lists.string, "\(lists).moved")
            }
            #expect(signals.all.contains(.changed))
            #expect(signals.all.last == .lost(reason: "move-self"))
        }
    }

    /// The signals of a script in the helper's place, which is asked when it is ready, and soon after each answer.
    ///
    /// Until it is ready it may take its time.
    private func signals(ofAsked script: String) async throws -> [WatchSignal] {
        try await withTemporaryFolder { folder in
            let script = try makeScript(script, in: folder)
            let interval = Mutex(Duration.seconds(3600))
            let bell = WatchBell()
            let signals = Signals()
            try await WatchHelper(
                executable: script, folder: folder, interval: { interval.withLock(\.self) }, bell: bell
            ).run { signal in
                signals.append(signal)
                interval.withLock { $0 = .milliseconds(20) }
                bell.ring()
            }
            return signals.all
        }
    }

    private func signals(of executable: FilePath, folder: FilePath) async throws -> [WatchSignal] {
        let signals = Signals()
        try await WatchHelper(executable: executable, folder: folder).run { signals.append($0) }
        return signals.all
    }
}

/// What was reported so far.
private final class Signals: Sendable {
    private let storage = Mutex<[WatchSignal]>([])

    var all: [WatchSignal] { storage.withLock(\.self) }

    func append(_ signal: WatchSignal) {
        storage.withLock { $0.append(signal) }
    }
}

/// A clock that nobody waits for: a sleep moves it on.
private final class InstantClock: Clock {
    private let state = Mutex<(now: Duration, pauses: [Duration])>((.zero, []))

    struct Instant: InstantProtocol {
        var offset: Duration

        func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
        func duration(to other: Instant) -> Duration { other.offset - offset }
        static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
    }

    var now: Instant { state.withLock { Instant(offset: $0.now) } }
    var minimumResolution: Duration { .zero }
    var pauses: [Duration] { state.withLock(\.pauses) }

    func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        try Task.checkCancellation()
        state.withLock { state in
            state.pauses.append(deadline.offset - state.now)
            state.now = deadline.offset
        }
    }
}
