// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// Notifies any number of watchers of changes.
///
/// A change costs one lock, and one wake-up for each waiting watcher. A busy watcher sees all changes since its
/// last wake-up as one.
package final class ChangeFeed: Sendable {
    private struct State {
        /// The number of the newest change; `nil` once the feed has ended.
        var newest: Int? = 0
        var waiting: [Int: CheckedContinuation<Int?, Never>] = [:]
        var lastWatcher = 0
    }

    private let state = Mutex(State())

    /// The number of the newest change; `nil` once the feed has ended.
    package var newest: Int? { state.withLock(\.newest) }

    package func emit() {
        wake { $0.newest = $0.newest.map { $0 + 1 } }
    }

    package func end() {
        wake { $0.newest = nil }
    }

    private func wake(_ change: (inout State) -> Void) {
        let (waiting, newest) = state.withLock { state in
            change(&state)
            return (exchange(&state.waiting, with: [:]), state.newest)
        }
        for watcher in waiting.values { watcher.resume(returning: newest) }
    }

    /// Waits until the newest change differs from the one seen, and returns its number.
    ///
    /// - Returns: `nil` if the feed has ended or the task was cancelled.
    package func next(after seen: Int?) async -> Int? {
        let watcher = state.withLock { state in
            state.lastWatcher += 1
            return state.lastWatcher
        }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let answer: Int?? = state.withLock { state in
                    if Task.isCancelled { return .some(nil) }
                    if state.newest != seen || state.newest == nil { return .some(state.newest) }
                    state.waiting[watcher] = continuation
                    return nil
                }
                if let answer { continuation.resume(returning: answer) }
            }
        } onCancel: {
            state.withLock { $0.waiting.removeValue(forKey: watcher) }?.resume(returning: nil)
        }
    }
}

extension ChangeFeed {
    /// An element at once, and one whenever something changed since the last.
    package struct Changes: AsyncSequence, AsyncIteratorProtocol, Sendable {
        let feed: ChangeFeed
        /// The number of the change at the last element.
        var seen: Int?

        package mutating func next() async -> Void? {
            seen = await feed.next(after: seen)
            return seen.map { _ in }
        }

        package func makeAsyncIterator() -> Changes { self }
    }

    package var changes: Changes { Changes(feed: self) }
}
