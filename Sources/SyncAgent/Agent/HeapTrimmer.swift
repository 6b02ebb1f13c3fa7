// SPDX-License-Identifier: Apache-2.0
import CLinux
import CacheFormat
import Dispatch
import Synchronization

/// Gives the system back what is free on the heap (`malloc_trim(3)`): by itself the C library does so only with what is
/// free at its end.
package struct HeapTrimmer {
    /// The least time from one to the next, once the agent is at rest, and while it is not.
    private static let pauses: (atRest: Duration, atWork: Duration) = (.seconds(10), .seconds(60))
    /// How much has to be done in between.
    static let leastChanges = 100

    /// A queue of its own: threads of the global ones have libdispatch look at them every second from then on.
    private static let queue = DispatchQueue(label: "syncagent.heap", qos: .background)

    /// When it was done last; at the start there is more to give back than ever after.
    private var last: Timestamp?
    private var changes = leastChanges

    /// Takes note that something was done.
    ///
    /// - Parameters:
    ///   - count: How much.
    ///   - isAtRest: Whether nothing more is to be done for now.
    ///   - now: The present time.
    mutating func note(changes count: Int, isAtRest: Bool, now: Timestamp) {
        changes += count
        let pause = isAtRest ? Self.pauses.atRest : Self.pauses.atWork
        guard changes >= Self.leastChanges, last.map({ now >= $0 + pause }) ?? isAtRest else { return }
        (last, changes) = (now, 0)
        // It takes some milliseconds, for which nobody is to wait, and what was done last is to be freed by then.
        Self.queue.asyncAfter(deadline: .now() + 1) { malloc_trim(0) }
    }

    private static let isDue = Mutex(false)

    /// Does it a moment after much memory was freed; whoever asks for it until then is served by the same.
    package static func trimSoon() {
        let wasDue = isDue.withLock { isDue in
            defer { isDue = true }
            return isDue
        }
        if wasDue { return }
        queue.asyncAfter(deadline: .now() + 5) {
            isDue.withLock { $0 = false }
            malloc_trim(0)
        }
    }
}
