// SPDX-License-Identifier: Apache-2.0
import CLinux
import Dispatch
import Glibc
import Synchronization

/// The thread of an actor that waits for sockets, and runs the actor's jobs in between.
final class TransferThread: SerialExecutor {
    private enum Work: Sendable {
        case job(UnownedJob)
        case call(@Sendable () -> Void)
    }

    private struct State {
        var work: [Work] = []
        var isStopping = false
        var hasEnded = false
        var thread: pthread_t?
    }

    private let state = Mutex(State())
    /// Runs jobs that are enqueued after the thread has ended, by work that was still waiting elsewhere.
    private let late = DispatchQueue(label: "syncagent.transfers")
    /// Readable when there is work (eventfd(2)).
    let bell: Int32

    init() {
        bell = eventfd(0, Int32(EFD_CLOEXEC) | Int32(EFD_NONBLOCK))
        precondition(bell >= 0, "no descriptor for a thread")
    }

    deinit {
        close(bell)
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        if add(.job(job)) { return }
        late.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
    }

    /// Runs a call after the jobs enqueued so far; ignores it if the thread has ended.
    func run(_ call: @escaping @Sendable () -> Void) {
        _ = add(.call(call))
    }

    /// - Returns: `false` if the thread has ended.
    private func add(_ work: Work) -> Bool {
        let (isFirst, hasEnded) = state.withLock { state in
            if !state.hasEnded { state.work.append(work) }
            return (state.work.count == 1, state.hasEnded)
        }
        if isFirst { ring() }
        return !hasEnded
    }

    private func ring() {
        eventfd_write(bell, 1)
    }

    func checkIsolated() {
        precondition(state.withLock { $0.thread == pthread_self() }, "not on the thread of the transfers")
    }

    /// Starts the thread, which alternates between jobs and turns until it is stopped.
    ///
    /// A turn does what is due, and waits until the bell rings or the next time limit.
    func start(_ turn: @escaping @Sendable () -> Void) {
        startNeededThread("transfers") { self.alternate(turn) }
    }

    /// Ends the thread after all queued work.
    func stop() {
        state.withLock { $0.isStopping = true }
        ring()
    }

    private func alternate(_ turn: @Sendable () -> Void) {
        state.withLock { $0.thread = pthread_self() }
        while true {
            var count: eventfd_t = 0
            eventfd_read(bell, &count)
            let (work, hasEnded) = state.withLock { state in
                defer { state.work = [] }
                state.hasEnded = state.isStopping && state.work.isEmpty
                return (state.work, state.hasEnded)
            }
            if hasEnded { return }
            for piece in work {
                switch piece {
                case .job(let job): job.runSynchronously(on: asUnownedSerialExecutor())
                case .call(let call): call()
                }
            }
            turn()
        }
    }
}
