// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// Counts by key; tasks can wait for a count.
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

        /// Removes the watches whose count is reached, and returns their gates.
        mutating func takeReached() -> [Gate] {
            let all = watches
            watches = all.filter { count(of: $0.key) < $0.count }
            return all.filter { count(of: $0.key) >= $0.count }.map(\.reached)
        }
    }

    private let state = Mutex(State())

    package init() {}

    package var total: Int { count(of: nil) }

    /// The count of a key; with `nil`, that of all keys.
    package func count(of key: String?) -> Int {
        state.withLock { $0.count(of: key) }
    }

    /// Increments the count of a key, and returns it.
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

    /// Waits until the count of a key is at least `count`; with `nil`, that of all keys.
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
