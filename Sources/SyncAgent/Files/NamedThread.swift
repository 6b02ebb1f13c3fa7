// SPDX-License-Identifier: Apache-2.0
import CLinux
import Dispatch
import Glibc

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

/// Whether this many more threads can run at once, by the limits on processes of the user and of the control group.
package func canStart(threads count: Int) -> Bool {
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
