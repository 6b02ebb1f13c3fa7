// SPDX-License-Identifier: Apache-2.0
import CLinux
import Glibc
import Synchronization

/// The thread of an actor that waits for sockets, and takes the actor's jobs in between.
final class TransferThread: SerialExecutor {
    private struct State {
        var jobs: [UnownedJob] = []
        var isStopping = false
        var thread: pthread_t?
    }

    private let state = Mutex(State())
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
        let isFirst = state.withLock { state in
            state.jobs.append(job)
            return state.jobs.count == 1
        }
        if isFirst { ring() }
    }

    private func ring() {
        eventfd_write(bell, 1)
    }

    func checkIsolated() {
        precondition(state.withLock { $0.thread == pthread_self() }, "not on the thread of the transfers")
    }

    /// Starts the thread; it takes one turn after the other, the jobs in between, until it is stopped.
    ///
    /// - Parameter turn: Does what is due, and returns when the bell rings.
    func start(_ turn: @escaping @Sendable () -> Void) {
        let box = Unmanaged.passRetained(Work(executor: self, turn: turn))
        var thread = pthread_t()
        let error = pthread_create(&thread, nil, { work in
            if let work { Unmanaged<Work>.fromOpaque(work).takeRetainedValue().run() }
            return nil
        }, box.toOpaque())
        precondition(error == 0, "no thread can be started")
        pthread_detach(thread)
    }

    /// Ends the thread after the jobs that are there.
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
            let (jobs, isStopping) = state.withLock { state in
                defer { state.jobs = [] }
                return (state.jobs, state.isStopping)
            }
            for job in jobs { job.runSynchronously(on: asUnownedSerialExecutor()) }
            if isStopping, jobs.isEmpty { return }
            turn()
        }
    }
}
