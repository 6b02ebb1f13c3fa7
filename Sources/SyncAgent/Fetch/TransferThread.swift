// SPDX-License-Identifier: Apache-2.0
import CLinux
import Dispatch
import Glibc
import Synchronization

/// The thread of an actor that waits for sockets, and runs the actor's jobs in between.
final class TransferThread: SerialExecutor {
    private struct State {
        var jobs: [UnownedJob] = []
        var isStopping = false
        var hasEnded = false
        var thread: pthread_t?
    }

    private let state = Mutex(State())
    /// Runs jobs that are enqueued after the thread has ended, by work that was still waiting elsewhere.
    private let late = DispatchQueue(label: "syncagent.transfers")
    /// Readable when there are jobs (eventfd(2)).
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
        let (isFirst, hasEnded) = state.withLock { state in
            if !state.hasEnded { state.jobs.append(job) }
            return (state.jobs.count == 1, state.hasEnded)
        }
        if hasEnded {
            late.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
        } else if isFirst {
            ring()
        }
    }

    func ring() {
        eventfd_write(bell, 1)
    }

    func checkIsolated() {
        precondition(state.withLock { $0.thread == pthread_self() }, "not on the thread of the transfers")
    }

    /// Starts the thread, which alternates between jobs and turns until it is stopped.
    ///
    /// - Parameter turn: Does what is due, and waits until the bell rings or the next time limit.
    func start(_ turn: @escaping @Sendable () -> Void) {
        let box = Unmanaged.passRetained(Work(executor: self, turn: turn))
        var thread = pthread_t()
        let error = pthread_create(
            &thread, nil,
            { work in
                if let work { Unmanaged<Work>.fromOpaque(work).takeRetainedValue().run() }
                return nil
            }, box.toOpaque())
        precondition(error == 0, "no thread can be started")
        pthread_detach(thread)
    }

    /// Ends the thread after all queued jobs.
    func stop() {
        state.withLock { $0.isStopping = true }
        ring()
    }

    private final class Work: Sendable {
        let executor: TransferThread
        let turn: @Sendable () -> Void

        init(executor: TransferThread, turn: @escaping @Sendable () -> Void) {
            self.executor = executor
            self.turn = turn
        }

        func run() {
            executor.run(turn)
        }
    }

    private func run(_ turn: @Sendable () -> Void) {
        state.withLock { $0.thread = pthread_self() }
        while true {
            var count: eventfd_t = 0
            eventfd_read(bell, &count)
            let (jobs, hasEnded) = state.withLock { state in
                defer { state.jobs = [] }
                state.hasEnded = state.isStopping && state.jobs.isEmpty
                return (state.jobs, state.hasEnded)
            }
            if hasEnded { return }
            for job in jobs { job.runSynchronously(on: asUnownedSerialExecutor()) }
            turn()
        }
    }
}
