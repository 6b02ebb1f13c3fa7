// SPDX-License-Identifier: Apache-2.0
import CLinux
import CacheFormat
import Dispatch
import Synchronization

/// Returns free heap memory to the system with `malloc_trim(3)`.
///
/// By itself the C library returns only what is free at the end of the heap.
package struct HeapTrimmer {
    /// The shortest time between two trims, when the agent is at rest and when it is not.
    private static let pauses: (atRest: Duration, atWork: Duration) = (.seconds(10), .seconds(60))
    static let leastChanges = 100

    // A queue of its own: libdispatch checks the threads of the global queues every second once they have been used.
    private static let queue = DispatchQueue(label: "syncagent.heap", qos: .background)

    /// The time of the last trim; `nil` before the first one, which frees the most.
    private var last: Timestamp?
    private var changes = leastChanges

    /// Counts changes, and trims the heap when it is due.
    mutating func record(changes count: Int, isAtRest: Bool, now: Timestamp) {
        changes += count
        let pause = isAtRest ? Self.pauses.atRest : Self.pauses.atWork
        guard changes >= Self.leastChanges, last.map({ now >= $0 + pause }) ?? isAtRest else { return }
        (last, changes) = (now, 0)
        // Trims later on another thread: it takes some milliseconds, and the latest work must be freed first.
        Self.queue.asyncAfter(deadline: .now() + 1) { malloc_trim(0) }
    }

    /// Trims the heap now, which takes some milliseconds if much memory was freed.
    static func trim() { malloc_trim(0) }

    private static let isDue = Mutex(false)

    /// Trims the heap in 5 s, after much memory was freed; calls until then share one trim.
    package static func trimSoon() {
        let wasDue = isDue.withLock { exchange(&$0, with: true) }
        if wasDue { return }
        queue.asyncAfter(deadline: .now() + 5) {
            isDue.withLock { $0 = false }
            malloc_trim(0)
        }
    }
}
