// SPDX-License-Identifier: Apache-2.0
import CLinux
import DequeModule
import Glibc
import HeapModule
import Synchronization
import SystemPackage
@_spi(ExperimentalCustomExecutors) @_spi(ExperimentalScheduling) import _Concurrency

/// Threads for tasks, which wake only for a task or a timer.
///
/// libdispatch has a thread that wakes every second once it has started workers. The threads here start on demand, up
/// to a limit, and stay. Priorities are ignored.
final class TaskThreads: TaskExecutor {
    private struct Timer: Comparable {
        var time: ContinuousClock.Instant
        var job: UnownedJob

        static func == (left: Timer, right: Timer) -> Bool { left.time == right.time }
        static func < (left: Timer, right: Timer) -> Bool { left.time < right.time }
    }

    private struct State {
        var jobs = Deque<UnownedJob>()
        var timers = Heap<Timer>()
        var threads = 0
        var idle = 0
        /// Whether the timer thread was started.
        var isTimed = false
    }

    private let startThread: StartThread
    private let most: Int
    private let state = Mutex(State())
    /// Counts the jobs waiting for a thread (sem_post(3)).
    nonisolated(unsafe) private let waiting: UnsafeMutablePointer<sem_t>
    /// Readable when the first timer is due (timerfd_create(2)).
    private let timer: Int32

    /// - Parameters:
    ///   - most: The maximum number of threads. The default is one per processor, and at least four, so that a blocking
    ///     call does not hold up everything.
    ///   - start: Starts a thread. The default is `pthread_create(3)`.
    /// - Throws: `Errno` if no timer descriptor can be created.
    init(
        most: Int = max(4, sysconf(Int32(_SC_NPROCESSORS_ONLN))),
        start: @escaping StartThread = SyncAgent.startThread
    ) throws(Errno) {
        startThread = start
        timer = timerfd_create(CLOCK_BOOTTIME, Int32(TFD_CLOEXEC))
        guard timer >= 0 else { throw Errno(rawValue: errno) }
        self.most = most
        waiting = .allocate(capacity: 1)
        sem_init(waiting, 0, 0)
    }

    func enqueue(_ job: consuming ExecutorJob) {
        add([UnownedJob(job)])
    }

    private func add(_ jobs: some Collection<UnownedJob>) {
        let lacking = state.withLock { state in
            state.jobs.append(contentsOf: jobs)
            let lacking = max(0, min(state.jobs.count - state.idle, most - state.threads))
            state.threads += lacking
            return lacking
        }
        for _ in jobs { sem_post(waiting) }
        for started in 0..<lacking where !startThread("task", { self.work() }) {
            // The threads there are run the jobs; without any, one has to be started.
            let areNone = state.withLock { state in
                state.threads -= lacking - started
                defer { state.threads = max(1, state.threads) }
                return state.threads == 0
            }
            if areNone { startNeededThread("task", by: startThread) { self.work() } }
            return
        }
    }

    private func work() {
        while true {
            state.withLock { $0.idle += 1 }
            while sem_wait(waiting) != 0 {}
            let job = state.withLock { state in
                state.idle -= 1
                return state.jobs.popFirst()
            }
            job?.runSynchronously(on: asUnownedTaskExecutor())
        }
    }
}

// MARK: Time

extension TaskThreads: SchedulingExecutor {
    func enqueue<C: Clock>(
        _ job: consuming ExecutorJob, at instant: C.Instant, tolerance: C.Duration?, clock: C
    ) {
        guard let delay = clock.now.duration(to: instant) as? Duration else {
            preconditionFailure("a clock that does not count in seconds")
        }
        let timer = Timer(time: instant as? ContinuousClock.Instant ?? .now + delay, job: UnownedJob(job))
        let isFirst = state.withLock { state in
            state.timers.insert(timer)
            if state.timers.min == timer { set(to: timer.time) }
            return !exchange(&state.isTimed, with: true)
        }
        if isFirst { startNeededThread("time", by: startThread) { self.enqueueDue() } }
    }

    /// Enqueues jobs as they become due.
    private func enqueueDue() {
        while true {
            var count: UInt64 = 0
            _ = read(timer, &count, MemoryLayout.size(ofValue: count))
            let jobs = state.withLock { state in
                var jobs: [UnownedJob] = []
                let now = ContinuousClock.now
                while let first = state.timers.min, first.time <= now {
                    jobs.append(first.job)
                    state.timers.removeMin()
                }
                if let first = state.timers.min { set(to: first.time) }
                return jobs
            }
            add(jobs)
        }
    }

    private func set(to time: ContinuousClock.Instant) {
        // Zero would disarm the timer.
        let rest = max(.nanoseconds(1), ContinuousClock.now.duration(to: time)).components
        var setting = itimerspec()
        setting.it_value = timespec(tv_sec: Int(rest.seconds), tv_nsec: Int(rest.attoseconds / 1_000_000_000))
        timerfd_settime(timer, 0, &setting, nil)
    }
}

// MARK: Replacing libdispatch

extension TaskThreads {
    private enum Factory: ExecutorFactory {
        static let threads = try? TaskThreads()
        static var mainExecutor: any MainExecutor { PlatformExecutorFactory.mainExecutor }
        static var defaultExecutor: any TaskExecutor { threads ?? PlatformExecutorFactory.defaultExecutor }
    }

    /// Runs all tasks of this process on such threads, if they can be created.
    static func install() {
        _createExecutors(factory: Factory.self)
    }
}
