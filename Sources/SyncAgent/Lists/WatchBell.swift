// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// Makes the watcher check that it still watches the folder at the path, whenever that is in doubt.
package final class WatchBell: Sendable {
    private let ask = Mutex<(@Sendable () -> Void)?>(nil)

    package init() {}

    /// Asks the watcher now; a new interval applies from its answer on.
    package func ring() { ask.withLock { $0?() } }

    /// Sets how to ask the current watcher; `nil` if there is none.
    func connect(_ ask: (@Sendable () -> Void)?) { self.ask.withLock { $0 = ask } }
}
