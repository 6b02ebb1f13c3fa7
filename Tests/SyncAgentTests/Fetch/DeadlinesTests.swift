// SPDX-License-Identifier: Apache-2.0
import Synchronization
import Testing

@testable import SyncAgent

@Suite("The time that operations may take")
struct DeadlinesTests {
    @Test("what ends in time has its result or its error, however many there are")
    func inTime() async throws {
        struct Failure: Error {}
        let deadlines = Deadlines(limit: .seconds(60))
        try await withThrowingTaskGroup(of: Int.self) { group in
            for number in 0..<1000 {
                group.addTask {
                    try await deadlines.run {
                        number
                    } late: { _ in
                        Issue.record("it is not late")
                    }
                }
            }
            let sum = try await group.reduce(0, +)
            #expect(sum == 999 * 500)
        }
        await #expect(throws: Failure.self) {
            try await deadlines.run {
                throw Failure()
            } late: { (_: Int) in
            }
        }
    }

    @Test("what takes too long is cancelled, also when nothing was under way for a while")
    func tooLong() async throws {
        let deadlines = Deadlines(limit: .milliseconds(50))
        for _ in 0..<3 {
            await #expect(throws: DeadlineExceeded.self) {
                try await deadlines.run {
                    try await Task.sleep(for: .seconds(60))
                } late: {
                }
            }
            // The timer of the last one has nothing to wait for.
            try await deadlines.run {
                await Task.yield()
            } late: {
            }
        }
    }

    @Test("a result that comes too late is not lost")
    func late() async throws {
        let deadlines = Deadlines(limit: .milliseconds(50))
        let late = Mutex(0)
        await #expect(throws: DeadlineExceeded.self) {
            try await deadlines.run {
                try? await Task.sleep(for: .seconds(60))
                return 7
            } late: { result in
                late.withLock { $0 = result }
            }
        }
        #expect(late.withLock(\.self) == 7)
    }

    @Test("an operation ends early with the task that waits for it")
    func cancelled() async throws {
        let deadlines = Deadlines(limit: .seconds(60))
        let task = Task {
            try await deadlines.run {
                try await Task.sleep(for: .seconds(60))
            } late: {
            }
        }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }
}
