// SPDX-License-Identifier: Apache-2.0
import CLinux
import Dispatch
import Glibc
import SystemPackage

/// Starts a named thread; returns whether it was started.
typealias StartThread = @Sendable (StaticString, @escaping @Sendable () -> Void) -> Bool

/// Starts a thread with all signals blocked except those of faults.
///
/// - Returns: Whether the thread was started.
package func startThread(_ name: StaticString, _ body: @escaping @Sendable () -> Void) -> Bool {
    let work = Unmanaged.passRetained(NamedWork(name: name, body: body))
    var thread = pthread_t()
    let error = pthread_create(
        &thread, nil,
        { work in
            guard let work else { return nil }
            let start = Unmanaged<NamedWork>.fromOpaque(work).takeRetainedValue()
            var signals = sigset_t()
            sigfillset(&signals)
            // Fault signals are delivered to the faulting thread.
            for signal in [SIGILL, SIGTRAP, SIGBUS, SIGFPE, SIGSEGV] { sigdelset(&signals, signal) }
            pthread_sigmask(SIG_BLOCK, &signals, nil)
            _ = process_control(PR_SET_NAME, UInt(bitPattern: start.name.utf8Start), nil)
            start.body()
            return nil
        }, work.toOpaque())
    if error == 0 { pthread_detach(thread) } else { work.release() }
    return error == 0
}

/// Starts a thread without which nothing would go on; the program ends with 1 and a message if none can be started for
/// ten seconds.
///
/// - Parameters:
///   - name: The name of the thread.
///   - start: Starts a thread; the default is ``startThread(_:_:)``.
///   - body: What the thread runs.
func startNeededThread(
    _ name: StaticString, by start: StartThread = startThread, _ body: @escaping @Sendable () -> Void
) {
    let limit = ContinuousClock.now + .seconds(10)
    while !start(name, body) {
        if ContinuousClock.now > limit {
            let message =
                "syncagent: No thread can be started. Raise TasksMax= in the unit, the limit on processes of the "
                + "container, or ulimit -u in the shell.\n"
            _ = try? FileDescriptor.standardError.writeAll(message.utf8)
            _exit(1)
        }
        usleep(10_000)
    }
}

/// Whether this many more threads can run at once, by the limits on processes of the user and of the control group.
package func canStart(threads count: Int) -> Bool {
    var (all, before) = (sigset_t(), sigset_t())
    sigfillset(&all)
    pthread_sigmask(SIG_BLOCK, &all, &before)
    defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
    let end = DispatchSemaphore(value: 0)
    var threads: [pthread_t] = []
    for _ in 0..<count {
        var thread = pthread_t()
        let error = pthread_create(
            &thread, nil,
            { end in
                if let end { Unmanaged<DispatchSemaphore>.fromOpaque(end).takeUnretainedValue().wait() }
                return nil
            }, Unmanaged.passUnretained(end).toOpaque())
        guard error == 0 else { break }
        threads.append(thread)
    }
    for _ in threads { end.signal() }
    for thread in threads { pthread_join(thread, nil) }
    return threads.count == count
}

private final class NamedWork: Sendable {
    let name: StaticString
    let body: @Sendable () -> Void

    init(name: StaticString, body: @escaping @Sendable () -> Void) {
        (self.name, self.body) = (name, body)
    }
}
