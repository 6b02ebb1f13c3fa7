// SPDX-License-Identifier: Apache-2.0

struct DeadlineExceeded: Error {}

/// Runs an operation that is cancelled when the time is over; a result that comes later goes to `late`.
func withDeadline<Result: Sendable>(
    _ limit: Duration, _ operation: @escaping @Sendable () async throws -> Result,
    late: (Result) async -> Void
) async throws -> Result {
    try await withThrowingTaskGroup(of: Result.self) { group in
        group.addTask { try await operation() }
        group.addTask {
            try await Task.sleep(for: limit)
            throw DeadlineExceeded()
        }
        guard let first = await group.nextResult() else { preconditionFailure("the group has two tasks") }
        group.cancelAll()
        while let second = await group.nextResult() {
            if case .success(let result) = second { await late(result) }
        }
        return try first.get()
    }
}
