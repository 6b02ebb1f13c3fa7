// SPDX-License-Identifier: Apache-2.0
import FoundationEssentials
import Glibc
import Synchronization
import TestSupport
import Testing

@testable import SyncAgent

/// Threads for tasks; `nil` if the agent is built for the standard executor.
private func makeTaskThreads(
    most: Int, start: @escaping @Sendable (StaticString, @escaping @Sendable () -> Void) -> Bool = startThread
) throws -> (any TaskExecutor)? {
    #if TASK_THREADS
        try TaskThreads(most: most, start: start)
    #else
        nil
    #endif
}

/// What every executor of tasks must do: one with threads of the agent's own, and the standard one.
@Suite("Executors of tasks", .timeLimit(.minutes(5)))
struct TaskExecutionTests {
    enum Kind: CaseIterable {
        case own, standard

        func executor() throws -> (any TaskExecutor)? {
            self == .own ? try makeTaskThreads(most: 2) : nil
        }
    }

    @Test("each of thousands of tasks is run", arguments: Kind.allCases)
    func many(kind: Kind) async throws {
        let seen = Seen<Int>()
        await withTaskExecutorPreference(try kind.executor()) {
            await withTaskGroup(of: Void.self) { group in
                for number in 0..<2000 {
                    group.addTask {
                        await Task.yield()
                        seen.append(number)
                    }
                }
            }
        }
        #expect(seen.all.sorted() == Array(0..<2000))
    }

    @Test("sleeping tasks are woken at their times, in order", arguments: Kind.allCases)
    func time(kind: Kind) async throws {
        // Tasks that a busy machine wakes together may run in any order.
        try await withGrowingTime(from: .milliseconds(40)) { unit in
            let start = ContinuousClock.now
            let (woken, delays) = (Seen<Int>(), Seen<Duration>())
            try await withTaskExecutorPreference(try kind.executor()) {
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for number in [3, 1, 2, 0] {
                        group.addTask {
                            // These are the sleeps that are tested.
                            try await Task.sleep(until: start + unit * number, clock: .continuous)
                            let delay = ContinuousClock.now - (start + unit * number)
                            #expect(delay >= .zero)
                            woken.append(number)
                            delays.append(delay)
                        }
                    }
                    group.addTask { try await Task.sleep(for: .milliseconds(1), clock: .suspending) }
                    group.addTask { try await Task.sleep(nanoseconds: 1) }
                    try await group.waitForAll()
                }
            }
            #expect(woken.all.sorted() == [0, 1, 2, 3])
            if woken.all == [0, 1, 2, 3] { return true }
            // Only a task that was woken later than another one was due may come behind it.
            #expect(delays.all.contains { $0 >= unit })
            return false
        }
    }

    @Test("a sleep of minutes ends when its task is cancelled", arguments: Kind.allCases)
    func cancelled(kind: Kind) async throws {
        await withTaskExecutorPreference(try kind.executor()) {
            await withTaskGroup(of: Void.self) { group in
                group.addTask {
                    await #expect(throws: CancellationError.self) { try await Task.sleep(for: .seconds(600)) }
                }
                group.cancelAll()
            }
        }
    }
}

/// What only threads of the agent's own promise.
@Suite(
    "Threads for tasks", .timeLimit(.minutes(5)),
    .enabled("the package is built for the standard executor") { try makeTaskThreads(most: 1) != nil })
struct TaskThreadsTests {
    private let threads: any TaskExecutor

    init() throws {
        threads = try #require(try makeTaskThreads(most: 2))
    }

    /// The name of the thread that this runs on.
    private static var name: String {
        (try? String(contentsOfFile: "/proc/thread-self/comm", encoding: .utf8)) ?? ""
    }

    private static var number: UInt { pthread_self() }

    @Test("tasks run on at most the configured number of threads, which have a name, also after a sleep")
    func few() async throws {
        let seen = Seen<UInt>()
        try await withTaskExecutorPreference(threads) {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<200 {
                    group.addTask {
                        try await Task.sleep(for: .milliseconds(1))
                        #expect(Self.name == "task\n")
                        seen.append(Self.number)
                    }
                }
                try await group.waitForAll()
            }
        }
        #expect(seen.all.count == 200 && (1...2).contains(Set(seen.all).count))
    }

    @Test("a call that blocks one thread for tasks does not delay tasks on the other")
    func blocked() async {
        var ends: [Int32] = [-1, -1]
        pipe(&ends)
        let (reading, writing) = (ends[0], ends[1])
        defer { for end in ends { close(end) } }
        await withTaskExecutorPreference(threads) {
            async let byte = {
                var byte: UInt8 = 0
                return read(reading, &byte, 1)
            }()
            for _ in 0..<1000 { await Task.yield() }
            #expect(write(writing, "x", 1) == 1)
            #expect(await byte == 1)
        }
    }

    @Test("threads for tasks that cannot be started for a while are started later")
    func shortage() async throws {
        let tries = Atomic(0)
        let threads = try makeTaskThreads(most: 4) { name, body in
            let number = tries.add(1, ordering: .relaxed).newValue
            // The first one comes, then none for a while.
            return (2...20).contains(number) ? false : startThread(name, body)
        }
        let seen = Seen<UInt>()
        var ends: [Int32] = [-1, -1]
        pipe(&ends)
        let (reading, writing) = (ends[0], ends[1])
        defer { for end in ends { close(end) } }
        await withTaskExecutorPreference(threads) {
            await withTaskGroup(of: Void.self) { group in
                for _ in 0..<100 { group.addTask { await Task.yield() } }
            }
            // Four that block have a thread each, or the first one would not end.
            await withTaskGroup(of: Void.self) { group in
                for _ in 0..<3 {
                    group.addTask {
                        seen.append(Self.number)
                        var byte: UInt8 = 0
                        _ = read(reading, &byte, 1)
                    }
                }
                group.addTask {
                    while seen.all.count < 3 { await Task.yield() }
                    for _ in 0..<3 { _ = write(writing, "x", 1) }
                }
            }
        }
        #expect(Set(seen.all).count == 3)
    }
}

/// What was seen so far.
private final class Seen<Element: Sendable>: Sendable {
    private let storage = Mutex<[Element]>([])

    var all: [Element] { storage.withLock(\.self) }

    func append(_ element: Element) {
        storage.withLock { $0.append(element) }
    }
}
