// SPDX-License-Identifier: Apache-2.0
import Synchronization

struct DeadlineExceeded: Error {}

/// Ends operations that take longer than they may, all of them the same time.
///
/// One timer is enough for all: what began first is due first. With a timer each, the timers of thousands of downloads that
/// ended long ago would go off later, cancelled or not.
final class Deadlines: Sendable {
    private struct Operation {
        var end: ContinuousClock.Instant
        var cancel: @Sendable () -> Void
    }

    private struct State {
        /// Those under way, by the order in which they began.
        var operations: [Int: Operation] = [:]
        var lastNumber = 0
        /// No operation before this one is under way.
        var firstNumber = 1
        var isWaiting = false

        var first: Operation? {
            mutating get {
                while firstNumber <= lastNumber {
                    if let operation = operations[firstNumber] { return operation }
                    firstNumber += 1
                }
                return nil
            }
        }
    }

    private let limit: Duration
    private let state = Mutex(State())

    init(limit: Duration) {
        self.limit = limit
    }

    /// Runs an operation that is cancelled when its time is over.
    ///
    /// - Parameters:
    ///   - operation: What is to be done.
    ///   - late: Gets a result that comes all the same.
    /// - Returns: The operation's result.
    /// - Throws: ``DeadlineExceeded`` if it took too long, or what it throws itself.
    func run<Result: Sendable>(
        _ operation: @escaping @Sendable () async throws -> Result, late: (Result) async -> Void
    ) async throws -> Result {
        let task = Task(operation: operation)
        let number = begin { task.cancel() }
        let result = await withTaskCancellationHandler {
            await task.result
        } onCancel: {
            task.cancel()
        }
        guard end(number) else {
            if case .success(let value) = result { await late(value) }
            throw DeadlineExceeded()
        }
        return try result.get()
    }

    private func begin(_ cancel: @escaping @Sendable () -> Void) -> Int {
        let (number, isWaiting) = state.withLock { state in
            state.lastNumber += 1
            state.operations[state.lastNumber] = Operation(end: .now + limit, cancel: cancel)
            defer { state.isWaiting = true }
            return (state.lastNumber, state.isWaiting)
        }
        if !isWaiting { Task { await wait() } }
        return number
    }

    /// - Returns: Whether its time is not over.
    private func end(_ number: Int) -> Bool {
        state.withLock { $0.operations.removeValue(forKey: number) != nil }
    }

    /// Waits for one end after the other, until nothing is under way.
    private func wait() async {
        while let next = nextEnd() {
            try? await Task.sleep(until: next)
            for operation in takeDue() { operation.cancel() }
        }
    }

    private func nextEnd() -> ContinuousClock.Instant? {
        state.withLock { state in
            let end = state.first?.end
            state.isWaiting = end != nil
            return end
        }
    }

    private func takeDue() -> [Operation] {
        state.withLock { state in
            var due: [Operation] = []
            let now = ContinuousClock.now
            while let first = state.first, first.end <= now {
                due.append(first)
                state.operations[state.firstNumber] = nil
            }
            return due
        }
    }
}
