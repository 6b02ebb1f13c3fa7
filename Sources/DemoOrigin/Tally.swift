// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// Counts by key, and tells those who wait when a count is reached.
package final class Tally: Sendable {
    private struct Watch {
        var count: Int
        var key: String?
        var reached: Gate
    }

    private struct State {
        var total = 0
        var counts: [String: Int] = [:]
        var watches: [Watch] = []

        func count(of key: String?) -> Int {
            key.map { counts[$0, default: 0] } ?? total
        }

        /// Takes away the watches that have seen their count, and returns their gates.
        mutating func takeReached() -> [Gate] {
            let all = watches
            watches = all.filter { count(of: $0.key) < $0.count }
            return all.filter { count(of: $0.key) >= $0.count }.map(\.reached)
        }
    }

    private let state = Mutex(State())

    package init() {}

    /// Everything counted, under any key.
    package var total: Int { count(of: nil) }

    /// What was counted under the key; with `nil`, under any.
    package func count(of key: String?) -> Int {
        state.withLock { $0.count(of: key) }
    }

    /// Counts one more, and returns how many that makes for its key.
    @discardableResult
    package func add(_ key: String) -> Int {
        let (count, reached) = state.withLock { state in
            state.total += 1
            state.counts[key, default: 0] += 1
            return (state.count(of: key), state.takeReached())
        }
        for gate in reached { gate.open() }
        return count
    }

    /// Returns once at least `count` were counted under the key; with `nil`, under any.
    ///
    /// - Throws: `CancellationError` if the task is cancelled while it waits.
    package func reach(_ count: Int, of key: String? = nil) async throws {
        let reached = Gate()
        let isReached = state.withLock { state in
            guard state.count(of: key) < count else { return true }
            state.watches.append(Watch(count: count, key: key, reached: reached))
            return false
        }
        if !isReached { try await reached.wait() }
    }
}
